//! Requests say which state of the name space their client has seen, and answers which one they come from
//! (`AlignmentContext`).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use zerohop_wire::RemoteException;

/// Knows which state this server is in, and makes calls wait for one that their client has seen already.
pub trait StateAlignment: Send + Sync {
    /// The last transaction of the state that an answer comes from.
    fn last_seen(&self) -> i64;

    /// Whether a call may be carried out. `seen` is the last transaction that its client has seen, where the request says it.
    fn admit(self: Arc<Self>, protocol: &str, method: &str, seen: Option<i64>) -> Admission;
}

/// A wait for a state; an error is the answer in place of the call's.
pub type AdmissionWait = Pin<Box<dyn Future<Output = Result<(), RemoteException>> + Send>>;

/// Whether a call may be carried out.
pub enum Admission {
    /// At once.
    Now,
    /// When the wait is over; nothing but this call waits.
    Later(AdmissionWait),
    /// No.
    Refused(RemoteException),
}
