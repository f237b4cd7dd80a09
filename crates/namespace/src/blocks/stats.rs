//! Sums and lists for reports: `getStats`, `getDatanodeReport`, JMX, fsck.

use super::{
    BlockManager, BlockStats, DatanodeInfo, NodeIdx, SafeMode, StorageReport, VolumeFailures,
};
use std::sync::Arc;
use zerohop_wire::{Block, BlockId, InodeId};

/// Which DataNodes a report lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NodeFilter {
    All,
    Live,
    Dead,
    Decommissioning,
    EnteringMaintenance,
    InMaintenance,
    Slow,
}

/// A DataNode in a report, with what only operators ask.
#[derive(Clone, Debug)]
pub struct NodeReport {
    /// Its place in the tables here.
    pub node: NodeIdx,
    /// What clients see of it.
    pub info: DatanodeInfo,
    /// Whether its heartbeats arrive.
    pub alive: bool,
    /// The release it said it is.
    pub software_version: String,
    /// Volumes that failed.
    pub failed_volumes: u32,
    /// Which they were, as far as the DataNode says.
    pub volume_failures: VolumeFailures,
    /// Blocks on their way to it.
    pub scheduled_blocks: u64,
    /// Its storages.
    pub storages: Vec<StorageReport>,
}

impl BlockManager {
    /// Blocks known, complete or not.
    pub fn block_count(&self) -> u64 {
        self.map.len() as u64
    }

    /// Safe mode.
    pub fn safe_mode(&self) -> &SafeMode {
        &self.safe_mode
    }

    /// Safe mode, to enter or leave it.
    pub fn safe_mode_mut(&mut self) -> &mut SafeMode {
        &mut self.safe_mode
    }

    /// Racks with a live DataNode.
    pub fn rack_count(&self) -> usize {
        self.nodes.rack_count()
    }

    /// Sums over DataNodes and blocks.
    pub fn stats(&self) -> BlockStats {
        let mut stats = BlockStats {
            blocks: self.block_count(),
            under_replicated: self.redundancy.low() + self.redundancy.without_replica().len(),
            corrupt: self.corrupt.block_count(),
            missing: self.redundancy.without_replica().len(),
            missing_replication_one: self.missing_replication_one(),
            pending_replication: self.redundancy.pending_blocks(),
            excess: self.redundancy.excess.len(),
            unknown: self.unknown_totals(),
            bytes_in_future: self.safe_mode.bytes_in_future(),
            under_construction: self.constructions.len() as u64,
            low_redundancy_with_highest_priority: self.redundancy.urgent(),
            expired_heartbeats: self.expired_heartbeats,
            block_capacity: self.map.capacity() as u64,
            ..BlockStats::default()
        };
        for node in &self.nodes.nodes {
            stats.pending_deletion += node.invalidate.len() as u64;
            if !node.alive {
                stats.dead_nodes += u32::from(self.nodes.by_uuid(&node.id.uuid).is_some());
                continue;
            }
            let figures = self.nodes.stats(node);
            stats.live_nodes += 1;
            stats.stale_nodes += u32::from(
                self.now.mono_ms.saturating_sub(node.last_update.mono_ms)
                    > self.params.stale_interval_ms,
            );
            stats.stale_storages += node
                .storages
                .iter()
                .filter_map(|storage| self.nodes.storage(*storage))
                .filter(|storage| !storage.failed && storage.reports == 0)
                .count() as u32;
            stats.capacity += figures.capacity;
            stats.dfs_used += figures.dfs_used;
            stats.non_dfs_used += figures.non_dfs_used;
            stats.remaining += figures.remaining;
            stats.block_pool_used += figures.block_pool_used;
            stats.cache_capacity += figures.cache_capacity;
            stats.cache_used += figures.cache_used;
            stats.xceivers += figures.xceivers;
        }
        stats
    }

    fn missing_replication_one(&self) -> u64 {
        let missing = self.redundancy.without_replica().iter();
        missing
            .filter(|slot| self.map.get(*slot).is_some_and(|entry| entry.replication() == 1))
            .count() as u64
    }

