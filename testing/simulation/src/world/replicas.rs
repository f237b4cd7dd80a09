//! What DataNodes hold and report, to any NameNode.

use crate::namenode::{self, WALL_MS};
use std::collections::BTreeMap;
use std::sync::Arc;
use zerohop_namespace::blocks::{
    Command, DatanodeId, Heartbeat, Now, ReplicaEvent, StorageReport, StorageType,
};
use zerohop_namespace::{FileKind, Namespace};
use zerohop_wire::{Block, BlockId, GenerationStamp, ReplicaState, ReportedReplica};

/// How many DataNodes there are.
pub const NODES: usize = 3;

/// A replica on a DataNode's disk.
#[derive(Clone, Copy, Debug)]
pub struct Replica {
    pub stamp: GenerationStamp,
    pub len: u64,
    pub state: ReplicaState,
}

/// What all DataNodes hold.
#[derive(Clone, Debug, Default)]
pub struct Replicas {
    pub(super) nodes: [BTreeMap<BlockId, Replica>; NODES],
}

pub(super) fn uuid(node: usize) -> String {
    format!("uuid-{node}")
}

pub(super) fn node_of(uuid: &str) -> usize {
    uuid.trim_start_matches("uuid-").parse().unwrap_or(0)
}

pub(super) fn storage(node: usize) -> Arc<str> {
    format!("DS-{node}").into()
}

impl Replicas {
    /// A DataNode's replica of a block becomes this one.
    pub fn put(&mut self, uuid: &str, id: BlockId, replica: Replica) {
        self.nodes[node_of(uuid)].insert(id, replica);
    }

    pub(super) fn is_good(&self, node: usize, block: Block) -> bool {
        self.nodes[node].get(&block.id).is_some_and(|replica| {
            replica.state == ReplicaState::Finalized
                && (replica.stamp, replica.len) == (block.stamp, block.len)
        })
    }

    fn good(&self, block: Block) -> usize {
        (0..NODES).filter(|node| self.is_good(*node, block)).count()
    }

    pub(super) fn invalidate(&mut self, node: usize, block: Block) -> bool {
        let held = self.nodes[node].get(&block.id);
        let is_it = held.is_some_and(|replica| replica.stamp == block.stamp);
        if is_it {
            self.nodes[node].remove(&block.id);
        }
        is_it
    }
}

/// All DataNodes register, and report all that they hold.
pub fn register_all(namespace: &mut Namespace, replicas: &Replicas, now: Now) {
    for node in 0..NODES {
        let id = DatanodeId {
            ip: format!("10.0.0.{node}"),
            host: format!("dn{node}"),
            uuid: uuid(node),
            xfer_port: 9866,
            ..DatanodeId::default()
        };
        namespace.blocks_mut().register(id, "/default-rack", "3.4.3", now);
        beat(namespace, node, now);
        let reported = replicas.nodes[node].iter().map(|(id, replica)| ReportedReplica {
            block: Block { id: *id, stamp: replica.stamp, len: replica.len },
            state: replica.state,
        });
        let blocks = namespace.blocks_mut();
        let of = (&storage(node), StorageType::Disk);
        let begun = blocks.block_reports().begin_full_report(&uuid(node), of, reported.collect());
        let taken = begun.and_then(|mut report| {
            while blocks.continue_full_report(&mut report, usize::MAX)?.is_none() {}
            Ok(())
        });
        debug_assert!(taken.is_ok());
        namespace.delete_extra();
    }
    namespace.tick(now);
}

pub(super) fn beat(namespace: &mut Namespace, node: usize, now: Now) -> Vec<Command> {
    let disk = StorageReport {
        id: storage(node),
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
    namespace.heartbeat(&uuid(node), Heartbeat::default(), &[disk], now).commands
}

/// Tells DataNodes of no block that a file needs to delete it: every closed file keeps as many good
/// replicas as it had, up to its replication, after all deletions.
pub fn check_replicas(namespace: &mut Namespace, replicas: &Replicas) -> Result<(), String> {
    let mut replicas = replicas.clone();
    let mut now = Now { wall_ms: WALL_MS, mono_ms: 1_000_000 };
    namespace.start(now);
    register_all(namespace, &replicas, now);
    let before = closed_blocks(namespace)?;
    let held: Vec<usize> = before.iter().map(|(_, block, _)| replicas.good(*block)).collect();
    if namespace.blocks().safe_mode().is_on() && held.iter().all(|count| *count > 0) {
        return Err("safe mode stays on though all DataNodes have reported".to_owned());
    }
    for _ in 0..4 {
        now = Now { wall_ms: now.wall_ms + 3_000, mono_ms: now.mono_ms + 3_000 };
        for node in 0..NODES {
            for command in beat(namespace, node, now) {
                if let Command::Invalidate(blocks) = command {
                    for block in blocks.into_iter().filter(|b| replicas.invalidate(node, *b)) {
                        report(namespace, node, ReplicaEvent::Deleted(block));
                    }
                }
            }
        }
        namespace.tick(now);
        namespace.delete_extra();
    }
    for ((path, block, wanted), held) in before.into_iter().zip(held) {
        let left = replicas.good(block);
        if left < held.min(wanted) {
            return Err(format!(
                "{path}: of {held} good replicas of {block} {left} are left, {wanted} are wanted"
            ));
        }
        let (located, _) = namespace
            .view(&namenode::root())
            .block_locations(&path, 0, u64::MAX >> 1)
            .map_err(|e| e.to_string())?;
        let found = located.blocks.iter().find(|found| found.block().id == block.id);
        let located = found.map_or(0, |found| {
            let nodes = found.locations.replicas.iter().map(|r| node_of(&r.node.id.uuid));
            nodes.filter(|node| replicas.is_good(*node, block)).count()
        });
        if located < left.min(wanted) {
            return Err(format!("{path}: {left} good replicas of {block}, {located} are located"));
        }
    }
    Ok(())
}

/// The blocks of all closed files: path, block, replication.
fn closed_blocks(namespace: &Namespace) -> Result<Vec<(String, Block, usize)>, String> {
    let root = namenode::root();
    let mut found = Vec::new();
    let mut open = vec!["/".to_owned()];
    while let Some(directory) = open.pop() {
        let listing =
            namespace.view(&root).listing(&directory, b"", false).map_err(|e| e.to_string())?;
        for entry in listing.unwrap_or_default().entries {
            let path = format!("{}/{}", directory.trim_end_matches('/'), entry.path);
            if entry.kind == FileKind::Directory {
                open.push(path);
                continue;
            }
            let (located, _) = namespace
                .view(&root)
                .block_locations(&path, 0, u64::MAX >> 1)
                .map_err(|e| e.to_string())?;
            if !located.under_construction {
                let replication = usize::from(entry.replication);
                let blocks = located.blocks.iter().map(|block| block.block());
                found.extend(blocks.map(|block| (path.clone(), block, replication)));
            }
        }
    }
    Ok(found)
}

pub(super) fn report(namespace: &mut Namespace, node: usize, event: ReplicaEvent) {
    let storage = (&storage(node), StorageType::Disk);
    let reported =
        namespace.blocks_mut().block_reports().incremental_report(&uuid(node), storage, [event]);
    debug_assert!(reported.is_ok());
}
