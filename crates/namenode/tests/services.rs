//! A NameNode on free ports, called over real RPC; a DataNode is played by the test.

use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::Conf;
use zerohop_namenode::{FormatOptions, NameNode};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::datanode as dn;
use zerohop_proto::hdfs::*;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::JavaException;

const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
const DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

struct Harness {
    folder: tempfile::TempDir,
    conf: Arc<Conf>,
    node: NameNode,
}

impl Harness {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut conf = Conf::new();
        conf.set("dfs.namenode.name.dir", folder.path().join("name").to_str().unwrap());
        conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
        conf.set("dfs.namenode.http-address", "127.0.0.1:0");
        conf.set("dfs.replication", "1");
        NameNode::format(&conf, FormatOptions::default()).unwrap();
        let conf = Arc::new(conf);
        let node = NameNode::start(conf.clone()).await.unwrap();
        Self { folder, conf, node }
    }

    async fn restart(&mut self) {
        self.node.stop().await;
        self.node = NameNode::start(self.conf.clone()).await.unwrap();
    }

    fn client(&self, user: &str) -> RpcClient {
        let options = ClientOptions::default();
        RpcClient::new(self.node.rpc_addr(), CLIENT, 1, &User::new(user), options)
    }

    fn superuser(&self) -> RpcClient {
        self.client(&User::of_process().name)
    }

    /// From here on no edit gets to disk: the next segment has no folder.
    async fn lose_the_log(&self) {
        std::fs::remove_dir_all(self.folder.path().join("name/current")).unwrap();
        let (client, q) = (self.superuser(), RollEditsRequestProto {});
        assert!(client.call::<_, RollEditsResponseProto>("rollEdits", &q).await.is_err());
    }

    async fn page(&self, path: &str) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(self.node.http_addr()).await.unwrap();
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).await.unwrap();
        page
    }
}

fn kind(error: RpcError) -> Option<JavaException> {
    error.remote_kind()
}

async fn call<R: Checked>(client: &RpcClient, method: &'static str, q: impl prost::Message) -> R {
    client.call(method, &q).await.unwrap_or_else(|e| panic!("{method}: {e}"))
}

fn permission(perm: u32) -> FsPermissionProto {
    FsPermissionProto { perm }
}

fn mkdirs(path: &str) -> MkdirsRequestProto {
    MkdirsRequestProto {
        src: path.into(),
        masked: permission(0o755),
        create_parent: true,
        unmasked: None,
    }
}

fn create(path: &str) -> CreateRequestProto {
    CreateRequestProto {
        src: path.into(),
        masked: permission(0o644),
        client_name: "test".into(),
        create_flag: 1,
        create_parent: true,
        replication: 1,
        block_size: 128 << 20,
        ..CreateRequestProto::default()
    }
}

async fn status(client: &RpcClient, path: &str) -> Option<HdfsFileStatusProto> {
    let q = GetFileInfoRequestProto { src: path.into() };
    call::<GetFileInfoResponseProto>(client, "getFileInfo", q).await.fs
}

/// A DataNode as far as the NameNode can see.
struct FakeDatanode {
    client: RpcClient,
    registration: dn::DatanodeRegistrationProto,
    pool: String,
}

impl FakeDatanode {
    async fn join(harness: &Harness) -> Self {
        let options = ClientOptions::default();
        let user = User::new("hdfs");
        let client = RpcClient::new(harness.node.rpc_addr(), DATANODE, 1, &user, options);
        let info = call::<VersionResponseProto>(&client, "versionRequest", VersionRequestProto {})
            .await
            .info;
        let registration = dn::DatanodeRegistrationProto {
            datanode_id: DatanodeIdProto {
                ip_addr: "127.0.0.1".into(),
                host_name: "localhost".into(),
                datanode_uuid: "uuid-1".into(),
                xfer_port: 9866,
                info_port: 9864,
                ipc_port: 9867,
                info_secure_port: None,
            },
            storage_info: info.storage_info.clone(),
            keys: ExportedBlockKeysProto::default(),
            software_version: info.software_version.clone(),
        };
        let mut node = Self { client, registration, pool: info.block_pool_id };
        let q = dn::RegisterDatanodeRequestProto { registration: node.registration.clone() };
        let answer =
            call::<dn::RegisterDatanodeResponseProto>(&node.client, "registerDatanode", q).await;
        node.registration = answer.registration;
        node.beat().await;
        node
    }

    async fn beat(&self) -> dn::HeartbeatResponseProto {
        self.try_beat().await.unwrap()
    }