    /// DataNodes for a report.
    pub fn node_reports(&self, filter: NodeFilter) -> Vec<NodeReport> {
        use super::AdminState::{DecommissionInProgress, EnteringMaintenance, InMaintenance};
        let wanted = |index: usize, node: &super::node::Node| match filter {
            NodeFilter::All => true,
            NodeFilter::Live => node.alive,
            NodeFilter::Dead => !node.alive,
            NodeFilter::Decommissioning => node.admin == DecommissionInProgress,
            NodeFilter::EnteringMaintenance => node.admin == EnteringMaintenance,
            NodeFilter::InMaintenance => node.admin == InMaintenance,
            NodeFilter::Slow => self.slow.is_reported(NodeIdx(index as u32)),
        };
        // A node whose address another took over is in the tables, but no longer of this cluster.
        let known = |index: &usize, node: &super::node::Node| {
            self.nodes.by_uuid(&node.id.uuid) == Some(NodeIdx(*index as u32))
        };
        let nodes = self
            .nodes
            .nodes
            .iter()
            .enumerate()
            .filter(|(index, node)| known(index, node) && wanted(*index, node));
        nodes.map(|(index, node)| self.node_report(NodeIdx(index as u32), node)).collect()
    }

    fn node_report(&self, index: NodeIdx, node: &super::node::Node) -> NodeReport {
        let storages: Vec<_> =
            node.storages.iter().filter_map(|storage| self.nodes.storage(*storage)).collect();
        NodeReport {
            node: index,
            info: self.nodes.info(node),
            alive: node.alive,
            software_version: node.software_version.clone(),
            failed_volumes: node.failed_volumes,
            volume_failures: node.volume_failures.clone(),
            scheduled_blocks: node.scheduled.total(),
            storages: storages.into_iter().map(report_of).collect(),
        }
    }

    /// Blocks of which no good replica is left, from a place on: each with its place, its file and its id.
    pub fn corrupt_blocks(&self, from: u32) -> impl Iterator<Item = (u32, InodeId, BlockId)> + '_ {
        self.redundancy.without_replica().range(from..).filter_map(|slot| {
            let stored = self.map.get(slot)?.view();
            Some((slot, stored.file, stored.block.id))
        })
    }

    /// Some complete blocks of a DataNode, for the balancer: from a random place on, until their sizes reach `bytes`.
    pub fn blocks_of(
        &self,
        uuid: &str,
        bytes: u64,
        size_min: u64,
    ) -> Option<Vec<(Block, Vec<super::ReplicaLocation>)>> {
        let node = self.nodes.node(self.nodes.by_uuid(uuid)?)?;
        let mut found = Vec::new();
        let mut sum = 0;
        for storage in node.storages.iter().filter_map(|storage| self.nodes.storage(*storage)) {
            let start = self.random.below(storage.blocks.len() as usize);
            let slots = storage.blocks.iter().skip(start).chain(storage.blocks.iter().take(start));
            for stored in slots.filter_map(|slot| self.map.get(slot)).map(|entry| entry.view()) {
                if sum >= bytes {
                    return Some(found);
                }
                if stored.state == super::BlockState::Complete
                    && stored.block.len >= size_min.max(1)
                {
                    sum += stored.block.len;
                    let replicas = self
                        .locations(stored.block.id, "")
                        .map_or(Vec::new(), |known| known.replicas);
                    found.push((stored.block, replicas));
                }
            }
        }
        Some(found)
    }
}

fn report_of(storage: &super::node::Storage) -> StorageReport {
    StorageReport {
        id: Arc::clone(&storage.id),
        kind: storage.kind,
        read_only: storage.read_only,
        failed: storage.failed,
        capacity: storage.capacity,
        dfs_used: storage.dfs_used,
        non_dfs_used: storage.non_dfs_used,
        remaining: storage.remaining,
        block_pool_used: storage.block_pool_used,
        mount: storage.mount.clone(),
    }
}
