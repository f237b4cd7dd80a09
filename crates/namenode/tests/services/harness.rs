//! A NameNode on free ports, called over real RPC; a DataNode is played by the test.

pub use crate::datanode::FakeDatanode;
use std::path::Path;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_namenode::{FormatOptions, NameNode};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::*;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::JavaException;

pub const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
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

/// A DataNode of this NameNode.
pub async fn join(harness: &Harness) -> FakeDatanode {
    join_at(harness, 9866).await
}

pub async fn join_at(harness: &Harness, xfer_port: u32) -> FakeDatanode {
    FakeDatanode::join_at(harness.node.rpc_addr(), xfer_port).await
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
