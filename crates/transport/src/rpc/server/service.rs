//! What a protocol implements.

use super::budget::CallMemory;
use bytes::Bytes;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use zerohop_proto::{Checked, InvalidMessage};
use zerohop_wire::{CallerContext, CallerIdentity, JavaException, RemoteException, RpcIds};

/// A protocol that a server offers.
pub trait RpcService: Send + Sync {
    /// The protocol's Java interface name, as in `declaringClassProtocolName`.
    fn protocol(&self) -> &'static str;

    /// The protocol's version; 1 for all of Hadoop's today.
    fn version(&self) -> u64;

    /// Methods that metrics show before their first call, too: a rate needs the 0 before the 1.
    fn methods(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Answers one call. Runs on the connection's task: it must not block for long; what has to
    /// wait is returned as [`Reply::Later`]. `param` is the request message, undecoded.
    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply;
}

/// A future of an answer.
pub type LaterReply = Pin<Box<dyn Future<Output = Result<Bytes, RemoteException>> + Send>>;

/// What an answer that is worked out still waits for before it may leave. Far cheaper than a future
/// of its own for each call.
pub trait Gate: Send {
    /// Whether it is open; an error is the answer in place of the one that waited.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RemoteException>>;
}

/// An answer, or the promise of one. The bytes are the encoded response message.
pub enum Reply {
    /// Answered.
    Now(Result<Bytes, RemoteException>),
    /// Answered when the gate opens. Such answers of one connection leave in the order of its calls;
    /// calls answered in other ways overtake them.
    Gated(Result<Bytes, RemoteException>, Box<dyn Gate>),
    /// Will be answered; other calls of the connection go on meanwhile.
    Later(LaterReply),
}

impl Reply {
    /// An encoded message as an answer.
    pub fn message(message: &impl prost::Message) -> Self {
        Self::Now(Ok(message.encode_to_vec().into()))
    }

    /// An exception as an answer.
    pub fn exception(exception: RemoteException) -> Self {
        Self::Now(Err(exception))
    }

    /// The answer, once it may leave.
    pub async fn answer(self) -> Result<Bytes, RemoteException> {
        match self {
            Self::Now(answer) => answer,
            Self::Gated(answer, mut gate) => {
                std::future::poll_fn(|context| gate.poll_open(context)).await?;
                answer
            }
            Self::Later(future) => future.await,
        }
    }

    /// A future as an answer.
    pub fn later(
        future: impl Future<Output = Result<Bytes, RemoteException>> + Send + 'static,
    ) -> Self {
        Self::Later(Box::pin(future))
    }
}

/// Who calls, and which call it is. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// Who calls.
    pub identity: CallerIdentity,
    /// The client's id and the call's; none from clients that send no id.
    pub ids: RpcIds,
    /// How often the client sent this call before; -1 where it does not say.
    pub retry_count: i32,
    /// Where the connection comes from.
    pub remote: SocketAddr,
    /// The address of that as text.
    pub host: Arc<str>,
    /// What the client says it is doing, for the audit log.
    pub caller_context: Option<CallerContext>,
    /// The trace that the client says the call belongs to.
    pub trace_id: Option<Arc<str>>,
    /// The protocol named when the connection was opened.
    pub connection_protocol: Arc<str>,
    /// The charge for the decoded request.
    pub memory: CallMemory,
}

/// The answer to a method that the protocol does not have.
pub fn no_such_method(protocol: &str, method: &str) -> RemoteException {
    JavaException::RpcNoSuchMethod
        .with(format!("Unknown method {method} called on {protocol} protocol."))
}

/// Decodes a request message; what cannot be read is answered as Java's protobuf answers it. For a message without repeated
/// fields, which takes no more memory than its bytes; others are decoded by [`decode_charged`].
pub fn decode_param<M: Checked>(param: Bytes) -> Result<M, RemoteException> {
    zerohop_proto::decode(param).map_err(invalid)
}

/// Like [`decode_param`], but charges the memory that the decoded message takes.
///
/// # Errors
/// Also fails if the server's requests take too much memory.
pub fn decode_charged<M: Checked>(
    context: &CallContext,
    param: Bytes,
) -> Result<M, RemoteException> {
    context.memory.decode(param, invalid)
}

fn invalid(problem: InvalidMessage) -> RemoteException {
    const CLASS: &str = "org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException";
    RemoteException { class: std::borrow::Cow::Borrowed(CLASS), message: problem.to_string() }
}
