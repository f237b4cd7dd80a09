//! The client: one connection to one server, any number of calls in flight.

mod connection;
mod options;
mod resolver;
mod serial;
mod shared;

pub use options::ClientOptions;
pub use serial::SerialClient;

use super::error::RpcError;
use super::ids::{CallId, ClientIdentity};
use super::spans;
use crate::login::User;
use crate::trace;
use bytes::Bytes;
use prost::Message;
use shared::Shared;
use std::sync::Arc;
use tracing::Instrument;
use zerohop_proto::Checked;

/// Calls one protocol of one server. Clones share the connection, which is opened by the first call
/// and again after it was lost. It belongs to the client's runtime ([`ClientOptions::runtime`]) and not to
/// the runtime that awaits a call: that one may end or stand still, or there may be none.
#[derive(Clone)]
pub struct RpcClient {
    shared: Arc<Shared>,
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
        let user = user.clone();
        let shared = Shared::new(addr.to_string(), protocol, version, user, options, identity);
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
        let span = spans::of_client(self.shared.protocol, method, &self.shared.addr);
        let answer = self.send(id, method, request).instrument(span.clone()).await;
        answer.inspect_err(|error| trace::record_failure(&span, error))
    }

    async fn send(
        &self,
        id: &CallId,
        method: &'static str,
        request: &[u8],
    ) -> Result<Bytes, RpcError> {
        let shared = &*self.shared;
        let runtime = shared.runtime()?;
        let connection = match shared.open_connection() {
            Some(connection) => connection,
            None => Shared::connect(&self.shared, &runtime).await?,
        };
        let answer = connection.call(id, method, shared.protocol, shared.version, request);
        let limit = shared.options.rpc_timeout;
        if limit.is_zero() {
            return answer.await;
        }
        let limited = {
            let _within = runtime.enter();
            tokio::time::timeout(limit, answer)
        };
        match limited.await {
            Ok(result) => result,
            Err(_) => {
                connection.end_if_silent(limit);
                Err(RpcError::Timeout { addr: shared.addr.clone(), after: limit })
            }
        }
    }

    /// Opens a separate connection to the same server, for one call at a time. It belongs to the runtime that awaits this call.
    pub async fn serial(&self) -> Result<SerialClient, RpcError> {
        let stream = self
            .shared
            .connect_with_retries()
            .await
            .map_err(|source| RpcError::Connect { addr: self.shared.addr.clone(), source })?;
        Ok(SerialClient::open(Arc::clone(&self.shared), stream))
    }

    /// Closes the connection; calls in flight fail, later ones connect again.
    pub fn disconnect(&self) {
        self.shared.disconnect();
    }
}
