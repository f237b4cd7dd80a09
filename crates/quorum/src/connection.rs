//! How calls get to a JournalNode.

use bytes::Bytes;
use std::io;
use std::sync::Arc;
use tokio::runtime::{Handle, Runtime};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient};

/// The protocol's name and version.
const PROTOCOL: &str = "org.apache.hadoop.hdfs.qjournal.protocol.QJournalProtocol";
const VERSION: u64 = 1;

/// Carries calls of `QJournalProtocol` to one JournalNode, one after the other.
pub trait Connection: Send + Sync {
    /// The JournalNode, `host:port`.
    fn address(&self) -> &str;

    /// Blocks until the JournalNode has answered. Request and answer are encoded messages.
    ///
    /// # Errors
    /// Why there is no answer, or what the JournalNode refused it with. The call may have been carried out all the same.
    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String>;
}

/// Where calls of JournalNodes run: a thread of their own, so that those that serve do not delay edits. It lasts until the last
/// connection is gone: a call that is on its way when the journal is given up still ends in order.
pub struct CallThread {
    handle: Handle,
    /// Taken when it is dropped.
    runtime: Option<Runtime>,
}

impl CallThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn start() -> io::Result<Arc<Self>> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("shared-edits").enable_all().build()?;
        Ok(Arc::new(Self { handle: runtime.handle().clone(), runtime: Some(runtime) }))
    }
}

impl Drop for CallThread {
    fn drop(&mut self) {
        // The last connection may be given up within another runtime, where this one must not be waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A connection by RPC.
pub struct RpcConnection {
    client: RpcClient,
    thread: Arc<CallThread>,
}

impl RpcConnection {
    /// Nothing is connected yet. Calls run on `thread`; they must not be made on it.
    pub fn new(address: &str, options: ClientOptions, thread: &Arc<CallThread>) -> Self {
        let client = RpcClient::new(address, PROTOCOL, VERSION, &User::of_process(), options);
        Self { client, thread: Arc::clone(thread) }
    }

    /// Closes the connection; the next call connects again.
    pub fn disconnect(&self) {
        self.client.disconnect();
    }
}

impl Connection for RpcConnection {
    fn address(&self) -> &str {
        self.client.addr()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        let id = self.client.next_call();
        let answer = self.thread.handle.block_on(self.client.call_raw(&id, method, request));
        answer.map_err(|error| match error.remote() {
            Some(exception) => exception.to_string(),
            None => error.to_string(),
        })
    }
}