    async fn try_beat(&self) -> Result<dn::HeartbeatResponseProto, RpcError> {
        let report = StorageReportProto {
            storage_uuid: "DS-1".into(),
            capacity: Some(1 << 40),
            remaining: Some(1 << 39),
            ..StorageReportProto::default()
        };
        let q = dn::HeartbeatRequestProto {
            registration: self.registration.clone(),
            reports: vec![report],
            ..dn::HeartbeatRequestProto::default()
        };
        self.client.call("sendHeartbeat", &q).await
    }

    async fn received(&self, block: &ExtendedBlockProto, len: u64) {
        let block = BlockProto {
            block_id: block.block_id,
            gen_stamp: block.generation_stamp,
            num_bytes: Some(len),
        };
        let event = dn::ReceivedDeletedBlockInfoProto {
            block,
            status: dn::received_deleted_block_info_proto::BlockStatus::Received.into(),
            delete_hint: None,
        };
        let storage = dn::StorageReceivedDeletedBlocksProto {
            storage_uuid: "DS-1".into(),
            blocks: vec![event],
            storage: None,
        };
        let q = dn::BlockReceivedAndDeletedRequestProto {
            registration: self.registration.clone(),
            block_pool_id: self.pool.clone(),
            blocks: vec![storage],
        };
        let _: dn::BlockReceivedAndDeletedResponseProto =
            call(&self.client, "blockReceivedAndDeleted", q).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_survive_a_restart() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    assert!(call::<MkdirsResponseProto>(&client, "mkdirs", mkdirs("/a/b")).await.result);
    harness.restart().await;
    let client = harness.superuser();
    let status = status(&client, "/a/b").await.unwrap();
    assert_eq!(status.permission.perm, 0o755);
    harness.node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_sent_again_gets_its_first_answer() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/a")).await;
    let q = DeleteRequestProto { src: "/a".into(), recursive: true };
    let id = client.next_call();
    for id in [id.clone(), id.again()] {
        let answer: DeleteResponseProto = client.call_with_id(&id, "delete", &q).await.unwrap();
        assert!(answer.result);
    }
    let fresh: DeleteResponseProto = client.call("delete", &q).await.unwrap();
    assert!(!fresh.result);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_sent_again_after_a_restart_gets_its_first_answer() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let (made, renamed, deleted) = (client.next_call(), client.next_call(), client.next_call());
    let q = create("/dir/file");
    let first: CreateResponseProto = client.call_with_id(&made, "create", &q).await.unwrap();
    let rename = RenameRequestProto { src: "/dir/file".into(), dst: "/dir/other".into() };
    let _: RenameResponseProto = client.call_with_id(&renamed, "rename", &rename).await.unwrap();
    let delete = DeleteRequestProto { src: "/dir/other".into(), recursive: false };
    let _: DeleteResponseProto = client.call_with_id(&deleted, "delete", &delete).await.unwrap();
    harness.restart().await;
    let client = harness.superuser();
    let again: CreateResponseProto = client.call_with_id(&made, "create", &q).await.unwrap();
    assert_eq!(again.fs.unwrap().file_id, first.fs.unwrap().file_id);
    let again: RenameResponseProto =
        client.call_with_id(&renamed, "rename", &rename).await.unwrap();
    let gone: DeleteResponseProto = client.call_with_id(&deleted, "delete", &delete).await.unwrap();
    assert!(again.result && gone.result);
    assert!(status(&client, "/dir/file").await.is_none());
}

/// Where the last block's replicas are is known only when a DataNode has said so again.
#[tokio::test(flavor = "multi_thread")]
async fn an_append_sent_again_after_a_restart_happens_once() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = FakeDatanode::join(&harness).await;
    let block = finished_file(&client, &datanode, "/f").await;
    let q = AppendRequestProto { src: "/f".into(), client_name: "test".into(), flag: None };
    let id = client.next_call();
    let first: AppendResponseProto = client.call_with_id(&id, "append", &q).await.unwrap();
    harness.restart().await;

    let client = harness.superuser();
    let again = client.call_with_id::<_, AppendResponseProto>(&id, "append", &q).await;
    assert_eq!(kind(again.unwrap_err()), Some(JavaException::Retriable));
    let datanode = FakeDatanode::join(&harness).await;
    datanode.received(&block, 10).await;
    let again: AppendResponseProto = client.call_with_id(&id, "append", &q).await.unwrap();
    let (again_block, first_block) = (again.block.unwrap(), first.block.unwrap());
    assert_eq!((again_block.b, again_block.locs.len()), (first_block.b, 1));
    assert_eq!(again.stat.unwrap().file_id, first.stat.unwrap().file_id);
    // Another one is another one.
    let other = client.call::<_, AppendResponseProto>("append", &q).await;
    assert_eq!(kind(other.unwrap_err()), Some(JavaException::AlreadyBeingCreated));
}

