//! The runtime of this crate's own.

use crate::error::{Error, Result};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, Runtime};
use zerohop_system::process::PerProcess;

static MADE: PerProcess<Mutex<Option<Runtime>>> = PerProcess::new(|| Mutex::new(None));

/// The runtime for callers that have none, and for work in the background. It is made when it is first needed and
/// kept for the life of the process, because clients are made and dropped often. A child made by fork() has none of its
/// parent's threads, so it gets a runtime of its own.
pub(crate) fn background() -> Result<Handle> {
    let mut made = MADE.get().lock();
    if let Some(runtime) = made.as_ref() {
        return Ok(runtime.handle().clone());
    }
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).thread_name("zerohop-rpc").enable_all().build();
    let runtime = runtime
        .map_err(|error| Error::plain(format!("no thread for RPC could be started: {error}")))?;
    Ok(made.insert(runtime).handle().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_a_runtime_while_a_thread_of_its_parent_makes_one() {
        let held = MADE.get().lock();
        assert!(crate::test_child::ends_well(|| background().is_ok()));
        drop(held);
    }
}
