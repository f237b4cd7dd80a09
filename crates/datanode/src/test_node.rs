//! For tests: a DataNode's shared state with volumes, and no NameNode.

use crate::namenodes::PoolIdentity;
use crate::node::Node;
use crate::reconfigure::Adjustable;
use crate::settings::Settings;
use crate::store::Store;
use crate::store::write::Placement;
use crate::store::writer::Writer;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::Conf;
use zerohop_replica::{Durability, Packet};
use zerohop_transport::login::User;
use zerohop_transport::reconfigure::Reconfiguration;
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::StorageType;
use zerohop_wire::{Block, BlockId, DataChecksum, ExtendedBlock, GenerationStamp};

pub(crate) const POOL: &str = "BP-1-127.0.0.1-1";

/// A DataNode's shared state, configured by a file.
pub(crate) struct TestNode {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) node: Arc<Node>,
    _runtime: tokio::runtime::Runtime,
}

impl TestNode {
    /// With these data directories and settings.
    pub(crate) fn start(directories: &[&str], settings: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        write_site(directory.path(), directories, settings);
        let conf = Arc::new(Conf::load(directory.path()).unwrap());
        let settings = Settings::read(&conf).unwrap();
        let store = Store::open(&settings).unwrap();
        let identity = PoolIdentity {
            pool_id: POOL.into(),
            cluster_id: "CID-1".to_owned(),
            namespace_id: 7,
            ctime: 0,
            software_version: "3.4.3".to_owned(),
        };
        store.setup().open_pool(&identity).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let adjustable = Adjustable::read(&conf).unwrap();
        let reconfiguration = Reconfiguration::new(conf);
        let (user, options) = (User::new("test"), ClientOptions::default());
        let handle = runtime.handle().clone();
        let node = Node::new(settings, (reconfiguration, adjustable), store, handle, user, options);
        let service = crate::namenodes::PoolService::new(String::new());
        service.set_identity(identity);
        node.add_service(service);
        Self { directory, node, _runtime: runtime }
    }

    /// Changes the data directories in the file.
    pub(crate) fn configure(&self, directories: &[&str]) {
        write_site(self.directory.path(), directories, &[]);
    }

    /// A data directory.
    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a finalized replica of `len` bytes.
    pub(crate) fn finalized(&self, id: i64, len: usize) -> ExtendedBlock {
        let writer = Writer::new(Arc::new(zerohop_transport::domain::pair().unwrap().0.into()));
        let storage_type = StorageType::Disk;
        let placement =
            Placement { storage_type, checksum: DataChecksum::default(), room: 1 << 20 };
        let stamp = GenerationStamp(0);
        let target =
            self.node.store.writes().create_rbw(&block(id, 0), stamp, placement, &writer).unwrap();
        let data: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        target.live.write(&Packet { offset: 0, data: &data, sums: &[] }).unwrap();
        target.replica.release(&writer);
        let done =
            self.node.store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
        ExtendedBlock { pool: POOL.into(), block: done }
    }

    /// The data and meta file of a replica.
    pub(crate) fn paths(&self, block: &ExtendedBlock) -> [PathBuf; 2] {
        self.node.store.reads().paths(block).unwrap().1
    }

    /// Whether a replica is known.
    pub(crate) fn knows(&self, block: &ExtendedBlock) -> bool {
        self.node.store.pools().replica(block).is_ok()
    }
}

/// A block of the pool.
pub(crate) fn block(id: i64, len: u64) -> ExtendedBlock {
    let block = Block { id: BlockId(id), stamp: GenerationStamp(1001), len };
    ExtendedBlock { pool: POOL.into(), block }
}

/// Changes one byte in the middle of a file.
pub(crate) fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Waits for a condition.
pub(crate) fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_true() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn write_site(directory: &Path, directories: &[&str], settings: &[(&str, &str)]) {
    let paths = directories.iter().map(|name| directory.join(name).display().to_string());
    let list = paths.collect::<Vec<_>>().join(",");
    let property = |name: &str, value: &str| {
        format!("<property><name>{name}</name><value>{value}</value></property>")
    };
    let properties: String = settings.iter().map(|(name, value)| property(name, value)).collect();
    let site = format!(
        "<configuration>{}{properties}</configuration>",
        property("dfs.datanode.data.dir", &list)
    );
    fs::write(directory.join("hdfs-site.xml"), site).unwrap();
}
