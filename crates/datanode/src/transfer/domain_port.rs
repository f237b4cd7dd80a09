//! The domain socket next to the transfer port, and the watch over its file.

use super::conn::Conn;
use crate::short_circuit::SocketState;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zerohop_system::clock;
use zerohop_transport::domain::{Listener, validate};

/// How often the file and its directories are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A listening domain socket.
pub(crate) struct DomainPort {
    listener: Listener,
    state: Arc<SocketState>,
    looked: Instant,
}

impl DomainPort {
    /// Listens at `path`.
    pub(crate) fn bind(path: PathBuf, state: Arc<SocketState>) -> io::Result<Self> {
        let listener = listen(&path)?;
        *state.path.write() = Some(path);
        Ok(Self { listener, state, looked: clock::now() })
    }

    /// The listening socket.
    pub(crate) fn listener(&self) -> &Listener {
        &self.listener
    }

    /// The next connection, if one waits.
    pub(crate) fn accept(&self) -> io::Result<Conn> {
        let socket = self.listener.accept()?;
        self.state.accepted.fetch_add(1, Ordering::Relaxed);
        Ok(Conn::new(socket.into()))
    }

    /// Looks at the file once a second. A new listener, where the file was gone and could be made
    /// again; what cannot be helped is logged once and shown on the page.
    pub(crate) fn look(&mut self) -> Option<Listener> {
        if clock::since(self.looked) < LOOK_EVERY {
            return None;
        }
        self.looked = clock::now();
        let path = self.listener.path();
        let (new, problem) = if !self.listener.is_in_place() {
            match listen(path) {
                Ok(new) => (Some(new), None),
                Err(error) => (None, Some(format!("the socket file is gone: {error}"))),
            }
        } else {
            (None, validate(path).err().map(|unsafe_path| unsafe_path.to_string()))
        };
        if new.is_some() {
            tracing::warn!("the domain socket {} was removed; it is back", path.display());
        }
        let mut known = self.state.problem.write();
        if *known != problem {
            match &problem {
                Some(problem) => tracing::error!("domain socket {}: {problem}", path.display()),
                None => tracing::info!("domain socket {}: all is well again", path.display()),
            }
            *known = problem;
        }
        new
    }

    /// Goes on with another listener.
    pub(crate) fn replace(&mut self, new: Listener) {
        self.listener = new;
    }
}

fn listen(path: &std::path::Path) -> io::Result<Listener> {
    let listener = Listener::bind(path)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
