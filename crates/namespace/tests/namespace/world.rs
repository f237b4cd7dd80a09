//! A namespace with three DataNodes that do what they are told at once.

use std::sync::Arc;
use zerohop_journal::image::{ImageFormat, ImageReader, ImageWriter};
use zerohop_journal::{EditOp, LayoutVersion, op};
use zerohop_namespace::blocks::{
    BlockManager, BlockParams, DatanodeId, Heartbeat, Now, ReplicaEvent, StorageReport, StorageType,
};
use zerohop_namespace::{
    AddBlockRequest, CreateFlags, CreateRequest, Error, FileStatus, ImageInfo, LocatedBlock,
    LoggedEdit, Namespace, NamespaceParams, OpContext, Result,
};
use zerohop_wire::{Block, CallerIdentity, InodeId, JavaException, RemoteException, RpcIds, TxId};

pub const BLOCK_SIZE: u64 = 1 << 20;

pub struct World {
    pub namespace: Namespace,
    pub now: Now,
    pub log: Vec<LoggedEdit>,
}

pub fn kind<T: std::fmt::Debug>(result: Result<T>) -> JavaException {
    exception(&result.expect_err("it should fail"))
}

/// The exception that clients get.
pub fn exception(error: &Error) -> JavaException {
    RemoteException::from(error.clone()).kind().expect("a class of the table")
}

pub fn empty() -> Namespace {
    with_params(NamespaceParams::default())
}

fn with_params(params: NamespaceParams) -> Namespace {
    let params = NamespaceParams { superuser: "root".into(), ..params };
    Namespace::new(
        params,
        BlockManager::new(BlockParams { replication_min: 1, ..BlockParams::default() }),
    )
}

impl World {
    pub fn new() -> Self {
        Self::with(NamespaceParams::default())
    }

    pub fn with(params: NamespaceParams) -> Self {
        let now = Now { wall_ms: 1_700_000_000_000, mono_ms: 1_000_000 };
        let mut world = Self { namespace: with_params(params), now, log: Vec::new() };
        world.start();
        world
    }

    /// The NameNode serves, and three DataNodes register.
    fn start(&mut self) {
        let now = self.now;
        self.namespace.start(now);
        for n in 1..=3u32 {
            let id = DatanodeId {
                ip: format!("10.0.0.{n}"),
                host: format!("dn{n}"),
                uuid: format!("uuid-{n}"),
                xfer_port: 9866,
                ..DatanodeId::default()
            };
            let blocks = self.namespace.blocks_mut();
            blocks.register(id, "/default-rack", "3.4.3", now);
            let report = StorageReport {
                id: format!("DS-{n}").into(),
                kind: StorageType::Disk,
                read_only: false,
                failed: false,
                capacity: 1 << 40,
                dfs_used: 0,
                non_dfs_used: 0,
                remaining: 1 << 40,
                block_pool_used: 0,
                mount: None,
            };
            blocks.heartbeat(&format!("uuid-{n}"), Heartbeat::default(), &[report], now, &|_| 0);
        }
    }

    /// Another NameNode starts with what was logged; DataNodes register, and report nothing yet.
    pub fn restart(&mut self) {
        self.namespace = self.replayed();
        self.start();
    }

    /// As [`World::restart`], from an image alone.
    pub fn restart_from_image(&mut self) {
        self.edits();
        self.namespace = through_image(&self.namespace);
        self.start();
    }

    /// One DataNode says that it has a block whole.
    pub fn report(&mut self, block: Block) {
        let storage = ("DS-1".into(), StorageType::Disk);
        let event = [ReplicaEvent::Received(block)];
        self.namespace
            .blocks_mut()
            .block_reports()
            .incremental_report("uuid-1", (&storage.0, storage.1), event)
            .unwrap();
    }

    /// Reports a replica that is being written, from one DataNode.
    pub fn report_written(&mut self, block: Block) {
        let storage = ("DS-1".into(), StorageType::Disk);
        self.namespace
            .blocks_mut()
            .block_reports()
            .incremental_report("uuid-1", (&storage.0, storage.1), [ReplicaEvent::Receiving(block)])
            .unwrap();
    }

