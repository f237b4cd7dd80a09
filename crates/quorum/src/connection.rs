//! How calls get to a JournalNode.

use bytes::Bytes;
use tokio::runtime::Handle;
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

/// A connection by RPC.
pub struct RpcConnection {
    client: RpcClient,
    runtime: Handle,
}

impl RpcConnection {
    /// Nothing is connected yet. Calls run on `runtime`; they must not be made on one of its threads.
    pub fn new(address: &str, options: ClientOptions, runtime: &Handle) -> Self {
        let client = RpcClient::new(address, PROTOCOL, VERSION, &User::of_process(), options);
        Self { client, runtime: runtime.clone() }
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
        let answer = self.runtime.block_on(self.client.call_raw(&id, method, request));
        answer.map_err(|error| match error.remote() {
            Some(exception) => exception.to_string(),
            None => error.to_string(),
        })
    }
}
