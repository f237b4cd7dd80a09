//! A NameNode becomes a standby and active again; a namespace follows the edits of another one.

use crate::clock::Clock;
use crate::core::Core;
use crate::ha::HaState;
use crate::loader::load_image;
use crate::name_service::NameService;
use crate::retry::RetryCache;
use crate::served::ServedNamespace;
use crate::start::Membership;
use crate::storage::EditLog;
use crate::{FormatOptions, NameNode, StartOption};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerohop_conf::Conf;
use zerohop_journal::EditOp;
use zerohop_journal::image::ImageReader;
use zerohop_journal::log::{DirectoryJournal, EditCursor};
use zerohop_journal::op::{Mkdir, OP_SIZE_MAX};
use zerohop_journal::types::{PermissionStatus, RpcIds};
use zerohop_namespace::blocks::BlockManager;
use zerohop_namespace::{CreateFlags, CreateRequest, Namespace, OpContext};
use zerohop_proto::Checked;
use zerohop_proto::common::*;
use zerohop_proto::hdfs::namenode::{RollEditLogRequestProto, RollEditLogResponseProto};
use zerohop_proto::hdfs::*;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::{InodeId, JavaException, TxId};

const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
const NAMENODE: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";
const HA: &str = "org.apache.hadoop.ha.HAServiceProtocol";

/// Longer than anything here takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(120);

async fn start(directory: &Path) -> NameNode {
    start_with(directory, &[]).await
}

async fn start_with(directory: &Path, settings: &[(&str, &str)]) -> NameNode {
    let mut conf = Conf::new();
    settings.iter().for_each(|(name, value)| conf.set(name, *value));
    conf.set("dfs.namenode.name.dir", directory.join("name").to_str().unwrap());
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    conf.set("dfs.namenode.http-address", "127.0.0.1:0");
    conf.set("dfs.namenode.safemode.extension", "0");
    NameNode::format(&conf, FormatOptions::default()).unwrap();
    NameNode::start_as(Arc::new(conf), StartOption::Regular, membership()).await.unwrap()
}

/// It can become a standby, though it names no other NameNode.
fn membership() -> Membership {
    Membership { service: NameService::default(), state: HaState::Active, is_enabled: true }
}

/// Calls as the superuser.
async fn call<R: Checked>(
    node: &NameNode,
    protocol: &'static str,
    method: &'static str,
    request: impl prost::Message,
) -> Result<R, RpcError> {
    let options = ClientOptions::default();
    let client = RpcClient::new(node.rpc_addr(), protocol, 1, &User::of_process(), options);
    client.call(method, &request).await
}

fn refusal<R: std::fmt::Debug>(answer: Result<R, RpcError>) -> String {
    let error = answer.unwrap_err();
    assert_eq!(error.remote_kind(), Some(JavaException::Standby), "{error}");
    error.to_string()
}

async fn status(node: &NameNode) -> HaServiceStateProto {
    let answer: GetServiceStatusResponseProto =
        call(node, HA, "getServiceStatus", GetServiceStatusRequestProto {}).await.unwrap();
    answer.state()
}

fn info(path: &str) -> GetFileInfoRequestProto {
    GetFileInfoRequestProto { src: path.to_owned() }
}

fn mkdirs(path: &str) -> MkdirsRequestProto {
    let masked = FsPermissionProto { perm: 0o755 };
    MkdirsRequestProto { src: path.to_owned(), masked, create_parent: true, unmasked: None }
}

async fn exists(node: &NameNode, path: &str) -> bool {
    let found: GetFileInfoResponseProto =
        call(node, CLIENT, "getFileInfo", info(path)).await.unwrap();
    found.fs.is_some()
}

fn source() -> HaStateChangeRequestInfoProto {
    HaStateChangeRequestInfoProto { req_source: HaRequestSource::RequestByUser.into() }
}

async fn to_standby(node: &NameNode) {
    let request = TransitionToStandbyRequestProto { req_info: source() };
    let _: TransitionToStandbyResponseProto =
        call(node, HA, "transitionToStandby", request).await.unwrap();
}

