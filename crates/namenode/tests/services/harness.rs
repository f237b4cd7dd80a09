//! A NameNode on free ports, called over real RPC; a DataNode is played by the test.

use std::path::Path;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_namenode::{FormatOptions, NameNode};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::datanode as dn;
use zerohop_proto::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use zerohop_proto::hdfs::*;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::block_report::ReportBuilder;
use zerohop_wire::{Block, BlockId, GenerationStamp, JavaException, ReplicaState, ReportedReplica};

pub const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
pub const DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
pub const NAMENODE: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";

pub struct Harness {
    pub directory: tempfile::TempDir,
    pub conf: Arc<Conf>,
    pub node: NameNode,
}

impl Harness {
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut conf = Conf::new();
        conf.set("dfs.namenode.name.dir", directory.path().join("name").to_str().unwrap());
        conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
        conf.set("dfs.namenode.http-address", "127.0.0.1:0");
        conf.set("dfs.replication", "1");
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        NameNode::format(&conf, FormatOptions::default()).unwrap();
        let conf = Arc::new(conf);
        let node = NameNode::start(conf.clone()).await.unwrap();
        Self { directory, conf, node }
    }

    pub async fn restart(&mut self) {
        self.restart_after(|_| {}).await;
    }

    /// Restarts, and changes the name directory in between.
    pub async fn restart_after(&mut self, change: impl FnOnce(&Path)) {
        self.node.stop().await;
        change(&self.directory.path().join("name"));
        self.node = NameNode::start(self.conf.clone()).await.unwrap();
    }

    pub fn client(&self, user: &str) -> RpcClient {
        let options = ClientOptions::default();
        RpcClient::new(self.node.rpc_addr(), CLIENT, 1, &User::new(user), options)
    }

    /// The superuser, over another protocol than clients speak.
    pub fn client_of(&self, protocol: &'static str) -> RpcClient {
        let (user, options) = (User::of_process(), ClientOptions::default());
        RpcClient::new(self.node.rpc_addr(), protocol, 1, &user, options)
    }

    pub fn superuser(&self) -> RpcClient {
        self.client(&User::of_process().name)
    }

    /// From here on no edit gets to disk: the next segment has no directory.
    pub async fn lose_the_log(&self) {
        std::fs::remove_dir_all(self.directory.path().join("name/current")).unwrap();
        let (client, q) = (self.superuser(), RollEditsRequestProto {});
        assert!(client.call::<_, RollEditsResponseProto>("rollEdits", &q).await.is_err());
    }

    pub async fn page(&self, path: &str) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(self.node.http_addr()).await.unwrap();
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).await.unwrap();
        page
    }
}

pub fn kind(error: RpcError) -> Option<JavaException> {
    error.remote_kind()
}

pub async fn call<R: Checked>(
    client: &RpcClient,
    method: &'static str,
    q: impl prost::Message,
) -> R {
    client.call(method, &q).await.unwrap_or_else(|e| panic!("{method}: {e}"))
}

pub fn permission(perm: u32) -> FsPermissionProto {
    FsPermissionProto { perm }
}

pub fn mkdirs(path: &str) -> MkdirsRequestProto {
    MkdirsRequestProto {
        src: path.into(),
        masked: permission(0o755),
        create_parent: true,
        unmasked: None,
    }
}

pub fn create(path: &str) -> CreateRequestProto {
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

pub async fn status(client: &RpcClient, path: &str) -> Option<HdfsFileStatusProto> {
    let q = GetFileInfoRequestProto { src: path.into() };
    call::<GetFileInfoResponseProto>(client, "getFileInfo", q).await.fs
}

/// A DataNode as far as the NameNode can see.
pub struct FakeDatanode {
    pub client: RpcClient,
    pub registration: dn::DatanodeRegistrationProto,
    pub pool: String,
}

impl FakeDatanode {
    pub async fn join(harness: &Harness) -> Self {
        Self::join_at(harness, 9866).await
    }

    pub async fn join_at(harness: &Harness, xfer_port: u32) -> Self {
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
                xfer_port,
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

    pub async fn beat(&self) -> dn::HeartbeatResponseProto {
        self.try_beat().await.unwrap()
    }

    pub async fn try_beat(&self) -> Result<dn::HeartbeatResponseProto, RpcError> {
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

    pub async fn received(&self, block: &ExtendedBlockProto, len: u64) {
        self.report(block, len, BlockStatus::Received).await;
    }

    pub async fn deleted(&self, block: &ExtendedBlockProto) {
        self.report(block, 0, BlockStatus::Deleted).await;
    }

    /// A full report of its only storage.
    pub async fn full_report(&self, blocks: &[ExtendedBlockProto]) {
        let mut report = ReportBuilder::default();
        for block in blocks {
            let (id, stamp) = (block.block_id as i64, block.generation_stamp as i64);
            let block = Block {
                id: BlockId(id),
                stamp: GenerationStamp(stamp),
                len: block.num_bytes.unwrap_or(0),
            };
            report.add(&ReportedReplica { block, state: ReplicaState::Finalized });
        }
        let storage = dn::StorageBlockReportProto {
            storage: DatanodeStorageProto {
                storage_uuid: "DS-1".into(),
                ..DatanodeStorageProto::default()
            },
            number_of_blocks: Some(report.count()),
            blocks_buffers: report.into_buffers(),
            blocks: Vec::new(),
        };
        let q = dn::BlockReportRequestProto {
            registration: self.registration.clone(),
            block_pool_id: self.pool.clone(),
            reports: vec![storage],
            context: None,
        };
        let _: dn::BlockReportResponseProto = call(&self.client, "blockReport", q).await;
    }

    async fn report(&self, block: &ExtendedBlockProto, len: u64, status: BlockStatus) {
        let block = BlockProto {
            block_id: block.block_id,
            gen_stamp: block.generation_stamp,
            num_bytes: Some(len),
        };
        let event =
            dn::ReceivedDeletedBlockInfoProto { block, status: status.into(), delete_hint: None };
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

pub async fn written_block(client: &RpcClient, path: &str) -> ExtendedBlockProto {
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
pub async fn finished_file(
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

pub fn complete(path: &str, last: &ExtendedBlockProto) -> CompleteRequestProto {
    CompleteRequestProto {
        src: path.into(),
        client_name: "test".into(),
        last: Some(last.clone()),
        file_id: None,
    }
}

/// Waits until `is_so`; panics after a minute, with what was waited for.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_so().await {
        assert!(std::time::Instant::now() < end, "no {what}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
