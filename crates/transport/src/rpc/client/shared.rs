//! What the clones of a client share: whom it calls and as whom, and the connection.

use super::connection::Connection;
use super::options::ClientOptions;
use super::resolver::{is_unknown_host, resolve};
use crate::login::User;
use crate::rpc::error::RpcError;
use crate::rpc::ids::ClientIdentity;
use crate::waits::WAITS;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tracing::Instrument;
use zerohop_system::clock;

/// A connection that takes longer is worth a line.
const SILENT: Duration = Duration::from_secs(1);

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What the clones of a client share.
pub(super) struct Shared {
    pub(super) addr: String,
    pub(super) protocol: &'static str,
    pub(super) version: u64,
    pub(super) user: User,
    pub(super) options: ClientOptions,
    pub(super) identity: Arc<ClientIdentity>,
    /// The runtime within which the client was constructed.
    made_on: Option<Handle>,
    current: Mutex<Option<Arc<Connection>>>,
    /// Held while connecting, so that calls share the connection that comes of it.
    connecting: tokio::sync::Mutex<Option<Failure>>,
}

/// The last attempt that ended without a connection.
struct Failure {
    ended: Instant,
    kind: io::ErrorKind,
    text: String,
}

impl Shared {
    pub(super) fn new(
        addr: String,
        protocol: &'static str,
        version: u64,
        user: User,
        options: ClientOptions,
        identity: Arc<ClientIdentity>,
    ) -> Self {
        let (current, connecting) = Default::default();
        let made_on = Handle::try_current().ok();
        Self { addr, protocol, version, user, options, identity, made_on, current, connecting }
    }

    /// Returns the runtime that connections and time limits belong to.
    pub(super) fn runtime(&self) -> Result<Handle, RpcError> {
        let of_client = self.options.runtime.as_ref().or(self.made_on.as_ref()).cloned();
        of_client.map_or_else(Handle::try_current, Ok).map_err(|_| {
            let text = "the client has no tokio runtime: make it, or await its calls, within one";
            self.not_connected(io::Error::other(text))
        })
    }

    fn not_connected(&self, source: io::Error) -> RpcError {
        RpcError::Connect { addr: self.addr.clone(), source }
    }

    /// Closes the connection; calls in flight fail.
    pub(super) fn disconnect(&self) {
        if let Some(connection) = self.current.lock().take() {
            connection.close();
        }
    }

    /// The connection, if there is one that is open.
    pub(super) fn open_connection(&self) -> Option<Arc<Connection>> {
        self.current.lock().as_ref().filter(|c| c.is_open()).cloned()
    }

    /// Connects if there is no open connection.
    ///
    /// A task of the client's runtime connects, because other calls wait for it and the caller's runtime may stop polling. The
    /// task ends when the caller is dropped.
    pub(super) async fn connect(
        shared: &Arc<Self>,
        runtime: &Handle,
    ) -> Result<Arc<Connection>, RpcError> {
        let (connecting, came) = (Arc::clone(shared), clock::now());
        let connect = async move { connecting.connect_together(came).await };
        let mut task = JoinSet::new();
        task.spawn_on(connect.in_current_span(), runtime);
        match task.join_next().await {
            Some(Ok(connected)) => connected,
            _ => Err(shared.not_connected(io::Error::other("the client's runtime has ended"))),
        }
    }

    /// Calls that come meanwhile share the connection, or its failure: one after another they would each wait as long again.
    async fn connect_together(&self, came: Instant) -> Result<Arc<Connection>, RpcError> {
        let mut last_failure = self.connecting.lock().await;
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        if let Some(failure) = last_failure.as_ref().filter(|failure| came < failure.ended) {
            let source = io::Error::new(failure.kind, failure.text.clone());
            return Err(self.not_connected(source));
        }
        let stream = match self.connect_with_retries().await {
            Ok(stream) => stream,
            Err(source) => {
                let (kind, text) = (source.kind(), source.to_string());
                *last_failure = Some(Failure { ended: clock::now(), kind, text });
                return Err(self.not_connected(source));
            }
        };
        let connection = Connection::open(
            stream,
            &self.addr,
            self.protocol,
            &self.user,
            &self.identity,
            &self.options,
        );
        *self.current.lock() = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// A connection of its own, tried as often as the options say.
    pub(super) async fn connect_with_retries(&self) -> io::Result<TcpStream> {
        let (mut refused, mut timed_out) = (0, 0);
        loop {
            let error = match self.connect_once().await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let is_timeout = error.kind() == io::ErrorKind::TimedOut;
            let (tried, limit) = if is_timeout {
                (&mut timed_out, self.options.connect_retries_on_timeouts)
            } else {
                (&mut refused, self.options.connect_retries)
            };
            if *tried >= limit || is_unknown_host(&error) {
                return Err(error);
            }
            *tried += 1;
            let wait = match is_timeout {
                true => Duration::ZERO,
                false => self.options.connect_retry_interval,
            };
            tracing::warn!(
                target: WAITS,
                wait_ms = millis(wait),
                "cannot connect to {}: {error}; tried {tried} of {} times",
                self.addr,
                limit.saturating_add(1)
            );
            clock::sleep(wait).await;
        }
    }

    /// Connects, and says so where that takes a while.
    async fn connect_aloud(&self, limit: Duration) -> io::Result<TcpStream> {
        let connecting = async {
            let addresses = resolve(&self.addr).await?;
            TcpStream::connect(addresses.as_slice()).await
        };
        tokio::pin!(connecting);
        if let Ok(connected) = tokio::time::timeout(SILENT, &mut connecting).await {
            return connected;
        }
        let left = limit.saturating_sub(SILENT);
        tracing::warn!(
            target: WAITS,
            wait_ms = millis(left.max(SILENT)) + 1,
            "{} does not answer; waiting up to {} s for a connection",
            self.addr,
            limit.as_secs()
        );
        connecting.await
    }

    async fn connect_once(&self) -> io::Result<TcpStream> {
        let limit: Duration = self.options.connect_timeout;
        let connecting = self.connect_aloud(limit);
        let stream = match limit.is_zero() {
            true => connecting.await?,
            false => tokio::time::timeout(limit, connecting).await.map_err(|_| {
                let text = format!("no connection within {} ms", limit.as_millis());
                io::Error::new(io::ErrorKind::TimedOut, text)
            })??,
        };
        stream.set_nodelay(self.options.tcp_nodelay)?;
        Ok(stream)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.disconnect();
    }
}