/// What another NameNode wrote before it died.
fn write_as_another(core: &Core, path: &str, id: InodeId) {
    let log = EditLog::start(core.storage.clone(), core.last_txid().0 + 1, |_| {}).unwrap();
    let permissions = PermissionStatus { user: "a".into(), group: "b".into(), mode: 0o755 };
    let (acl, xattrs, path) = (Vec::new(), Vec::new(), path.to_owned());
    let made: EditOp =
        Mkdir { inode_id: id, path, timestamp_ms: 1, permissions, acl, xattrs }.into();
    log.log([(&made, &RpcIds::NONE)]).wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_refuses_clients_and_goes_on_with_anothers_edits_when_it_becomes_active() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path()).await;
    let core = node.core().clone();
    let _: MkdirsResponseProto = call(&node, CLIENT, "mkdirs", mkdirs("/ours")).await.unwrap();
    assert_eq!(status(&node).await, HaServiceStateProto::Active);
    assert_ne!(core.state_jobs.count(), 0);

    to_standby(&node).await;
    to_standby(&node).await;
    assert_eq!((status(&node).await, core.state_jobs.count()), (HaServiceStateProto::Standby, 2));
    let read = refusal(
        call::<GetFileInfoResponseProto>(&node, CLIENT, "getFileInfo", info("/ours")).await,
    );
    assert!(
        read.contains(
            "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error"
        ),
        "{read}"
    );
    let written = refusal(call::<MkdirsResponseProto>(&node, CLIENT, "mkdirs", mkdirs("/x")).await);
    assert!(written.contains("category WRITE"), "{written}");
    let rolled = call::<RollEditLogResponseProto>(
        &node,
        NAMENODE,
        "rollEditLog",
        RollEditLogRequestProto {},
    );
    assert!(refusal(rolled.await).contains("category JOURNAL"));
    let all = GetDatanodeReportRequestProto { r#type: DatanodeReportTypeProto::All.into() };
    let _: GetDatanodeReportResponseProto =
        call(&node, CLIENT, "getDatanodeReport", all).await.unwrap();

    let before = core.last_txid();
    let highest = core.read(|namespace| namespace.ids().inode);
    write_as_another(&core, "/theirs", InodeId(highest.0 + 1));
    let request = TransitionToActiveRequestProto { req_info: source() };
    let _: TransitionToActiveResponseProto =
        call(&node, HA, "transitionToActive", request).await.unwrap();
    assert_eq!(
        (status(&node).await, core.ha.state()),
        (HaServiceStateProto::Active, HaState::Active)
    );
    assert_ne!(core.state_jobs.count(), 0);
    assert!(exists(&node, "/ours").await && exists(&node, "/theirs").await);
    assert!(core.last_txid() > TxId(before.0 + 2), "{} after {before}", core.last_txid());
    let _: MkdirsResponseProto = call(&node, CLIENT, "mkdirs", mkdirs("/again")).await.unwrap();
    node.stop().await;

    let conf = node.core().conf.clone();
    let restarted = NameNode::start_as(conf, StartOption::Regular, membership()).await.unwrap();
    for path in ["/ours", "/theirs", "/again"] {
        assert!(exists(&restarted, path).await, "{path}");
    }
    restarted.stop().await;
}