#[tokio::test(flavor = "multi_thread")]
async fn others_may_not_do_what_the_superuser_may() {
    let harness = Harness::start().await;
    let eve = harness.client("eve");
    let refused = eve.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/eve")).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::AccessControl)));
    let enter = SetSafeModeRequestProto {
        action: SafeModeActionProto::SafemodeEnter.into(),
        checked: None,
    };
    let refused = eve.call::<_, SetSafeModeResponseProto>("setSafeMode", &enter).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::AccessControl)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_answers_by_name() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let q = AllowSnapshotRequestProto { snapshot_root: "/".into() };
    let refused = client.call::<_, AllowSnapshotResponseProto>("allowSnapshot", &q).await;
    let error = refused.unwrap_err();
    assert!(error.to_string().contains("allowSnapshot"), "{error}");
    assert_eq!(kind(error), Some(JavaException::UnsupportedOperation));
    let refused = client.call::<_, MsyncResponseProto>("noSuchThing", &MsyncRequestProto {}).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::RpcNoSuchMethod)));
}

async fn written_block(client: &RpcClient, path: &str) -> ExtendedBlockProto {
    let _: CreateResponseProto = call(client, "create", create(path)).await;
    let q = AddBlockRequestProto {
        src: path.into(),
        client_name: "test".into(),
        ..AddBlockRequestProto::default()
    };
    let block = call::<AddBlockResponseProto>(client, "addBlock", q).await.block;
    assert_eq!(block.locs.len(), 1);
    assert_eq!(block.storage_i_ds, ["DS-1"]);
    ExtendedBlockProto { num_bytes: Some(10), ..block.b }
}

/// A file of one block that a DataNode has reported; its block.
async fn finished_file(
    client: &RpcClient,
    datanode: &FakeDatanode,
    path: &str,
) -> ExtendedBlockProto {
    let block = written_block(client, path).await;
    datanode.received(&block, 10).await;
    let done: CompleteResponseProto = call(client, "complete", complete(path, &block)).await;
    assert!(done.result);
    block
}

