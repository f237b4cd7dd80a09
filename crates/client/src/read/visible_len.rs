//! The length of a block that is being written: only its DataNodes know it.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::types::{DatanodeInfo, LocatedBlock};
use std::time::Duration;
use zerohop_proto::hdfs::{
    GetReplicaVisibleLengthRequestProto, GetReplicaVisibleLengthResponseProto,
};
use zerohop_system::clock;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::JavaException;

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
const VERSION: u64 = 1;
/// Wait before DataNodes that are still starting are asked again.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// The bytes of `block` that readers may see; `None` where no DataNode is known to have it.
pub(super) async fn visible_len(client: &Client, block: &LocatedBlock) -> Result<Option<u64>> {
    if block.replicas.is_empty() {
        // A pipeline that was never made: nothing was written.
        return Ok((block.block.block.len == 0).then_some(0));
    }
    let deadline = clock::now() + client.settings.socket_timeout;
    let mut nodes: Vec<&DatanodeInfo> = block.nodes().collect();
    let mut lacking = 0;
    loop {
        let mut starting = Vec::new();
        for node in nodes {
            match ask(client, node, block).await {
                Ok(Some(len)) => return Ok(Some(len)),
                Ok(None) => tracing::debug!("{node} does not know the length of {}", block.block),
                Err(error) => match error.remote_kind() {
                    Some(JavaException::ReplicaNotFound) => lacking += 1,
                    Some(JavaException::Retriable) => starting.push(node),
                    _ => tracing::debug!("length of {} at {node}: {error}", block.block),
                },
            }
        }
        if lacking == block.replicas.len() {
            return Ok(Some(0));
        }
        if starting.is_empty() || clock::now() > deadline {
            return Err(Error::plain(format!(
                "Cannot obtain block length for {} of {} replica(s)",
                block.block,
                block.replicas.len()
            )));
        }
        client.sleep(RETRY_AFTER).await;
        nodes = starting;
    }
}

/// Returns the visible length on one DataNode, or `None` if the replica waits for recovery, as after a restart of its
/// DataNode. Java answers -1 for such a replica.
async fn ask(
    client: &Client,
    node: &DatanodeInfo,
    block: &LocatedBlock,
) -> std::result::Result<Option<u64>, RpcError> {
    let host = if client.settings.by_host_name { node.host() } else { node.ip() };
    let addr = format!("{host}:{}", node.ipc_port());
    let options = ClientOptions {
        connect_retries: 0,
        connect_retries_on_timeouts: 0,
        rpc_timeout: client.settings.socket_timeout,
        ..client.rpc_options.clone()
    };
    let rpc = RpcClient::new(addr, PROTOCOL, VERSION, &client.user, options);
    let request = GetReplicaVisibleLengthRequestProto { block: (&block.block).into() };
    let answer: GetReplicaVisibleLengthResponseProto =
        rpc.call("getReplicaVisibleLength", &request).await?;
    Ok(i64::try_from(answer.length).is_ok().then_some(answer.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Cluster, located};
    use crate::types::Replica;
    use bytes::Bytes;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use zerohop_conf::Conf;
    use zerohop_proto::hdfs::DatanodeInfoProto;
    use zerohop_transport::rpc::{CallContext, Reply, RpcServer, RpcService, ServerOptions};

    /// Answers with this length.
    struct DataNode(u64);

    impl RpcService for DataNode {
        fn protocol(&self) -> &'static str {
            PROTOCOL
        }

        fn version(&self) -> u64 {
            VERSION
        }

        fn call(self: Arc<Self>, _: CallContext, _: &str, _: Bytes) -> Reply {
            Reply::message(&GetReplicaVisibleLengthResponseProto { length: self.0 })
        }
    }

    fn start(len: i64, number: u32) -> (RpcServer, Replica) {
        let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
        let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
        server.register(Arc::new(DataNode(len as u64)));
        server.start().unwrap();
        let replica = crate::fixture::replica(number);
        let mut proto: DatanodeInfoProto = replica.node.proto().clone();
        proto.id.ipc_port = server.local_addr().port().into();
        (server, Replica { node: proto.into(), ..replica })
    }

    /// The answer -1 of a replica that waits for recovery used to become 2^64-1, and no other DataNode was asked.
    #[tokio::test]
    async fn a_datanode_that_does_not_know_the_length_is_passed_over() {
        let cluster = Cluster::answering(|_, _| panic!("the NameNode is not asked"));
        let (_waiting, first) = start(-1, 1);
        let (_knowing, second) = start(42, 2);
        let mut block = located(1, 0, 0);
        block.replicas = vec![first.clone(), second];
        assert_eq!(visible_len(&cluster.client, &block).await.unwrap(), Some(42));
        block.replicas = vec![first];
        let error = visible_len(&cluster.client, &block).await.unwrap_err().to_string();
        assert!(error.starts_with("Cannot obtain block length"), "{error}");
    }
}
