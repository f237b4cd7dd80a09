//! The talk with a NameNode that becomes active meanwhile.

use super::actor::Actor;
use crate::namenodes::{Link, PoolService};
use crate::test_node::{POOL, TestNode, wait_until};
use bytes::Bytes;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::Conf;
use zerohop_proto::hdfs::datanode::block_command_proto::Action;
use zerohop_proto::hdfs::datanode::datanode_command_proto::Type;
use zerohop_proto::hdfs::datanode::{
    BlockCommandProto, BlockReceivedAndDeletedResponseProto, BlockReportRequestProto,
    BlockReportResponseProto, DatanodeCommandProto, HeartbeatRequestProto, HeartbeatResponseProto,
    RegisterDatanodeRequestProto, RegisterDatanodeResponseProto,
};
use zerohop_proto::hdfs::nnha_status_heartbeat_proto::State as HaState;
use zerohop_proto::hdfs::{
    NamespaceInfoProto, NnhaStatusHeartbeatProto, StorageInfoProto, VersionResponseProto,
};
use zerohop_transport::rpc::server::{CallContext, Reply, RpcServer, RpcService, ServerOptions};
use zerohop_wire::{ExtendedBlock, JavaException};

/// A message of a full report: the report's id, and which of its messages it is.
type Part = (i64, i32);

/// The behaviour of a NameNode, and the messages that it got.
#[derive(Default)]
struct Script {
    is_active: bool,
    /// True if the first message of a full report makes the NameNode active. The answer comes when a heartbeat is overdue.
    becomes_active: bool,
    /// Command in the answer to each message of a full report.
    report_command: Option<DatanodeCommandProto>,
    /// Command in the answer to each heartbeat.
    heartbeat_command: Option<DatanodeCommandProto>,
    heartbeats: usize,
    incremental_reports: usize,
    parts: Vec<Part>,
}

#[derive(Default)]
struct NameNode(Mutex<Script>);

const HEARTBEAT: Duration = Duration::from_millis(50);

impl NameNode {
    fn heartbeat(&self, request: &HeartbeatRequestProto) -> Reply {
        let mut script = self.0.lock();
        script.heartbeats += 1;
        let state = if script.is_active { HaState::Active } else { HaState::Standby };
        Reply::message(&HeartbeatResponseProto {
            cmds: script.heartbeat_command.clone().into_iter().collect(),
            ha_status: NnhaStatusHeartbeatProto { state: state.into(), txid: 10 },
            full_block_report_lease_id: request
                .request_full_block_report_lease
                .filter(|wants| *wants)
                .map(|_| 77),
            ..HeartbeatResponseProto::default()
        })
    }

    fn report(&self, request: BlockReportRequestProto) -> Reply {
        let context = request.context.unwrap();
        let mut script = self.0.lock();
        script.parts.push((context.id, context.cur_rpc));
        let answer = BlockReportResponseProto { cmd: script.report_command.clone() };
        if std::mem::take(&mut script.becomes_active) {
            script.is_active = true;
            return Reply::Later(Box::pin(async move {
                tokio::time::sleep(2 * HEARTBEAT).await;
                Reply::message(&answer).answer().await
            }));
        }
        Reply::message(&answer)
    }
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
                    block_pool_id: POOL.to_owned(),
                    storage_info: StorageInfoProto {
                        namespce_id: 7,
                        cluster_id: "CID-1".to_owned(),
                        ..StorageInfoProto::default()
                    },
                    software_version: "3.4.3".to_owned(),
                    ..NamespaceInfoProto::default()
                },
            }),
            "registerDatanode" => {
                let request: RegisterDatanodeRequestProto = zerohop_proto::decode(param).unwrap();
                Reply::message(&RegisterDatanodeResponseProto {
                    registration: request.registration,
                })
            }
            "sendHeartbeat" => self.heartbeat(&zerohop_proto::decode(param).unwrap()),
            "blockReport" => self.report(zerohop_proto::decode(param).unwrap()),
            "blockReceivedAndDeleted" => {
                self.0.lock().incremental_reports += 1;
                Reply::message(&BlockReceivedAndDeletedResponseProto {})
            }
            other => Reply::exception(JavaException::RpcNoSuchMethod.with(other.to_owned())),
        }
    }
}

/// A DataNode with two volumes, each in a separate message, and its NameNode.
struct Talk {
    test: TestNode,
    namenode: Arc<NameNode>,
    _server: RpcServer,
}

