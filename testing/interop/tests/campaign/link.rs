//! Links that can be cut and slowed down: all bytes to some ports of a process pass through one.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use zerohop_interop::Outcome;
use zerohop_interop::harm::Explain;

/// How a link is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Bytes pass at once.
    #[default]
    Whole,
    /// Each part waits so long.
    Slow(Duration),
    /// Nothing passes; connections stay open.
    Silent,
    /// What is asked arrives, and no answer comes back; connections stay open.
    Unanswered,
    /// Connections break, and new ones too.
    Cut,
}

/// Which way bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

/// What the link's threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until bytes may pass; false when the connection breaks instead.
    fn pass(&self, way: Way) -> bool {
        let mut state = self.state();
        while *state == State::Silent || (*state == State::Unanswered && way == Way::Back) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let now = *state;
        drop(state);
        if let State::Slow(delay) = now {
            // The delay is the fault, not a wait for something.
            std::thread::sleep(delay);
        }
        now != State::Cut
    }
}

/// One link; its threads last as long as the test program.
pub struct Link {
    shared: Arc<Shared>,
}

impl Link {
    /// From the address `from`, another one of this machine, to 127.0.0.1, for each of the ports.
    pub fn lay(from: &str, ports: &[u16]) -> Outcome<Self> {
        let shared = Arc::new(Shared::default());
        for port in ports {
            let listener = TcpListener::bind((from, *port)).at(from)?;
            let (shared, port) = (shared.clone(), *port);
            std::thread::spawn(move || serve(&shared, &listener, port));
        }
        Ok(Self { shared })
    }

    /// From now on it is like this.
    pub fn set(&self, state: State) {
        *self.shared.state() = state;
        self.shared.changed.notify_all();
    }
}

fn serve(shared: &Arc<Shared>, listener: &TcpListener, port: u16) {
    for stream in listener.incoming().flatten() {
        if *shared.state() == State::Cut {
            continue;
        }
        // The DataNode does not listen: the client's connection breaks.
        let Ok(other) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        let _ = (stream.set_nodelay(true), other.set_nodelay(true));
        let (Ok(back), Ok(other_back)) = (stream.try_clone(), other.try_clone()) else {
            continue;
        };
        let (there, here) = (shared.clone(), shared.clone());
        std::thread::spawn(move || copy(&there, stream, other, Way::There));
        std::thread::spawn(move || copy(&here, other_back, back, Way::Back));
    }
}

fn copy(shared: &Shared, mut from: TcpStream, mut to: TcpStream, way: Way) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            Ok(count) => count,
            Err(_) => break,
        };
        if !shared.pass(way) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