/// Waits for a condition that another task brings about.
async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The transition ended with the connection of who had asked for it, between the old jobs' end and the new jobs' start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transition_was_cut_off_when_its_caller_went_away() {
    let directory = tempfile::tempdir().unwrap();
    let node = Arc::new(start(directory.path()).await);
    let core = node.core().clone();
    let active_jobs = core.state_jobs.count();
    to_standby(&node).await;
    wait_until("a connection stays", || node.connections() == 0).await;
    // The transition waits for a look for edits.
    let (held, is_held) = std::sync::mpsc::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let looking = std::thread::spawn({
        let core = core.clone();
        move || {
            let look = core.following.begin_pass().unwrap();
            let _applying = look.hold().unwrap();
            held.send(()).unwrap();
            // Until the sender is used, or dropped by a test that fails.
            _ = released.recv();
        }
    });
    is_held.recv().unwrap();
    let caller = tokio::spawn({
        let node = node.clone();
        async move {
            let request = TransitionToActiveRequestProto { req_info: source() };
            _ = call::<TransitionToActiveResponseProto>(&node, HA, "transitionToActive", request)
                .await;
        }
    });
    wait_until("the transition does not begin", || core.state_jobs.count() == 0).await;
    caller.abort();
    _ = caller.await;
    wait_until("the caller's connection stays", || node.connections() == 0).await;
    release.send(()).unwrap();
    looking.join().unwrap();
    drop(core.transition.lock().await);
    assert_eq!((core.ha.state(), core.state_jobs.count()), (HaState::Active, active_jobs));
    let _: MkdirsResponseProto = call(&node, CLIENT, "mkdirs", mkdirs("/after")).await.unwrap();
    node.stop().await;
}

/// Writes a finished segment of another NameNode, which makes a directory. Returns the first transaction of the next segment.
fn write_segment(core: &Core, first: i64, path: &str, id: u64) -> i64 {
    let log = EditLog::start(core.storage.clone(), first, |_| {}).unwrap();
    let permissions = PermissionStatus { user: "a".into(), group: "b".into(), mode: 0o755 };
    let (acl, xattrs, path) = (Vec::new(), Vec::new(), path.to_owned());
    let made = Mkdir { inode_id: InodeId(id), path, timestamp_ms: 1, permissions, acl, xattrs };
    log.log([(&made.into(), &RpcIds::NONE)]).wait().unwrap();
    log.close().unwrap();
    log.last_txid().0 + 1
}

async fn health(node: &NameNode) -> String {
    let address = node.http_addr();
    let ask = move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    tokio::task::spawn_blocking(ask).await.unwrap()
}

/// Where edits are followed as they come, a standby whose next edits were purged found none for ever, and said that it was well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_can_no_longer_catch_up_said_that_it_was_well() {
    let directory = tempfile::tempdir().unwrap();
    let settings =
        [("dfs.ha.tail-edits.in-progress", "true"), ("dfs.ha.tail-edits.period", "10ms")];
    let node = start_with(directory.path(), &settings).await;
    let core = node.core().clone();
    to_standby(&node).await;
    // It falls behind.
    let behind = core.following.take_over();
    let (first, id) = (core.last_txid().0 + 1, core.read(|namespace| namespace.ids().inode).0);
    let second = write_segment(&core, first, "/one", id + 1);
    let third = write_segment(&core, second, "/two", id + 2);
    write_segment(&core, third, "/three", id + 3);
    let current = core.storage.dirs()[0].root().join("current");
    let purged = current.join(format!("edits_{second:019}-{:019}", third - 1));
    let kept = directory.path().join("kept");
    std::fs::rename(&purged, &kept).unwrap();
    drop(behind);
    wait_until("it says nothing", || core.following.gap().is_some()).await;
    assert_eq!(core.last_txid().0, second - 1);
    let missing = format!("edit logs containing txid {second}");
    let answer: GetServiceStatusResponseProto =
        call(&node, HA, "getServiceStatus", GetServiceStatusRequestProto {}).await.unwrap();
    assert_eq!(answer.ready_to_become_active, Some(false));
    assert!(answer.not_ready_reason().contains(&missing), "{}", answer.not_ready_reason());
    let asked = call::<MonitorHealthResponseProto>(
        &node,
        HA,
        "monitorHealth",
        MonitorHealthRequestProto {},
    );
    let ill = asked.await.unwrap_err().to_string();
    assert!(ill.contains(&missing) && ill.contains("-bootstrapStandby"), "{ill}");
    let page = health(&node).await;
    assert!(page.starts_with("HTTP/1.1 503 ") && page.contains(&missing), "{page}");

    std::fs::rename(&kept, &purged).unwrap();
    wait_until("it does not catch up", || core.following.gap().is_none()).await;
    assert!(health(&node).await.starts_with("HTTP/1.1 200 "));
    let request = TransitionToActiveRequestProto { req_info: source() };
    let _: TransitionToActiveResponseProto =
        call(&node, HA, "transitionToActive", request).await.unwrap();
    for path in ["/one", "/two", "/three"] {
        assert!(exists(&node, path).await, "{path}");
    }
    node.stop().await;
}

