//! DataNodes and their storages as operators and clients name them: `getDatanodeReport`, JMX, fsck.

use super::node::{Node, Storage};
use super::nodes::Nodes;
use super::random::SplitMix64;
use super::slow::{SlowDisk, SlowPeer, SlowReports};
use super::topology::Scope;
use super::types::{
    AdminState, BlockStats, DatanodeId, DatanodeInfo, NodeIdx, ReplicaLocation, Result, StorageIdx,
    StorageReport, Storages, UnknownOnStorage, UnknownTotals, VolumeFailures,
};
use crate::error::{DatanodeError, refuse};
use std::collections::HashSet;
use std::sync::Arc;

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
    /// The release that it registered with.
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

/// How many DataNodes are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Live, and neither leaving nor away.
    pub live_in_service: u32,
    /// Live and decommissioned.
    pub live_decommissioned: u32,
    /// Live and in maintenance.
    pub live_in_maintenance: u32,
    /// Live and being decommissioned.
    pub decommissioning: u32,
    /// Live and about to be in maintenance.
    pub entering_maintenance: u32,
    /// Dead and decommissioned.
    pub dead_decommissioned: u32,
    /// Dead and in maintenance.
    pub dead_in_maintenance: u32,
    /// Volumes of live DataNodes that failed.
    pub failed_volumes: u32,
    /// Bytes that they had.
    pub capacity_lost: u64,
}

/// A block whose replicas are in too few racks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Racks that lack.
    pub racks_missing: usize,
    /// Racks with live DataNodes.
    pub racks: usize,
}

/// The DataNodes, to look at.
#[derive(Clone, Copy)]
pub struct DatanodeLookup<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) slow: &'a SlowReports,
    pub(super) random: &'a SplitMix64,
}

