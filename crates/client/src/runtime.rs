//! The runtime of this crate's own.

use crate::error::{Error, Result};
use std::sync::OnceLock;
use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime for callers that have none, and for work in the background. It is made when it is first needed and
/// kept for the life of the process, because clients are made and dropped often.
pub(crate) fn background() -> Result<Handle> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        let made = builder.worker_threads(1).thread_name("zerohop-rpc").enable_all().build();
        made.map_err(|error| tracing::error!("no thread for RPC: {error}")).ok()
    });
    match runtime {
        Some(runtime) => Ok(runtime.handle().clone()),
        None => Err(Error::plain("no thread for RPC could be started")),
    }
}
