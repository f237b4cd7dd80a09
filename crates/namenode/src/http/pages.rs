//! What the handlers of pages need.

use crate::core::Core;
use std::sync::Arc;
use zerohop_daemon::http::HandlerThreads;

#[derive(Clone)]
pub(super) struct Pages {
    pub(super) core: Arc<Core>,
    /// For pages that take the namespace's lock.
    pub(super) threads: HandlerThreads,
}
