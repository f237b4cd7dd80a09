//! What all connections of a server share.

use super::activity::{CallActivity, RunningCall};
use super::alignment::{Admission, StateAlignment};
use super::budget::Budget;
use super::counters::ServerCounters;
use super::dispatch::Services;
use super::fair::{CallQueue, QueuedCall};
use super::options::ServerOptions;
use super::panic::caught;
use super::request::MethodHeader;
use super::service::{CallContext, Reply, RpcService};
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use zerohop_daemon::log_limiter::LogLimiter;

/// What all connections of a server share.
pub(super) struct Shared {
    pub(super) options: ServerOptions,
    pub(super) services: Mutex<Arc<Services>>,
    pub(super) counters: Arc<ServerCounters>,
    /// Lines about connections that were closed or not taken.
    pub(super) closed: LogLimiter,
    /// Calls that wait for a handler, where calls are scheduled.
    pub(super) queue: Option<Arc<CallQueue>>,
    pub(super) activity: Arc<CallActivity>,
    /// The memory that requests may take.
    pub(super) budget: Arc<Budget>,
    /// Where answers say which state they come from.
    pub(super) alignment: OnceLock<Arc<dyn StateAlignment>>,
}

impl Shared {
    /// The last transaction of the state that answers come from, where they say it.
    pub(super) fn last_seen(&self) -> Option<i64> {
        self.alignment.get().map(|alignment| alignment.last_seen())
    }

    /// Whether a call may be carried out, whose client has seen the transaction `seen`.
    pub(super) fn admit(&self, method: &MethodHeader, seen: Option<i64>) -> Admission {
        match self.alignment.get() {
            Some(it) => Arc::clone(it).admit(method.protocol(), method.method(), seen),
            None => Admission::Now,
        }
    }

    /// Has a service answer a call, here or by a handler.
    pub(super) fn carry_out(&self, call: Call, method: &MethodHeader) -> Reply {
        let Call { service, context, param, running } = call;
        match &self.queue {
            Some(queue) => {
                let method = method.method().to_owned();
                let call = QueuedCall { service, context, method, param, running };
                Reply::Later(queue.push(call))
            }
            None => {
                let reply = running
                    .span()
                    .in_scope(|| caught(|| service.call(context, method.method(), param)))
                    .unwrap_or_else(Reply::exception);
                running.served();
                reply
            }
        }
    }
}

/// A call that has found its service.
pub(super) struct Call {
    pub(super) service: Arc<dyn RpcService>,
    pub(super) context: CallContext,
    pub(super) param: Bytes,
    pub(super) running: Arc<RunningCall>,
}
