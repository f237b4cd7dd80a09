//! A NameNode that hears no heartbeats.

use super::lifeline::send_lifelines;
use crate::namenodes::{Link, PoolService};
use crate::test_node::{TestNode, wait_until};
use bytes::Bytes;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::Conf;
use zerohop_proto::hdfs::LifelineResponseProto;
use zerohop_proto::hdfs::datanode::HeartbeatRequestProto;
use zerohop_transport::rpc::server::{CallContext, Reply, RpcServer, RpcService, ServerOptions};

#[derive(Default)]
struct NameNode(Mutex<Vec<HeartbeatRequestProto>>);

impl RpcService for NameNode {
    fn protocol(&self) -> &'static str {
        "org.apache.hadoop.hdfs.server.protocol.DatanodeLifelineProtocol"
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, _: CallContext, method: &str, param: Bytes) -> Reply {
        assert_eq!(method, "sendLifeline");
        self.0.lock().push(zerohop_proto::decode(param).unwrap());
        Reply::message(&LifelineResponseProto {})
    }
}

/// A NameNode that was too busy for heartbeats took its DataNodes for dead.
#[test]
fn a_silent_datanode_sends_lifelines_and_one_with_heartbeats_none() {
    let test = TestNode::start(&["disk"], &[]);
    let _inside = test.node.handle.enter();
    let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    let namenode = Arc::new(NameNode::default());
    server.register(Arc::clone(&namenode) as Arc<dyn RpcService>);
    server.start().unwrap();
    let link =
        Link::new("127.0.0.1:1".to_owned(), 0, &test.node.user, test.node.rpc_options.clone());
    let service = PoolService::new(String::new());
    let addr = server.local_addr().to_string();
    let start = |interval| {
        let (node, service) = (Arc::clone(&test.node), Arc::clone(&service));
        let lifelines = send_lifelines(node, service, Arc::clone(&link), addr.clone(), interval);
        test.node.handle.spawn(lifelines)
    };
    // Heartbeats are younger than an hour: nothing is sent.
    let idle = start(Duration::from_secs(3600));
    let busy = start(Duration::from_millis(10));
    let identity = test.node.services()[0].identity().unwrap();
    assert!(namenode.0.lock().is_empty(), "it is not registered");
    link.registered(test.node.registration_for(&identity));
    wait_until("three lifelines", || namenode.0.lock().len() >= 3);
    busy.abort();
    idle.abort();
    let sent = namenode.0.lock();
    assert_eq!((sent[0].reports.len(), sent[0].xceiver_count), (1, Some(1)));
    assert!(sent[0].reports[0].capacity() > 0);
}
