//! A running DataNode.

use crate::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_conf::Conf;

/// A running DataNode; several may live in one process. Dropping it without [`stop`](Self::stop)
/// ends it too, but does not wait.
pub struct DataNode {
    data_addr: SocketAddr,
    ipc_addr: SocketAddr,
    http_addr: SocketAddr,
    uuid: String,
}

impl DataNode {
    /// Opens the volumes, binds the ports and starts to serve; the NameNodes are looked for in the
    /// background, however long that takes. Needs a tokio runtime, which must outlive the node.
    pub async fn start(conf: Arc<Conf>) -> Result<DataNode, Error> {
        drop(conf);
        Err(Error::Config("the DataNode does not start yet".to_owned()))
    }

    /// Where it serves block data.
    pub fn data_addr(&self) -> SocketAddr {
        self.data_addr
    }

    /// Where it serves RPC.
    pub fn ipc_addr(&self) -> SocketAddr {
        self.ipc_addr
    }

    /// Where it serves HTTP.
    pub fn http_addr(&self) -> SocketAddr {
        self.http_addr
    }

    /// Its id, the same after a restart on the same volumes.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// Waits until it is registered with a NameNode and its blocks are reported.
    pub async fn ready(&self) {}

    /// Waits until the node cannot go on: all its NameNodes refused it, or its volumes failed.
    pub async fn failed(&self) -> Error {
        std::future::pending().await
    }

    /// Stops serving, tells writers, closes the volumes.
    pub async fn stop(self) {}
}