/// As the standby of another NameNode that shares its directory would.
fn follower(core: &Core) -> ServedNamespace {
    let settings = &core.settings;
    let blocks = BlockManager::new(settings.block_params.clone());
    let namespace = Namespace::new(settings.namespace_params.clone(), blocks);
    let served = ServedNamespace::new(namespace, RetryCache::new(1000), Clock::start());
    let name = core.storage.dirs()[0].root().join("current/fsimage_0000000000000000000");
    let image = ImageReader::open(&name).unwrap();
    load_image(&mut served.write(), &image, core.clock.now(), false).unwrap();
    served
}

fn create(core: &Core, op: &OpContext, path: &str) {
    let request = CreateRequest {
        path,
        masked: 0o644,
        unmasked: None,
        client_name: "client",
        flags: CreateFlags::from_bits(1),
        create_parent: true,
        replication: 1,
        block_size: 1 << 20,
        storage_policy: None,
        ec_policy: None,
    };
    core.write(|namespace| namespace.files(op).create(&request)).0.unwrap();
}

fn work(core: &Core) {
    let op = OpContext::internal(core.clock.now());
    for n in 0..300 {
        let directory = format!("/{}/{n}", n % 7);
        core.write(|namespace| namespace.directories(&op).mkdirs(&directory, 0o755, None, true))
            .0
            .unwrap();
        create(core, &op, &format!("{directory}/file"));
        match n % 50 {
            10 => drop(core.write(|namespace| {
                namespace.directories(&op).delete(&format!("/{}", n % 7), true)
            })),
            20 => core.roll_edits().unwrap().1.wait().unwrap(),
            30 => drop(core.write(|namespace| namespace.directories(&op).rename(&directory, "/1"))),
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_namespace_follows_segments_in_progress_while_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(directory.path()).await;
    let core = node.core().clone();
    let wait = Instant::now() + LIMIT;
    while core.read(|namespace| namespace.blocks().safe_mode().is_on()) {
        assert!(Instant::now() < wait, "still in safe mode");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let compared = tokio::task::spawn_blocking({
        let core = core.clone();
        move || follow(&core)
    });
    compared.await.unwrap();
    node.stop().await;
}

fn follow(core: &Core) {
    let served = follower(core);
    let current = core.storage.dirs()[0].root().join("current");
    let journal = DirectoryJournal::new(current, OP_SIZE_MAX);
    let (written, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            work(core);
            core.log().barrier().wait().unwrap();
            written.store(true, Ordering::Release);
        });
        let reads = scope.spawn(|| {
            let op = OpContext::internal(core.clock.now());
            let mut reads = 0;
            while !ended.load(Ordering::Acquire) {
                served.read().view(&op).file_info("/1").unwrap();
                reads += 1;
            }
            reads
        });
        let mut edits = EditCursor::new(&journal, TxId(1), true);
        let until = Instant::now() + LIMIT;
        loop {
            let is_last = written.load(Ordering::Acquire);
            served.catch_up(&mut edits, TxId(i64::MAX)).unwrap();
            if is_last {
                break;
            }
            assert!(Instant::now() < until, "the writer has not ended");
        }
        ended.store(true, Ordering::Release);
        assert_ne!(reads.join().unwrap(), 0);
    });
    core.read(|namespace| {
        assert_eq!(served.applied(), core.last_txid());
        assert_eq!(served.read().difference(namespace), None);
    });
}