impl DatanodeLookup<'_> {
    /// Refuses a DataNode whose UUID another one registered with since. An unknown UUID passes: its heartbeat is answered
    /// with the order to register.
    ///
    /// # Errors
    /// `Error::Datanode`, upon which a DataNode stops serving this NameNode.
    pub fn check_sender(self, sender: &DatanodeId) -> Result<()> {
        let node = self.nodes.by_uuid(&sender.uuid).and_then(|node| self.nodes.node(node));
        let Some(node) = node else { return Ok(()) };
        if (&node.id.ip, node.id.xfer_port) == (&sender.ip, sender.xfer_port) {
            return Ok(());
        }
        refuse(DatanodeError::UuidOfAnother {
            sender: sender.xfer_addr(),
            uuid: sender.uuid.to_string(),
            expected: node.id.xfer_addr(),
        })
    }

    /// Checks that a DataNode is registered and alive.
    ///
    /// # Errors
    /// Fails with `Error::Datanode` if the DataNode must register before it reports.
    pub fn check_registered(self, uuid: &str) -> Result<()> {
        self.nodes.reporting(uuid).map(|_| ())
    }

    /// Returns `true` if a storage of a DataNode has sent no full report that counts since this NameNode became active
    /// (`DatanodeDescriptor.hasStaleStorages`).
    pub fn has_stale_storages(self, uuid: &str) -> bool {
        let node = self.nodes.by_uuid(uuid).and_then(|node| self.nodes.node(node));
        node.is_some_and(|node| node.storages.iter().any(|storage| self.nodes.is_stale(*storage)))
    }

    /// A registered DataNode by its UUID.
    pub fn by_uuid(self, uuid: &str) -> Option<NodeIdx> {
        self.nodes.by_uuid(uuid)
    }

    /// Returns the UUIDs of the DataNodes that a name means: `host`, or `host:port` of block data.
    pub fn uuids_at(self, name: &str) -> Vec<String> {
        let (host, port) = match name.rsplit_once(':') {
            Some((host, port)) if port.parse::<u32>().is_ok() => (host, port.parse().ok()),
            _ => (name, None),
        };
        let known = self.nodes.by_host(host).iter().filter_map(|node| self.nodes.node(*node));
        let meant = known.filter(|node| port.is_none_or(|port: u32| port == node.id.xfer_port));
        meant.map(|node| node.id.uuid.clone()).collect()
    }

    /// Returns a live DataNode in service, none of those with the UUIDs `excluded`. Each other one has the same chance.
    pub fn any_in_service(self, excluded: &[String]) -> Option<Arc<DatanodeId>> {
        let candidates = self.nodes.topology().live_in(Scope::Everywhere);
        let shuffled = self.random.shuffled(candidates.len());
        let mut known = shuffled.filter_map(|at| self.nodes.node(candidates.get(at)?));
        let found = known
            .find(|node| node.admin == AdminState::Normal && !excluded.contains(&node.id.uuid))?;
        Some(Arc::clone(&found.id))
    }

    /// Racks with a live DataNode.
    pub fn rack_count(self) -> usize {
        self.nodes.rack_count()
    }

    /// Whether a DataNode counts as slow.
    pub fn is_slow(self, uuid: &str) -> bool {
        self.nodes.by_uuid(uuid).is_some_and(|node| self.slow.is_slow(node))
    }

    /// Up to `max` slow DataNodes, those first that most others report.
    pub fn slow_peers(self, max: usize) -> Vec<SlowPeer> {
        self.slow.named_peers(self.nodes, max)
    }

    /// Up to `max` slow disks, the slowest first.
    pub fn slow_disks(self, max: usize) -> Vec<SlowDisk> {
        self.slow.named_disks(self.nodes, max)
    }

    /// Locations of chosen storages, in their order: a pipeline's.
    pub fn locations(self, storages: &[StorageIdx]) -> Vec<ReplicaLocation> {
        self.nodes.locations(storages)
    }

    /// Storages named by DataNode UUID and storage id, as clients and DataNodes send them; a storage its DataNode never
    /// reported is left out.
    ///
    /// # Errors
    /// `Error::Datanode` for an unknown DataNode.
    pub fn resolve_storages<'n>(
        self,
        names: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> Result<Storages> {
        let found = names.into_iter().map(|(uuid, storage)| self.resolve_storage(uuid, storage));
        found.filter_map(Result::transpose).collect()
    }

    fn resolve_storage(self, uuid: &str, storage: &str) -> Result<Option<StorageIdx>> {
        let Some(node) = self.nodes.by_uuid(uuid) else {
            return refuse(DatanodeError::Unknown { uuid: uuid.to_owned() });
        };
        let known = self.nodes.by_storage(node, storage);
        // Clients without storage ids (very old ones) mean the node.
        let first = || {
            let node = self.nodes.node(node).filter(|_| storage.is_empty());
            node.and_then(|node| node.storages.first().copied())
        };
        Ok(known.or_else(first))
    }

    /// DataNodes for a report. One whose address another took over is in the tables, but no longer of this cluster.
    pub fn reports(self, filter: NodeFilter) -> Vec<NodeReport> {
        let all = self.nodes.all().iter().enumerate();
        let indexed = all.map(|(index, node)| (NodeIdx(index as u32), node));
        let wanted = indexed.filter(|(index, node)| {
            self.nodes.by_uuid(&node.id.uuid) == Some(*index)
                && self.is_wanted(filter, *index, node)
        });
        wanted.map(|(index, node)| self.report(index, node)).collect()
    }

    /// How many DataNodes are in which state; those whose address another one took over are not counted.
    pub fn counts(self) -> NodeCounts {
        let mut counts = NodeCounts::default();
        let all = self.nodes.all().iter().enumerate();
        let known = all.filter(|(index, node)| {
            self.nodes.by_uuid(&node.id.uuid) == Some(NodeIdx(*index as u32))
        });
        for (_, node) in known {
            let count = match (node.alive, node.admin) {
                (true, AdminState::Normal) => Some(&mut counts.live_in_service),
                (true, AdminState::Decommissioned) => Some(&mut counts.live_decommissioned),
                (true, AdminState::InMaintenance) => Some(&mut counts.live_in_maintenance),
                (true, AdminState::DecommissionInProgress) => Some(&mut counts.decommissioning),
                (true, AdminState::EnteringMaintenance) => Some(&mut counts.entering_maintenance),
                (false, AdminState::Decommissioned) => Some(&mut counts.dead_decommissioned),
                (false, AdminState::InMaintenance) => Some(&mut counts.dead_in_maintenance),
                (false, _) => None,
            };
            if let Some(count) = count {
                *count += 1;
            }
            if node.alive {
                counts.failed_volumes += node.failed_volumes;
                counts.capacity_lost += node.volume_failures.capacity_lost;
            }
        }
        counts
    }

    fn is_wanted(self, filter: NodeFilter, index: NodeIdx, node: &Node) -> bool {
        match filter {
            NodeFilter::All => true,
            NodeFilter::Live => node.alive,
            NodeFilter::Dead => !node.alive,
            NodeFilter::Decommissioning => node.admin == AdminState::DecommissionInProgress,
            NodeFilter::EnteringMaintenance => node.admin == AdminState::EnteringMaintenance,
            NodeFilter::InMaintenance => node.admin == AdminState::InMaintenance,
            NodeFilter::Slow => self.slow.is_reported(index),
        }
    }

    fn report(self, index: NodeIdx, node: &Node) -> NodeReport {
        let storages = node.storages.iter().filter_map(|storage| self.nodes.storage(*storage));
        NodeReport {
            node: index,
            info: self.nodes.info(node),
            alive: node.alive,
            software_version: node.software_version.clone(),
            failed_volumes: node.failed_volumes,
            volume_failures: node.volume_failures.clone(),
            scheduled_blocks: node.scheduled.total(),
            storages: storages.map(report_of).collect(),
        }
    }

    /// Adds what the DataNodes report to sums over all of them; one without a heartbeat for longer than `stale_ms` is
    /// stale.
    pub(super) fn add_to(self, stats: &mut BlockStats, now_ms: u64, stale_ms: u64) {
        stats.unknown = self.unknown_totals();
        for node in self.nodes.all() {
            stats.pending_deletion += node.orders.deletions().len() as u64;
            if !node.alive {
                stats.dead_nodes += u32::from(self.nodes.by_uuid(&node.id.uuid).is_some());
                continue;
            }
            let figures = self.nodes.stats(node);
            stats.live_nodes += 1;
            let silent_ms = now_ms.saturating_sub(node.last_update.mono_ms);
            stats.stale_nodes += u32::from(silent_ms > stale_ms);
            let storages = node.storages.iter().filter_map(|storage| self.nodes.storage(*storage));
            let stale = storages.filter(|storage| !storage.failed && storage.reports.is_stale());
            stats.stale_storages += stale.count() as u32;
            stats.capacity += figures.capacity;
            stats.dfs_used += figures.dfs_used;
            stats.non_dfs_used += figures.non_dfs_used;
            stats.remaining += figures.remaining;
            stats.block_pool_used += figures.block_pool_used;
            stats.cache_capacity += figures.cache_capacity;
            stats.cache_used += figures.cache_used;
            stats.xceivers += figures.xceivers;
        }
    }

    /// Whether replicas at these locations are in too few racks for so many: two racks are enough
    /// where there are two.
    pub fn misplaced(self, locations: &[ReplicaLocation], replicas: u16) -> Option<Misplaced> {
        let racks = self.nodes.rack_count();
        if racks < 2 {
            return None;
        }
        let used: HashSet<&str> = locations.iter().map(|replica| &*replica.node.rack).collect();
        let required = usize::from(replicas.min(2));
        (used.len() < required && used.len() < racks)
            .then(|| Misplaced { racks_missing: required - used.len(), racks })
    }

    /// Sums of the unknown replicas on all storages.
    pub fn unknown_totals(self) -> UnknownTotals {
        let mut sum = UnknownTotals::default();
        self.nodes
            .all_storages()
            .iter()
            .for_each(|storage| sum.add(storage.reports.unknown().totals()));
        sum
    }

    /// Storages with unknown replicas, each with up to `limit` of their ids.
    ///
    /// With `only` a single storage is answered, and its ids from the given one on.
    pub fn unknown_replicas(
        self,
        only: Option<(&str, u64)>,
        limit: usize,
    ) -> Vec<UnknownOnStorage> {
        let mut answer = Vec::new();
        for storage in self.nodes.all_storages() {
            let totals = storage.reports.unknown().totals();
            let is_asked = only.is_none_or(|(id, _)| *storage.id == *id);
            let Some(node) = self.nodes.node(storage.node).filter(|_| is_asked) else { continue };
            if totals.replicas == 0 {
                continue;
            }
            let mut ids =
                storage.reports.unknown().page(only.map_or(0, |(_, from)| from), limit + 1);
            let next = ids.get(limit).map(|id| id.0 as u64);
            ids.truncate(limit);
            answer.push(UnknownOnStorage {
                uuid: node.id.uuid.clone(),
                xfer_addr: node.id.xfer_addr(),
                storage_id: storage.id.clone(),
                last_report_ms: node.last_report.wall_ms,
                totals,
                ids,
                next,
            });
        }
        answer
    }
}

fn report_of(storage: &Storage) -> StorageReport {
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
