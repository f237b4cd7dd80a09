//! Two or more NameNodes and three JournalNodes in this process.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zerohop_conf::Conf;
use zerohop_journalnode::JournalNode;
use zerohop_namenode::{FormatOptions, NameNode, StartOption};
use zerohop_proto::Checked;
use zerohop_proto::common::*;
use zerohop_proto::hdfs::*;
use zerohop_system::ports;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientIdentity, ClientOptions, RpcClient, RpcError};

pub const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
pub const NAMENODE: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";
pub const HA: &str = "org.apache.hadoop.ha.HAServiceProtocol";

/// Longer than anything here takes on a loaded machine.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A name service `ns` with the NameNodes `nn0`, `nn1` and so on.
pub struct Cluster {
    directory: TempDir,
    settings: Vec<(String, String)>,
    journal_nodes: [Option<JournalNode>; 3],
    journal_addresses: [SocketAddr; 3],
    ports: Vec<[u16; 2]>,
    pub namenodes: Vec<Option<NameNode>>,
}

impl Cluster {
    /// JournalNodes that run and are not formatted.
    pub async fn unformatted(settings: &[(&str, &str)]) -> Self {
        Self::unformatted_of(2, settings).await
    }

    /// Like [`unformatted`](Self::unformatted), with `count` NameNodes.
    async fn unformatted_of(count: usize, settings: &[(&str, &str)]) -> Self {
        let port = |_| ports::free().unwrap();
        let address = |_| SocketAddr::from(([127, 0, 0, 1], ports::free().unwrap()));
        let mut cluster = Self {
            directory: tempfile::tempdir().unwrap(),
            settings: settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
            journal_nodes: [None, None, None],
            journal_addresses: [(); 3].map(address),
            ports: (0..count).map(|_| [0; 2].map(port)).collect(),
            namenodes: (0..count).map(|_| None).collect(),
        };
        for i in 0..3 {
            cluster.start_journal_node(i).await;
        }
        cluster
    }

    /// JournalNodes that run, and the directories of `nn0`, formatted.
    pub async fn formatted(settings: &[(&str, &str)]) -> Self {
        Self::formatted_of(2, settings).await
    }

    async fn formatted_of(count: usize, settings: &[(&str, &str)]) -> Self {
        let cluster = Self::unformatted_of(count, settings).await;
        let conf = cluster.conf(0);
        blocking(move || NameNode::format(&conf, FormatOptions::default()).unwrap()).await;
        cluster
    }

    /// That of `nn0` before there was another NameNode.
    pub fn conf_alone(&self) -> Conf {
        let mut conf = Conf::new();
        let [rpc, http] = self.ports[0];
        conf.set("fs.defaultFS", format!("hdfs://127.0.0.1:{rpc}"));
        conf.set("dfs.namenode.http-address", format!("127.0.0.1:{http}"));
        conf.set("dfs.namenode.safemode.extension", "0");
        conf.set("dfs.namenode.name.dir", self.directory.path().join("nn0").to_str().unwrap());
        conf
    }

    /// The transactions of a NameNode's images.
    pub fn images(&self, i: usize) -> Vec<i64> {
        let current = self.directory.path().join(format!("nn{i}/current"));
        let names = std::fs::read_dir(current).unwrap().map(|entry| entry.unwrap().file_name());
        let txid = |name: String| name.strip_prefix("fsimage_")?.parse().ok();
        let mut found: Vec<i64> = names.filter_map(|name| txid(name.into_string().ok()?)).collect();
        found.sort_unstable();
        found
    }