fn complete(path: &str, last: &ExtendedBlockProto) -> CompleteRequestProto {
    CompleteRequestProto {
        src: path.into(),
        client_name: "test".into(),
        last: Some(last.clone()),
        file_id: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_is_held_until_the_report_that_is_on_its_way() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = FakeDatanode::join(&harness).await;
    let block = written_block(&client, "/f").await;
    let started = Instant::now();
    let waiting = tokio::spawn({
        let (client, q) = (client.clone(), complete("/f", &block));
        async move { call::<CompleteResponseProto>(&client, "complete", q).await }
    });
    // Another call of the same client goes through meanwhile: the held one blocks nobody.
    assert!(status(&client, "/f").await.is_some());
    datanode.received(&block, 10).await;
    assert!(waiting.await.unwrap().result);
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
    assert_eq!(status(&client, "/f").await.unwrap().length, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_without_a_report_says_no_in_the_end() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let _datanode = FakeDatanode::join(&harness).await;
    let block = written_block(&client, "/f").await;
    let answer: CompleteResponseProto = call(&client, "complete", complete("/f", &block)).await;
    assert!(!answer.result);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_block_waits_for_the_report_of_the_one_before() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = FakeDatanode::join(&harness).await;
    let block = written_block(&client, "/f").await;
    let q = AddBlockRequestProto {
        src: "/f".into(),
        client_name: "test".into(),
        previous: Some(block.clone()),
        ..AddBlockRequestProto::default()
    };
    let (next, ()) = tokio::join!(
        call::<AddBlockResponseProto>(&client, "addBlock", q),
        datanode.received(&block, 10)
    );
    assert_ne!(next.block.b.block_id, block.block_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_files_blocks_are_deleted_with_the_next_heartbeat() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = FakeDatanode::join(&harness).await;
    let block = finished_file(&client, &datanode, "/f").await;
    assert!(
        harness.page("/fsck?path=%2F").await.ends_with("The filesystem under path '/' is HEALTHY")
    );
    let q = DeleteRequestProto { src: "/f".into(), recursive: false };
    let _: DeleteResponseProto = call(&client, "delete", q).await;
    let commands = datanode.beat().await.cmds;
    let [command] = commands.as_slice() else { panic!("{commands:?}") };
    let command = command.blk_cmd.as_ref().unwrap();
    assert_eq!(command.action(), dn::block_command_proto::Action::Invalidate);
    assert_eq!(command.blocks[0].block_id, block.block_id);
}

/// A crash now would bring the file back: its replicas must be there then.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_for_an_edit_that_is_not_on_disk() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = FakeDatanode::join(&harness).await;
    finished_file(&client, &datanode, "/f").await;
    harness.lose_the_log().await;
    assert!(datanode.beat().await.cmds.is_empty());
    let q = DeleteRequestProto { src: "/f".into(), recursive: false };
    assert!(client.call::<_, DeleteResponseProto>("delete", &q).await.is_err());
    assert_eq!(status(&client, "/f").await, None);
    let answer = datanode.try_beat().await;
    assert_eq!(answer.map_err(kind), Err(Some(JavaException::Io)));
}

/// The second call finds everything as it wants it, but no disk knows of it.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_call_did_is_confirmed_only_when_it_is_on_disk() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = FakeDatanode::join(&harness).await;
    let block = written_block(&client, "/f").await;
    datanode.received(&block, 10).await;
    harness.lose_the_log().await;
    for _ in 0..2 {
        let made = client.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/a")).await;
        assert_eq!(made.map_err(kind), Err(Some(JavaException::Io)));
        let q = complete("/f", &block);
        let done = client.call::<_, CompleteResponseProto>("complete", &q).await;
        assert_eq!(done.map_err(kind), Err(Some(JavaException::Io)));
    }
    assert!(status(&client, "/a").await.is_some(), "reads wait for nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_datanode_of_another_cluster_is_refused() {
    let harness = Harness::start().await;
    let datanode = FakeDatanode::join(&harness).await;
    let mut registration = datanode.registration.clone();
    registration.storage_info.cluster_id = "CID-other".into();
    let q = dn::RegisterDatanodeRequestProto { registration };
    let refused =
        datanode.client.call::<_, dn::RegisterDatanodeResponseProto>("registerDatanode", &q).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::UnregisteredNode)));
}

#[tokio::test(flavor = "multi_thread")]
async fn saving_needs_safe_mode_and_shortens_the_next_start() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/a")).await;
    let save = SaveNamespaceRequestProto::default();
    let refused = client.call::<_, SaveNamespaceResponseProto>("saveNamespace", &save).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::Io)));
    let enter = SetSafeModeRequestProto {
        action: SafeModeActionProto::SafemodeEnter.into(),
        checked: None,
    };
    assert!(call::<SetSafeModeResponseProto>(&client, "setSafeMode", enter).await.result);
    let refused = client.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/b")).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::SafeMode)));
    assert!(call::<SaveNamespaceResponseProto>(&client, "saveNamespace", save).await.saved());
    harness.restart().await;
    assert!(status(&harness.superuser(), "/a").await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_answer() {
    let harness = Harness::start().await;
    let jmx = harness.page("/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState").await;
    assert!(jmx.contains("\"FSState\": \"Operational\""), "{jmx}");
    assert!(!jmx.contains("NameNodeInfo"));
    let member = |page: &str, name: &str| -> serde_json::Value {
        let body = page.split_once('{').map_or(String::new(), |(_, rest)| format!("{{{rest}"));
        let page: serde_json::Value = serde_json::from_str(&body).unwrap();
        page["beans"][0][name].clone()
    };
    let info = harness.page("/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo").await;
    assert!(member(&info, "Threads").as_u64() > Some(1), "{info}");
    let sizes = member(&info, "NameDirSize").as_str().unwrap_or_default().to_owned();
    let sizes: serde_json::Value = serde_json::from_str(&sizes).unwrap();
    assert!(sizes.as_object().unwrap().values().all(|size| size.as_u64() > Some(1000)), "{sizes}");
    let status = harness.page("/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus").await;
    assert!(!member(&status, "HostAndPort").as_str().unwrap().ends_with(":0"), "{status}");
    assert!(harness.page("/").await.contains("Live DataNodes"));
    assert!(harness.page("/conf").await.contains("<name>dfs.replication</name><value>1</value>"));
    assert!(harness.page("/webhdfs/v1/?op=LISTSTATUS").await.starts_with("HTTP/1.0 501"));
    assert!(harness.page("/fsck?path=/none").await.ends_with("Path '/none' does not exist"));
}
