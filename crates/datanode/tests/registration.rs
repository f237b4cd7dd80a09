//! A NameNode that wants a DataNode to register before it takes its block report.
#![allow(clippy::disallowed_methods, reason = "the test waits")]

use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zerohop_conf::Conf;
use zerohop_datanode::DataNode;
use zerohop_proto::hdfs::datanode::datanode_command_proto::Type;
use zerohop_proto::hdfs::datanode::*;
use zerohop_proto::hdfs::nnha_status_heartbeat_proto::State;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::server::{CallContext, Reply, RpcServer, RpcService, ServerOptions};

/// Answers the first full report with the order to register.
#[derive(Default)]
struct NameNode {
    registrations: AtomicUsize,
    reports: AtomicUsize,
}

impl RpcService for NameNode {
    fn protocol(&self) -> &'static str {
        "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol"
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, _: CallContext, method: &str, param: Bytes) -> Reply {
        match method {
            "versionRequest" => Reply::message(&VersionResponseProto {
                info: NamespaceInfoProto {
                    block_pool_id: "BP-1-127.0.0.1-1".to_owned(),
                    software_version: "3.4.3".to_owned(),
                    storage_info: StorageInfoProto {
                        layout_version: -67_i32 as u32,
                        namespce_id: 1,
                        cluster_id: "CID-1".to_owned(),
                        c_time: 1,
                    },
                    ..Default::default()
                },
            }),
            "registerDatanode" => {
                self.registrations.fetch_add(1, Ordering::Relaxed);
                let request = zerohop_proto::decode::<RegisterDatanodeRequestProto>(param).unwrap();
                let registration = request.registration;
                Reply::message(&RegisterDatanodeResponseProto { registration })
            }
            "sendHeartbeat" => Reply::message(&HeartbeatResponseProto {
                ha_status: NnhaStatusHeartbeatProto { state: State::Active.into(), txid: 1 },
                full_block_report_lease_id: Some(1),
                ..Default::default()
            }),
            "blockReport" => {
                let is_first = self.reports.fetch_add(1, Ordering::Relaxed) == 0;
                let cmd = is_first.then(|| DatanodeCommandProto {
                    cmd_type: Type::RegisterCommand.into(),
                    register_cmd: Some(RegisterCommandProto {}),
                    ..Default::default()
                });
                Reply::message(&BlockReportResponseProto { cmd })
            }
            _ => Reply::message(&BlockReceivedAndDeletedResponseProto {}),
        }
    }
}

/// The DataNode took the report for sent, and the NameNode had none until the next one, hours later.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_to_register_in_answer_to_a_full_report_was_ignored() {
    let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    let namenode = Arc::new(NameNode::default());
    server.register(Arc::clone(&namenode) as Arc<dyn RpcService>);
    server.start().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut conf = Conf::new();
    conf.set("fs.defaultFS", format!("hdfs://{}", server.local_addr()));
    conf.set("dfs.datanode.data.dir", directory.path().to_str().unwrap());
    conf.set("dfs.heartbeat.interval", "1");
    for key in ["dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address"] {
        conf.set(key, "127.0.0.1:0");
    }
    let datanode = DataNode::start(Arc::new(conf)).await.unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    while count(&namenode.registrations) < 2 || count(&namenode.reports) < 2 {
        let counts = (count(&namenode.registrations), count(&namenode.reports));
        assert!(Instant::now() < end, "registrations and reports: {counts:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    datanode.stop().await;
    server.stop().await;
}
