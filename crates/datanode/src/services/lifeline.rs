//! Lifelines (`DatanodeLifelineProtocol`): where a NameNode is too busy to take heartbeats, or this
//! DataNode too busy to send them, a message on a port of its own keeps this DataNode alive.

use super::heartbeat::heartbeat;
use crate::activity::Message;
use crate::namenodes::{Link, PoolService};
use crate::node::Node;
use std::sync::Arc;
use std::time::Duration;
use zerohop_proto::hdfs::LifelineResponseProto;
use zerohop_system::clock;
use zerohop_transport::rpc::{RpcClient, RpcError};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeLifelineProtocol";
const VERSION: u64 = 1;

/// Sends a lifeline to `addr` whenever the NameNode has heard nothing for so long, until the task is
/// aborted.
pub(crate) async fn send_lifelines(
    node: Arc<Node>,
    service: Arc<PoolService>,
    link: Arc<Link>,
    addr: String,
    interval: Duration,
) {
    let client = RpcClient::new(&addr, PROTOCOL, VERSION, &node.user, node.rpc_options.clone());
    let mut has_failed = false;
    loop {
        let silent = link.silence();
        if silent < interval {
            clock::sleep(interval - silent).await;
            continue;
        }
        link.note_heard();
        let Some(registration) = link.registration() else { continue };
        let request = heartbeat(&node, &service, registration, false);
        let begun = clock::now();
        let sent: Result<LifelineResponseProto, RpcError> =
            client.call("sendLifeline", &request).await;
        match sent {
            Ok(_) => {
                let name_node = link.addr.replace(':', "-");
                node.activity.answered(Message::Lifeline, &name_node, clock::since(begun));
                has_failed = false;
            }
            Err(error) if !has_failed => {
                tracing::warn!("NameNode {}: no lifeline to {addr}: {error}", link.addr);
                has_failed = true;
            }
            Err(_) => {}
        }
    }
}