impl Talk {
    fn begin(test: TestNode, script: Script) -> Self {
        let inside = test.node.handle.enter();
        let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
        let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
        let namenode = Arc::new(NameNode(Mutex::new(script)));
        server.register(Arc::clone(&namenode) as Arc<dyn RpcService>);
        server.start().unwrap();
        let addr = server.local_addr().to_string();
        let service: Arc<PoolService> = Arc::clone(&test.node.services()[0]);
        let link = Link::new(addr, 0, &test.node.user, test.node.rpc_options.clone());
        service.add(Arc::clone(&link));
        test.node.handle.spawn(Actor::new(link, Arc::clone(&test.node), service).run());
        drop(inside);
        Self { test, namenode, _server: server }
    }

    fn node() -> TestNode {
        let interval = format!("{}ms", HEARTBEAT.as_millis());
        let settings = [
            ("dfs.heartbeat.interval", interval.as_str()),
            ("dfs.blockreport.split.threshold", "0"),
        ];
        TestNode::start(&["a", "b"], &settings)
    }

    /// Returns the ids of the reports whose two messages have arrived, in order.
    fn complete(&self) -> Vec<i64> {
        let script = self.namenode.0.lock();
        let seconds = script.parts.iter().filter(|(_, part)| *part == 1);
        seconds.map(|(id, _)| *id).collect()
    }
}

fn invalidate(block: &ExtendedBlock) -> DatanodeCommandProto {
    DatanodeCommandProto {
        cmd_type: Type::BlockCommand.into(),
        blk_cmd: Some(BlockCommandProto {
            action: Action::Invalidate.into(),
            block_pool_id: POOL.to_owned(),
            blocks: vec![block.block.into()],
            ..BlockCommandProto::default()
        }),
        ..DatanodeCommandProto::default()
    }
}

/// The rest of a report made storages fresh, though its list was older than the failover: replicas in it may have been deleted by
/// order of the previous active NameNode.
#[test]
fn a_split_report_in_flight_when_the_namenode_becomes_active_is_made_anew() {
    let script = Script { becomes_active: true, ..Script::default() };
    let talk = Talk::begin(Talk::node(), script);
    wait_until("a whole report", || !talk.complete().is_empty());
    let parts = talk.namenode.0.lock().parts.clone();
    let (first, whole) = (parts[0].0, talk.complete()[0]);
    assert_ne!(first, whole, "{parts:?}");
    assert_eq!(parts, [(first, 0), (whole, 0), (whole, 1)]);
}

/// A new active NameNode deletes nothing before all have reported: it had to wait for the next periodic report.
#[test]
fn a_datanode_reports_to_a_namenode_that_became_active() {
    let talk = Talk::begin(Talk::node(), Script::default());
    wait_until("the first report", || talk.complete().len() == 1);
    let before = talk.namenode.0.lock().heartbeats;
    wait_until("more heartbeats", || talk.namenode.0.lock().heartbeats > before + 3);
    assert_eq!(talk.complete().len(), 1, "a standby needs no other one");
    talk.namenode.0.lock().is_active = true;
    wait_until("another report", || talk.complete().len() == 2);
}

/// Only commands in answers to heartbeats were checked.
#[test]
fn a_command_in_the_answer_of_a_standby_to_a_report_is_ignored() {
    let node = Talk::node();
    let (kept, deleted) = (node.finalized(1, 100), node.finalized(2, 100));
    let script = Script { report_command: Some(invalidate(&kept)), ..Script::default() };
    let talk = Talk::begin(node, script);
    wait_until("the first report", || talk.complete().len() == 1);
    {
        let mut script = talk.namenode.0.lock();
        script.report_command = None;
        script.heartbeat_command = Some(invalidate(&deleted));
        script.is_active = true;
    }
    wait_until("the active one's command is carried out", || !talk.test.knows(&deleted));
    assert!(talk.test.knows(&kept));
}

/// A full report waited up to 30 s for deletions, and no new replica was reported meanwhile: files could not be closed.
#[test]
fn a_slow_deletion_held_up_the_reports_of_new_replicas() {
    let node = Talk::node();
    let order = invalidate(&node.finalized(1, 100)).blk_cmd.unwrap();
    let _slow = node.node.deletions.begin(&order);
    let talk = Talk::begin(node, Script { is_active: true, ..Script::default() });
    wait_until("heartbeats beside the full report", || talk.namenode.0.lock().heartbeats > 5);
    let (begun, new) = (Instant::now(), talk.test.finalized(2, 100));
    let replica = talk.test.node.store.pools().replica(&new).unwrap();
    talk.test.node.tell_received(POOL, &replica, new.block, None, false);
    wait_until("an incremental report", || talk.namenode.0.lock().incremental_reports > 0);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert!(talk.namenode.0.lock().parts.is_empty(), "the full report waits");
}
