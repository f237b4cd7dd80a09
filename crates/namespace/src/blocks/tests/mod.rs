//! Given, event, expected: the block manager without a cluster.

mod cached;
pub(super) mod chi_square;
mod construction;
mod datanodes;
mod decommission;
mod distribution;
mod edits;
mod extra;
mod failover;
mod locate;
mod maintenance;
mod placement;
mod redundancy;
mod repairs;
mod reports;
mod safe_mode;
mod simulation;
mod standby;
mod unknown;

use super::*;
use std::sync::Arc;
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

const FILE: InodeId = InodeId(16386);
const GB: u64 = 1 << 30;
const LAST_STAMP: GenerationStamp = GenerationStamp(2000);

struct Cluster {
    blocks: BlockManager,
    now: Now,
    /// The storage policy of all files.
    policy: u8,
}

impl Cluster {
    /// `racks[i]` is the rack of DataNode `i`, which has one disk.
    fn new(racks: &[&str]) -> Self {
        Self::with(racks, BlockParams { safemode_extension_ms: 0, ..BlockParams::default() })
    }

    fn with(racks: &[&str], params: BlockParams) -> Self {
        let mut cluster = Self {
            blocks: BlockManager::new(params),
            now: Now { wall_ms: 1_000_000, mono_ms: 1_000 },
            policy: 0,
        };
        cluster.blocks.start(cluster.now, LAST_STAMP);
        for (index, rack) in racks.iter().enumerate() {
            cluster.join(index, rack);
            // A full report makes its storage fresh; after a restart its next report is a first one.
            let storage = (&storage(index), StorageType::Disk);
            cluster.blocks.full_report(&format!("uuid-{index}"), storage, Vec::new()).unwrap();
            cluster.join(index, rack);
        }
        cluster.pass(0);
        cluster
    }

    fn join(&mut self, index: usize, rack: &str) {
        self.blocks.register(identity(index), rack, "3.4.3", self.now);
        self.beat(index);
    }

    fn beat(&mut self, index: usize) -> Vec<Command> {
        self.beat_with(index, Heartbeat::default())
    }

    fn beat_with(&mut self, index: usize, beat: Heartbeat) -> Vec<Command> {
        self.beat_on(index, StorageType::Disk, beat)
    }

    fn beat_on(&mut self, index: usize, kind: StorageType, beat: Heartbeat) -> Vec<Command> {
        self.settle();
        let report = StorageReport { kind, ..disk(index) };
        let (uuid, policy) = (format!("uuid-{index}"), self.policy);
        self.blocks.heartbeat(&uuid, beat, &[report], self.now, &|_| policy).commands
    }

    fn pass(&mut self, ms: u64) {
        self.now = Now { wall_ms: self.now.wall_ms + ms, mono_ms: self.now.mono_ms + ms };
        let policy = self.policy;
        self.blocks.tick(self.now, &|_| policy);
    }

    /// As a NameNode does after every change.
    fn settle(&mut self) {
        let policy = self.policy;
        self.blocks.delete_extra(&|_| policy);
    }

    fn received(&mut self, index: usize, block: Block) {
        self.event(index, ReplicaEvent::Received(block));
    }

    fn event(&mut self, index: usize, event: ReplicaEvent) {
        let uuid = format!("uuid-{index}");
        self.blocks
            .block_reports()
            .incremental_report(&uuid, (&storage(index), StorageType::Disk), [event])
            .unwrap();
    }

    fn full_report(&mut self, index: usize, replicas: Vec<ReportedReplica>) {
        let uuid = format!("uuid-{index}");
        self.blocks.full_report(&uuid, (&storage(index), StorageType::Disk), replicas).unwrap();
        self.blocks.block_reports().end_report(&uuid);
    }

    /// A client found the replica of a DataNode to be bad.
    fn block_is_bad(&mut self, index: usize, block: Block) {
        let uuid = format!("uuid-{index}");
        self.blocks.block_reports().bad_replica(block, &uuid, &storage(index));
        self.settle();
    }

    /// DataNodes that leave service or are back, after all their blocks were looked at.
    fn admin_changes(&mut self) -> Vec<(String, AdminState)> {
        self.blocks.datanode_admin().check_leaving();
        while self.blocks.continue_walks() {}
        self.blocks.take_admin_changes()
    }

    fn left_service(&mut self) -> Vec<String> {
        self.admin_changes().into_iter().map(|(name, _)| name).collect()
    }

    /// The only storage of a DataNode.
    fn disk_of(&self, index: usize) -> StorageIdx {
        let name = (format!("uuid-{index}"), storage(index));
        self.blocks.datanodes().resolve_storages([(&*name.0, &*name.1)]).unwrap()[0]
    }

    /// How often replicas were counted by some work.
    fn counts_of(&mut self, work: impl FnOnce(&mut Self)) -> usize {
        let before = self.blocks.replicas().counts.load(std::sync::atomic::Ordering::Relaxed);
        work(self);
        self.blocks.replicas().counts.load(std::sync::atomic::Ordering::Relaxed) - before
    }

    /// A written, complete block on these DataNodes.
    fn written(&mut self, id: i64, replication: u16, on: &[usize]) -> Block {
        let block = block(id, 100);
        self.blocks.put_complete(block, FILE, replication);
        on.iter().for_each(|index| self.received(*index, block));
        block
    }

    fn choose(&self, request: PlacementRequest<'_>) -> Vec<String> {
        let found = self.blocks.choose_targets(&request).unwrap();
        self.blocks
            .datanodes()
            .locations(&found)
            .iter()
            .map(|location| location.node.id.host.clone())
            .collect()
    }
}

fn identity(index: usize) -> DatanodeId {
    DatanodeId {
        ip: format!("10.0.0.{index}"),
        host: format!("dn{index}"),
        uuid: format!("uuid-{index}"),
        xfer_port: 9866,
        ..DatanodeId::default()
    }
}

/// The only storage of a DataNode.
fn disk(index: usize) -> StorageReport {
    StorageReport {
        id: storage(index),
        kind: StorageType::Disk,
        read_only: false,
        failed: false,
        capacity: 100 * GB,
        dfs_used: 0,
        non_dfs_used: 0,
        remaining: 50 * GB,
        block_pool_used: 0,
        mount: None,
    }
}

fn storage(index: usize) -> Arc<str> {
    format!("DS-{index}").into()
}

fn block(id: i64, len: u64) -> Block {
    Block { id: BlockId(id), stamp: GenerationStamp(1001), len }
}

fn finalized(block: Block) -> ReportedReplica {
    ReportedReplica { block, state: ReplicaState::Finalized }
}

fn request(client_host: &str, replicas: usize) -> PlacementRequest<'_> {
    PlacementRequest {
        replicas,
        client_host,
        block_size: 128 << 20,
        path: "/f",
        ..PlacementRequest::default()
    }
}
