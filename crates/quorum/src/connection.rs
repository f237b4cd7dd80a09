//! How calls get to a JournalNode.

use bytes::Bytes;
use parking_lot::Mutex;
use std::io;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use zerohop_system::clock;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};

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

/// A connection by RPC.
pub struct RpcConnection {
    client: RpcClient,
    /// Driven by the thread that calls and by no other one: an answer wakes the thread that waits for it, which costs half of what it
    /// costs to hand it from one to the other. Taken when this is dropped.
    runtime: Option<Runtime>,
    called: Mutex<Instant>,
}

/// Calls that follow each other sooner than this do not look first whether the other end has closed the connection.
const LOOK_AFTER: Duration = Duration::from_millis(1);

impl RpcConnection {
    /// Nothing is connected yet. Calls must not be made within a runtime.
    ///
    /// # Errors
    /// If the process has no descriptors left.
    pub fn new(address: &str, options: ClientOptions) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // Not the runtime within which this is made, if there is one.
        let options = ClientOptions { runtime: Some(runtime.handle().clone()), ..options };
        let client = RpcClient::new(address, PROTOCOL, VERSION, &User::of_process(), options);
        Ok(Self { client, runtime: Some(runtime), called: Mutex::new(clock::now()) })
    }

    /// Closes the connection; the next call connects again.
    pub fn disconnect(&self) {
        self.client.disconnect();
    }

    async fn carry_out(&self, method: &'static str, request: &[u8]) -> Result<Bytes, RpcError> {
        let last = std::mem::replace(&mut *self.called.lock(), clock::now());
        if clock::since(last) >= LOOK_AFTER {
            // What came meanwhile is heard of in the first turn, and read by the connection's task in the second.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        }
        self.client.call_raw(&self.client.next_call(), method, request).await
    }
}

impl Drop for RpcConnection {
    fn drop(&mut self) {
        // It may be dropped within another runtime, where this one must not be waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Connection for RpcConnection {
    fn address(&self) -> &str {
        self.client.addr()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        let Some(runtime) = &self.runtime else { return Err("it is being closed".to_owned()) };
        let answer = runtime.block_on(self.carry_out(method, request));
        answer.map_err(|error| match error.remote() {
            Some(exception) => exception.to_string(),
            None => error.to_string(),
        })
    }
}
