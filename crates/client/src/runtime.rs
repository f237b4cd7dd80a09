//! The runtime of this crate's own.

use crate::error::{Error, Result};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, Runtime};

/// A process and its runtime.
struct Made {
    process: u32,
    runtime: Runtime,
}

/// The runtime for callers that have none, and for work in the background. It is made when it is first needed and
/// kept for the life of the process, because clients are made and dropped often. A child made by fork() has none of its
/// parent's threads, so it gets a runtime of its own.
pub(crate) fn background() -> Result<Handle> {
    static MADE: Mutex<Option<Made>> = Mutex::new(None);
    let mut made = MADE.lock();
    let process = std::process::id();
    if let Some(made) = made.as_ref()
        && made.process == process
    {
        return Ok(made.runtime.handle().clone());
    }
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).thread_name("zerohop-rpc").enable_all().build();
    let runtime = runtime
        .map_err(|error| Error::plain(format!("no thread for RPC could be started: {error}")))?;
    let handle = runtime.handle().clone();
    // The parent's would wait for threads that are not there.
    std::mem::forget(made.replace(Made { process, runtime }));
    Ok(handle)
}