    /// Both NameNodes run as standbys, `nn1` on a copy of what `nn0` has.
    pub async fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_of(2, settings).await
    }

    /// Like [`start`](Self::start), with `count` NameNodes.
    pub async fn start_of(count: usize, settings: &[(&str, &str)]) -> Self {
        let mut cluster = Self::formatted_of(count, settings).await;
        (1..count).for_each(|i| cluster.copy_directory_to(i));
        for i in 0..count {
            cluster.start_namenode(i).await;
        }
        cluster
    }

    /// Gives `nn1` what `nn0` has, which does not run.
    pub fn copy_directory(&self) {
        self.copy_directory_to(1);
    }

    fn copy_directory_to(&self, i: usize) {
        let [from, to] = [0, i].map(|i| self.directory.path().join(format!("nn{i}/current")));
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn conf(&self, i: usize) -> Conf {
        let mut conf = Conf::new();
        let hosts = self.journal_addresses.map(|address| address.to_string()).join(";");
        let namenodes =
            (0..self.ports.len()).map(|n| format!("nn{n}")).collect::<Vec<_>>().join(",");
        for (name, value) in [
            ("fs.defaultFS", "hdfs://ns"),
            ("dfs.nameservices", "ns"),
            ("dfs.ha.namenodes.ns", &namenodes),
            ("dfs.namenode.safemode.extension", "0"),
            ("dfs.ha.tail-edits.period", "20ms"),
            ("dfs.ha.log-roll.period", "-1"),
            ("ipc.client.connect.max.retries", "0"),
        ] {
            conf.set(name, value);
        }
        conf.set("dfs.namenode.shared.edits.dir", format!("qjournal://{hosts}/ns"));
        conf.set("dfs.ha.namenode.id", format!("nn{i}"));
        for (n, [rpc, http]) in self.ports.iter().enumerate() {
            conf.set(&format!("dfs.namenode.rpc-address.ns.nn{n}"), format!("127.0.0.1:{rpc}"));
            conf.set(&format!("dfs.namenode.http-address.ns.nn{n}"), format!("127.0.0.1:{http}"));
            let name_dir = self.directory.path().join(format!("nn{n}"));
            conf.set(&format!("dfs.namenode.name.dir.ns.nn{n}"), name_dir.to_str().unwrap());
        }
        self.settings.iter().for_each(|(name, value)| conf.set(name, value));
        conf
    }

    pub async fn start_journal_node(&mut self, i: usize) {
        let mut conf = Conf::new();
        let directory = self.directory.path().join(format!("jn{i}"));
        conf.set("dfs.journalnode.edits.dir", directory.to_str().unwrap());
        conf.set("dfs.journalnode.rpc-address", self.journal_addresses[i].to_string());
        conf.set("dfs.journalnode.http-address", "127.0.0.1:0");
        conf.set("dfs.namenode.rpc-address", format!("127.0.0.1:{}", self.ports[0][0]));
        self.settings.iter().for_each(|(name, value)| conf.set(name, value));
        let node = JournalNode::start(Arc::new(conf)).await.unwrap();
        self.journal_nodes[i] = Some(node);
    }

    pub fn journal_address(&self, i: usize) -> SocketAddr {
        self.journal_addresses[i]
    }

    pub async fn stop_journal_node(&mut self, i: usize) {
        self.journal_nodes[i].take().unwrap().stop().await;
    }

    pub async fn start_namenode(&mut self, i: usize) {
        self.start_namenode_with(i, StartOption::Regular).await;
    }

    pub async fn start_namenode_with(&mut self, i: usize, option: StartOption) {
        let until = Instant::now() + LIMIT;
        loop {
            match NameNode::start_with(Arc::new(self.conf(i)), option).await {
                Ok(node) => return self.namenodes[i] = Some(node),
                // A NameNode that was dropped ends its last look for edits, and gives up its port.
                Err(error)
                    if ["locked", "in use"].iter().any(|it| error.to_string().contains(it)) =>
                {
                    assert!(Instant::now() < until, "{error}");
                }
                Err(error) => panic!("{error}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// As a process that is killed: nothing is finished.
    pub fn kill_namenode(&mut self, i: usize) {
        drop(self.namenodes[i].take().unwrap());
    }

    pub async fn stop_namenode(&mut self, i: usize) {
        self.namenodes[i].take().unwrap().stop().await;
    }

    pub fn namenode(&self, i: usize) -> &NameNode {
        self.namenodes[i].as_ref().unwrap()
    }

    /// Calls a NameNode as the superuser.
    pub async fn call<R: Checked>(
        &self,
        i: usize,
        protocol: &'static str,
        method: &'static str,
        request: impl prost::Message,
    ) -> Result<R, RpcError> {
        let address = ("127.0.0.1", self.ports[i][0]);
        let address = format!("{}:{}", address.0, address.1);
        let options = ClientOptions::default();
        RpcClient::new(address, protocol, 1, &User::of_process(), options)
            .call(method, &request)
            .await
    }

    pub async fn activate(&self, i: usize) -> Result<TransitionToActiveResponseProto, RpcError> {
        let request = TransitionToActiveRequestProto { req_info: source() };
        self.call(i, HA, "transitionToActive", request).await
    }

    pub async fn to_standby(&self, i: usize) {
        let request = TransitionToStandbyRequestProto { req_info: source() };
        let _: TransitionToStandbyResponseProto =
            self.call(i, HA, "transitionToStandby", request).await.unwrap();
    }

    pub async fn to_observer(
        &self,
        i: usize,
    ) -> Result<TransitionToObserverResponseProto, RpcError> {
        let request = TransitionToObserverRequestProto { req_info: source() };
        self.call(i, HA, "transitionToObserver", request).await
    }

    /// A client of one NameNode; those with one identity know what any of them has seen.
    pub fn client(&self, i: usize, identity: &Arc<ClientIdentity>) -> RpcClient {
        let address = format!("127.0.0.1:{}", self.ports[i][0]);
        let (user, options) = (User::of_process(), ClientOptions::default());
        RpcClient::with_identity(address, CLIENT, 1, &user, options, identity.clone())
    }

    pub async fn state(&self, i: usize) -> HaServiceStateProto {
        let answer: GetServiceStatusResponseProto =
            self.call(i, HA, "getServiceStatus", GetServiceStatusRequestProto {}).await.unwrap();
        answer.state()
    }

    pub async fn mkdirs(&self, i: usize, path: &str) -> Result<MkdirsResponseProto, RpcError> {
        let masked = FsPermissionProto { perm: 0o755 };
        let src = path.to_owned();
        let request = MkdirsRequestProto { src, masked, create_parent: true, unmasked: None };
        self.call(i, CLIENT, "mkdirs", request).await
    }

    pub async fn exists(&self, i: usize, path: &str) -> bool {
        let request = GetFileInfoRequestProto { src: path.to_owned() };
        let found: GetFileInfoResponseProto =
            self.call(i, CLIENT, "getFileInfo", request).await.unwrap();
        found.fs.is_some()
    }

    /// The last transaction that a NameNode has written or applied.
    pub async fn last_txid(&self, i: usize) -> u64 {
        use zerohop_proto::hdfs::namenode::*;
        let answer: GetTransactionIdResponseProto = self
            .call(i, NAMENODE, "getTransactionId", GetTransactionIdRequestProto {})
            .await
            .unwrap();
        answer.tx_id
    }

    /// Waits until each standby has applied what the active one has written.
    pub async fn wait_for_same(&self) {
        let until = Instant::now() + LIMIT;
        loop {
            let mut txids = Vec::new();
            for i in 0..self.namenodes.len() {
                txids.push(self.last_txid(i).await);
            }
            if txids.iter().all(|txid| *txid == txids[0]) {
                return;
            }
            assert!(Instant::now() < until, "{txids:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn stop(mut self) {
        for node in self.namenodes.iter_mut().filter_map(Option::take) {
            node.stop().await;
        }
        for node in self.journal_nodes.iter_mut().filter_map(Option::take) {
            node.stop().await;
        }
    }
}

fn source() -> HaStateChangeRequestInfoProto {
    HaStateChangeRequestInfoProto { req_source: HaRequestSource::RequestByUser.into() }
}

pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}
