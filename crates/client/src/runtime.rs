//! The runtime of this crate's own.

use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::future::{Future, poll_fn};
use std::pin::pin;
use tokio::runtime::{Builder, Handle, Runtime};
use zerohop_system::process::PerProcess;

static MADE: PerProcess<Mutex<Option<Runtime>>> = PerProcess::new(|| Mutex::new(None));

/// Returns the runtime for connections, for the tasks that keep files alive and close them, and for callers without one. It
/// starts with the first client and lives as long as the process: clients come and go often, and a runtime of the program may
/// end or stop polling its tasks. A child made by fork() has none of its
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

/// Polls a future within `runtime`, whose timers and network it then uses, wherever it is awaited.
pub(crate) async fn within<F: Future>(runtime: &Handle, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _within = runtime.enter();
        future.as_mut().poll(cx)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileSystem;
    use crate::fixture::Cluster;
    use zerohop_conf::Conf;
    use zerohop_proto::hdfs::GetFileInfoResponseProto;
    use zerohop_transport::login::User;
    use zerohop_transport::rpc::Reply;

    /// Calls used to wait for their time limit when the runtime that had built the client or made its first call had ended or
    /// stopped polling.
    #[test]
    fn a_client_outlives_the_runtimes_that_made_and_used_it() {
        let cluster = Cluster::answering(|method, _| {
            assert_eq!(method, "getFileInfo");
            Reply::message(&GetFileInfoResponseProto::default())
        });
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", cluster.client.target.uri.clone());
        conf.set("ipc.client.rpc-timeout.ms", "10000");
        let standing = || Builder::new_current_thread().enable_all().build().unwrap();
        let first = standing();
        let made = async { FileSystem::connect_as(&conf, None, User::new("u")).unwrap() };
        let fs = first.block_on(made);
        assert!(!first.block_on(fs.exists("/f")).unwrap());
        assert!(!standing().block_on(fs.exists("/f")).unwrap(), "while the first stands still");
        drop(first);
        assert!(!standing().block_on(fs.exists("/f")).unwrap(), "after the first has ended");
    }

    #[test]
    fn a_child_gets_a_runtime_while_a_thread_of_its_parent_makes_one() {
        let held = MADE.get().lock();
        assert!(crate::test_child::ends_well(|| background().is_ok()));
        drop(held);
    }
}