    pub fn pass_ms(&mut self, ms: u64) {
        self.now = Now { wall_ms: self.now.wall_ms + ms, mono_ms: self.now.mono_ms + ms };
    }

    /// Lets time pass, and the NameNode do its periodic work.
    pub fn tick_ms(&mut self, ms: u64) {
        self.pass_ms(ms);
        self.namespace.blocks_mut().tick(self.now, &|_| 0);
    }

    /// Lets time pass until safe mode of the start ends.
    pub fn end_safe_mode(&mut self) {
        while self.namespace.blocks().safe_mode().is_starting() {
            self.tick_ms(1_000);
        }
    }

    pub fn root(&self) -> OpContext {
        OpContext { superuser: true, ..self.user("root", &["root"]) }
    }

    pub fn user(&self, name: &str, groups: &[&str]) -> OpContext {
        OpContext {
            identity: CallerIdentity::simple(name, None),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            superuser: false,
            now: self.now,
            client_host: "127.0.0.1".into(),
            client_rack: None,
            rpc: RpcIds::new(&[7; 16], 42),
        }
    }

    pub fn mkdirs(&mut self, path: &str) {
        let root = self.root();
        self.namespace.directories(&root).mkdirs(path, 0o755, None, true).unwrap();
    }

    pub fn create_as(
        &mut self,
        ctx: &OpContext,
        path: &str,
        overwrite: bool,
    ) -> Result<FileStatus> {
        let flags = CreateFlags { create: true, overwrite, ..CreateFlags::default() };
        self.create_with(ctx, path, flags, 2)
    }

    pub fn create_with(
        &mut self,
        ctx: &OpContext,
        path: &str,
        flags: CreateFlags,
        replication: u16,
    ) -> Result<FileStatus> {
        self.namespace.files(ctx).create(&CreateRequest {
            path,
            masked: 0o644,
            unmasked: Some(0o666),
            client_name: "client",
            flags,
            create_parent: true,
            replication,
            block_size: BLOCK_SIZE,
            storage_policy: None,
            ec_policy: None,
        })
    }

    pub fn add_block(&mut self, path: &str, previous: Option<Block>) -> Result<LocatedBlock> {
        let root = self.root();
        let request =
            AddBlockRequest { path, client_name: "client", previous, ..AddBlockRequest::default() };
        self.namespace.file_writes(&root).add_block(&request)
    }

    /// All DataNodes of a block say that they have it whole.
    pub fn received(&mut self, located: &LocatedBlock, block: Block) {
        for replica in &located.locations.replicas {
            let storage = (&replica.storage_id, replica.kind);
            let event = [ReplicaEvent::Received(block)];
            self.namespace
                .blocks_mut()
                .block_reports()
                .incremental_report(&replica.node.id.uuid, storage, event)
                .unwrap();
        }
    }

    /// All DataNodes say that a file's blocks are gone.
    pub fn lose(&mut self, path: &str) {
        let root = self.root();
        let (located, _) = self.namespace.view(&root).block_locations(path, 0, u64::MAX).unwrap();
        for block in located.blocks {
            for replica in &block.locations.replicas {
                let event = [ReplicaEvent::Deleted(block.block())];
                let storage = (&replica.storage_id, replica.kind);
                let uuid = &replica.node.id.uuid;
                self.namespace
                    .blocks_mut()
                    .block_reports()
                    .incremental_report(uuid, storage, event)
                    .unwrap();
            }
        }
    }

    /// Writes and closes a file of blocks of these lengths.
    pub fn write(&mut self, path: &str, lens: &[u64]) -> FileStatus {
        let root = self.root();
        self.create_as(&root, path, true).unwrap();
        let mut previous = None;
        for len in lens {
            let located = self.add_block(path, previous).unwrap();
            let block = Block { len: *len, ..located.block() };
            self.received(&located, block);
            previous = Some(block);
        }
        assert!(self.close(path, previous));
        self.stat(path).unwrap()
    }

