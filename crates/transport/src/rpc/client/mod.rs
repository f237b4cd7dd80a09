//! The client: one connection to one server, any number of calls in flight.

mod connection;
mod options;
mod serial;

pub use options::ClientOptions;
pub use serial::SerialClient;

use super::error::RpcError;
use super::ids::{CallId, ClientIdentity};
use crate::login::User;
use bytes::Bytes;
use connection::Connection;
use parking_lot::Mutex;
use prost::Message;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use zerohop_proto::Checked;

/// Calls one protocol of one server. Clones share the connection, which is opened by the first call
/// and again after it was lost.
#[derive(Clone)]
pub struct RpcClient {
    shared: Arc<Shared>,
}

struct Shared {
    addr: String,
    protocol: &'static str,
    version: u64,
    user: User,
    options: ClientOptions,
    identity: Arc<ClientIdentity>,
    current: Mutex<Option<Arc<Connection>>>,
    /// Held while connecting, so that calls share the connection that comes of it.
    connecting: tokio::sync::Mutex<()>,
}

impl RpcClient {
    /// A client of `protocol` at `addr` (`host:port`, resolved at each connect).
    pub fn new(
        addr: impl ToString,
        protocol: &'static str,
        version: u64,
        user: &User,
        options: ClientOptions,
    ) -> Self {
        let identity = Arc::new(ClientIdentity::random());
        Self::with_identity(addr, protocol, version, user, options, identity)
    }

    /// The same with an identity that several clients share, as the NameNodes of one name service
    /// do: a call repeated at another server keeps its id.
    pub fn with_identity(
        addr: impl ToString,
        protocol: &'static str,
        version: u64,
        user: &User,
        options: ClientOptions,
        identity: Arc<ClientIdentity>,
    ) -> Self {
        let shared = Shared {
            addr: addr.to_string(),
            protocol,
            version,
            user: user.clone(),
            options,
            identity,
            current: Mutex::new(None),
            connecting: tokio::sync::Mutex::new(()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The server, as it was named.
    pub fn addr(&self) -> &str {
        &self.shared.addr
    }

    /// An id for a call, to send it with [`call_with_id`](Self::call_with_id), again if need be.
    pub fn next_call(&self) -> CallId {
        self.shared.identity.next_call()
    }

    /// Calls `method` once; a connection that cannot be made is tried again as the options say.
    pub async fn call<Q: Message, R: Checked>(
        &self,
        method: &'static str,
        request: &Q,
    ) -> Result<R, RpcError> {
        self.call_with_id(&self.next_call(), method, request).await
    }

    /// Calls `method` under an id that may have been sent before.
    pub async fn call_with_id<Q: Message, R: Checked>(
        &self,
        id: &CallId,
        method: &'static str,
        request: &Q,
    ) -> Result<R, RpcError> {
        let body = self.call_raw(id, method, &request.encode_to_vec()).await?;
        zerohop_proto::decode(body).map_err(|problem| RpcError::Protocol {
            addr: self.shared.addr.clone(),
            reason: problem.to_string(),
        })
    }

    /// Calls `method` with a request already encoded; the answer is the encoded message.
    pub async fn call_raw(
        &self,
        id: &CallId,
        method: &'static str,
        request: &[u8],
    ) -> Result<Bytes, RpcError> {
        let shared = &*self.shared;
        let connection = match shared.open_connection() {
            Some(connection) => connection,
            None => shared.connect().await?,
        };
        let answer = connection.call(id, method, shared.protocol, shared.version, request);
        let limit = shared.options.rpc_timeout;
        if limit.is_zero() {
            return answer.await;
        }
        match tokio::time::timeout(limit, answer).await {
            Ok(result) => result,
            Err(_) => Err(RpcError::Timeout { addr: shared.addr.clone(), after: limit }),
        }
    }

    /// A connection of its own to the same server, for one call at a time.
    pub async fn serial(&self) -> Result<SerialClient, RpcError> {
        let stream = self.shared.connect_with_retries().await?;
        Ok(SerialClient::open(Arc::clone(&self.shared), stream))
    }

    /// Closes the connection; calls in flight fail, later ones connect again.
    pub fn disconnect(&self) {
        if let Some(connection) = self.shared.current.lock().take() {
            connection.close();
        }
    }
}

impl Shared {
    fn open_connection(&self) -> Option<Arc<Connection>> {
        self.current.lock().as_ref().filter(|c| c.is_open()).cloned()
    }

    async fn connect(&self) -> Result<Arc<Connection>, RpcError> {
        let _one_at_a_time = self.connecting.lock().await;
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let stream = self.connect_with_retries().await?;
        let connection = Connection::open(
            stream,
            &self.addr,
            self.protocol,
            &self.user,
            self.identity.id().clone(),
            &self.options,
        );
        *self.current.lock() = Some(Arc::clone(&connection));
        Ok(connection)
    }

    async fn connect_with_retries(&self) -> Result<TcpStream, RpcError> {
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
            if *tried >= limit {
                return Err(RpcError::Connect { addr: self.addr.clone(), source: error });
            }
            tracing::info!(
                "Retrying connect to server: {}. Already tried {tried} time(s): {error}",
                self.addr
            );
            *tried += 1;
            if !is_timeout {
                tokio::time::sleep(self.options.connect_retry_interval).await;
            }
        }
    }

    async fn connect_once(&self) -> io::Result<TcpStream> {
        let limit: Duration = self.options.connect_timeout;
        let connecting = TcpStream::connect(self.addr.as_str());
        let stream = tokio::time::timeout(limit, connecting).await.map_err(|_| {
            let text = format!("no connection within {} ms", limit.as_millis());
            io::Error::new(io::ErrorKind::TimedOut, text)
        })??;
        stream.set_nodelay(self.options.tcp_nodelay)?;
        Ok(stream)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(connection) = self.current.lock().take() {
            connection.close();
        }
    }
}
