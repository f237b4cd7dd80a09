//! Who calls and which call it is: what a server's retry cache goes by.

use bytes::Bytes;
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use zerohop_wire::CallerContext;

/// A client's id and the counter of its calls. Several [`RpcClient`](super::RpcClient)s may share
/// one, so that a call repeated at another server is still the same call.
#[derive(Debug)]
pub struct ClientIdentity {
    id: Bytes,
    next_call: AtomicI32,
    seen: Option<Arc<SeenState>>,
    context: RwLock<Option<CallerContext>>,
}

/// The newest state of the name space that answers came from, by its last transaction. Requests carry it, so that a server that
/// is behind, an observer, answers when it has caught up (`ClientGSIContext`).
#[derive(Debug)]
pub struct SeenState(AtomicI64);

impl Default for SeenState {
    /// Nothing seen: `Long.MIN_VALUE` in Java.
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl SeenState {
    /// The last transaction.
    pub fn last(&self) -> i64 {
        self.0.load(Ordering::Acquire)
    }

    /// An answer came from a state with this last transaction.
    pub(crate) fn saw(&self, last: i64) {
        self.0.fetch_max(last, Ordering::AcqRel);
    }
}

/// Names one call of one client, however often it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallId {
    /// The client's 16 bytes.
    pub client_id: Bytes,
    /// The call, not negative.
    pub call_id: i32,
    /// How often it was sent before.
    pub retry_count: i32,
}

impl ClientIdentity {
    /// A fresh random id.
    pub fn random() -> Self {
        let id = Bytes::copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        Self { id, next_call: AtomicI32::new(0), seen: None, context: RwLock::default() }
    }

    /// A fresh random id whose calls say which state of the name space the client has seen.
    pub fn aligned() -> Self {
        Self { seen: Some(Arc::default()), ..Self::random() }
    }

    /// The state that was seen, where calls say it.
    pub fn seen(&self) -> Option<&Arc<SeenState>> {
        self.seen.as_ref()
    }

    /// What calls say they are for, from now on; none: nothing.
    pub fn set_caller_context(&self, context: Option<CallerContext>) {
        *self.context.write() = context;
    }

    /// What calls say they are for.
    pub fn caller_context(&self) -> Option<CallerContext> {
        self.context.read().clone()
    }

    /// The 16 bytes.
    pub fn id(&self) -> &Bytes {
        &self.id
    }

    /// The next call; ids start again at 0 after 2^31 of them.
    pub fn next_call(&self) -> CallId {
        let call_id = self.next_call.fetch_add(1, Ordering::Relaxed) & i32::MAX;
        CallId { client_id: self.id.clone(), call_id, retry_count: 0 }
    }
}

impl CallId {
    /// The same call, sent once more.
    pub fn again(&self) -> Self {
        Self { retry_count: self.retry_count.saturating_add(1), ..self.clone() }
    }
}