    pub fn close(&mut self, path: &str, last: Option<Block>) -> bool {
        let root = self.root();
        self.namespace
            .file_writes(&root)
            .complete(path, InodeId::GRANDFATHER, "client", last)
            .unwrap()
    }

    pub fn stat(&self, path: &str) -> Option<FileStatus> {
        self.namespace.view(&self.root()).file_info(path).unwrap()
    }

    pub fn names(&self, path: &str) -> Vec<String> {
        let listing = self.namespace.view(&self.root()).listing(path, b"", false).unwrap().unwrap();
        listing.entries.into_iter().map(|entry| entry.path).collect()
    }

    /// The edits since the last call; they are kept for replay.
    pub fn edits(&mut self) -> Vec<EditOp> {
        let new = self.namespace.take_edits();
        self.log.extend(new.iter().cloned());
        new.into_iter().map(|edit| edit.op).collect()
    }

    /// Names of the edits since the last call.
    pub fn edit_names(&mut self) -> Vec<&'static str> {
        self.edits().iter().map(EditOp::name).collect()
    }

    /// A fresh namespace after replay of everything logged.
    pub fn replayed(&mut self) -> Namespace {
        self.edits();
        let mut fresh = empty();
        for (at, edit) in self.log.iter().enumerate() {
            let (txid, layout, mut bytes) =
                (TxId(at as i64 + 1), LayoutVersion::CURRENT, Vec::new());
            op::encode(&edit.op, txid, &edit.rpc, layout, &mut bytes);
            let (record, _) = op::decode(&bytes, layout, op::OP_SIZE_MAX).unwrap();
            assert_eq!(record.op, edit.op, "the edit log carries it as it is");
            fresh.apply(txid, &record.op).unwrap();
        }
        fresh
    }

    /// Another NameNode commits what was logged since the last call; what was deleted is freed here as it is there.
    pub fn catch_up(&mut self, standby: &mut Namespace) {
        let first = self.log.len();
        self.edits();
        for (at, edit) in self.log.iter().enumerate().skip(first) {
            standby.apply(TxId(at as i64 + 1), &edit.op).unwrap();
        }
        while self.namespace.free_deleted(usize::MAX) {}
    }

    pub fn check_replay(&mut self) {
        assert_eq!(self.namespace.miscounted(), None);
        while self.namespace.free_deleted(usize::MAX) {}
        let fresh = self.replayed();
        assert_eq!(self.namespace.difference(&fresh), None);
    }

    pub fn check_image(&mut self) {
        while self.namespace.free_deleted(usize::MAX) {}
        let loaded = through_image(&self.namespace);
        assert_eq!(self.namespace.difference(&loaded), None);
    }
}

/// The namespace saved to a file and loaded again.
pub fn through_image(namespace: &Namespace) -> Namespace {
    through_image_of(namespace, ImageFormat::default())
}

/// The same, of a format, which is also used to load it.
pub fn through_image_of(namespace: &Namespace, format: ImageFormat) -> Namespace {
    let info = ImageInfo { namespace_id: 5, txid: TxId(77) };
    let mut bytes = Vec::new();
    let mut writer = ImageWriter::with_format(&mut bytes, format);
    namespace.save_image(&mut writer, info).unwrap();
    writer.finish().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fsimage_0000000000000000077");
    std::fs::write(&path, bytes).unwrap();
    let mut loaded = empty();
    let image = ImageReader::open(&path).unwrap().with_threads(format.threads);
    assert_eq!(loaded.load_image(&image, 0).unwrap(), info);
    loaded
}

pub fn user_acl(name: Option<&str>, permission: u8) -> zerohop_namespace::AclEntry {
    zerohop_namespace::AclEntry {
        scope: zerohop_namespace::AclScope::Access,
        kind: zerohop_namespace::AclKind::User,
        name: name.map(Arc::from),
        permission,
    }
}
