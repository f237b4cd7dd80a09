//! What all connections of a server share.

use super::dispatch::Services;
use super::fair::CallQueue;
use super::options::ServerOptions;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use zerohop_daemon::log_limiter::LogLimiter;

/// What all connections of a server share.
pub(super) struct Shared {
    pub(super) options: ServerOptions,
    pub(super) services: Mutex<Arc<Services>>,
    /// Calls that wait for their [`Reply::Later`](super::Reply::Later).
    pub(super) waiting: AtomicUsize,
    pub(super) connections: AtomicUsize,
    /// Lines about connections that were closed or not taken.
    pub(super) closed: LogLimiter,
    /// Calls that wait for a handler, where calls are scheduled.
    pub(super) queue: Option<Arc<CallQueue>>,
}
