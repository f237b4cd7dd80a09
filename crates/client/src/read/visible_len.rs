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
                Ok(len) => return Ok(Some(len)),
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
        clock::sleep(RETRY_AFTER).await;
        nodes = starting;
    }
}

async fn ask(
    client: &Client,
    node: &DatanodeInfo,
    block: &LocatedBlock,
) -> std::result::Result<u64, RpcError> {
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
    Ok(answer.length)
}
