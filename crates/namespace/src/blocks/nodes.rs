//! The tables of DataNodes and their storages.

use super::map::Slot;
use super::node::{Node, Storage};
use super::node_names::NodeNames;
use super::orders::Orders;
use super::schedule::Schedule;
use super::storage_reports::StorageReports;
use super::topology::{Place, Topology};
use super::types::{
    AdminState, DatanodeId, DatanodeInfo, NodeIdx, NodeStats, Now, RecoverCommand, ReplicaLocation,
    Result, StorageIdx, StorageReport, StorageType, VolumeFailures,
};
use crate::error::DatanodeError;
use roaring::RoaringBitmap;
use smallvec::SmallVec;
use std::sync::Arc;
use zerohop_wire::Block;

/// All DataNodes ever registered with this process, dead ones included, and their storages.
#[derive(Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    storages: Vec<Storage>,
    names: NodeNames,
    topology: Topology,
    /// DataNodes that were stale when the clock last ticked.
    stale: usize,
    /// Another NameNode orders copies and deletions: none is queued here.
    is_standby: bool,
    /// Number of times that a DataNode was judged as a target: tests count work, not time.
    #[cfg(test)]
    pub(super) judged: std::sync::atomic::AtomicUsize,
}

impl Nodes {
    pub(super) fn node(&self, node: NodeIdx) -> Option<&Node> {
        self.nodes.get(node.0 as usize)
    }

    pub(super) fn node_mut(&mut self, node: NodeIdx) -> Option<&mut Node> {
        self.nodes.get_mut(node.0 as usize)
    }

    /// All DataNodes, in the order of [`NodeIdx`].
    pub(super) fn all(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.nodes.iter_mut()
    }

    /// The indexes of all DataNodes.
    pub(super) fn indexes(&self) -> impl Iterator<Item = NodeIdx> + use<> {
        (0..self.nodes.len() as u32).map(NodeIdx)
    }

    /// All storages, in the order of [`StorageIdx`].
    pub(super) fn all_storages(&self) -> &[Storage] {
        &self.storages
    }

    pub(super) fn storage(&self, storage: StorageIdx) -> Option<&Storage> {
        self.storages.get(storage.0 as usize)
    }

    pub(super) fn storage_mut(&mut self, storage: StorageIdx) -> Option<&mut Storage> {
        self.storages.get_mut(storage.0 as usize)
    }

    pub(super) fn node_of(&self, storage: StorageIdx) -> Option<NodeIdx> {
        self.storage(storage).map(|storage| storage.node)
    }

    /// Updates the lists of DataNodes by rack and storage type, after a DataNode came, went, moved or changed.
    pub(super) fn reindex(&mut self, node: NodeIdx) {
        let Some(known) = self.node(node) else { return };
        let storages = known.storages.iter().filter_map(|storage| self.storage(*storage));
        let usable = storages.filter(|storage| !storage.failed && !storage.read_only);
        let place = if known.alive {
            Place {
                rack: Some(Arc::clone(&known.rack)),
                kinds: usable.map(|storage| storage.kind).collect(),
                load: (known.admin == AdminState::Normal).then_some(known.xceivers),
            }
        } else {
            Place::default()
        };
        self.topology.set(node, place);
    }

    /// The live DataNodes by rack and storage type.
    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Racks with a live DataNode.
    pub(super) fn rack_count(&self) -> usize {
        self.topology.rack_count()
    }

    /// Live DataNodes.
    pub(super) fn live_count(&self) -> usize {
        self.topology.live_count()
    }

    /// Records the number of stale DataNodes.
    pub(super) fn set_stale_count(&mut self, stale: usize) {
        self.stale = stale;
    }

    /// Returns the number of DataNodes that were stale when the clock last ticked.
    pub(super) fn stale_count(&self) -> usize {
        self.stale
    }

    /// The storages of a DataNode.
    pub(super) fn storages_of(&self, node: NodeIdx) -> SmallVec<[StorageIdx; 4]> {
        self.node(node).map(|known| known.storages.clone()).unwrap_or_default()
    }

    /// A registered DataNode by its UUID, if it is alive.
    pub(super) fn alive(&self, uuid: &str) -> Option<NodeIdx> {
        let node = self.by_uuid(uuid)?;
        self.node(node).is_some_and(|known| known.alive).then_some(node)
    }

    /// A registered DataNode that is alive, by its UUID.
    ///
    /// # Errors
    /// `Error::Datanode` when the DataNode is unknown or dead: it must register again first.
    pub(super) fn reporting(&self, uuid: &str) -> Result<NodeIdx> {
        let unknown = || DatanodeError::DeadOrUnregistered { uuid: uuid.to_owned() }.into();
        self.alive(uuid).ok_or_else(unknown)
    }

    /// The DataNode with this transfer address, `host:port`.
    pub(super) fn by_transfer_address(&self, name: &str) -> Option<NodeIdx> {
        let (host, port) = name.rsplit_once(':')?;
        let port: u32 = port.parse().ok()?;
        let is_at =
            |node: &NodeIdx| self.node(*node).is_some_and(|known| known.id.xfer_port == port);
        self.by_host(host).iter().copied().find(is_at)
    }

    fn owner(&self, storage: StorageIdx) -> Option<&Node> {
        self.node(self.node_of(storage)?)
    }

    pub(super) fn owner_mut(&mut self, storage: StorageIdx) -> Option<&mut Node> {
        let node = self.node_of(storage)?;
        self.node_mut(node)
    }

    pub(super) fn by_uuid(&self, uuid: &str) -> Option<NodeIdx> {
        self.names.by_uuid(uuid)
    }

    /// DataNodes at an address or of a host name, the dead ones too.
    pub(super) fn by_host(&self, host: &str) -> &[NodeIdx] {
        self.names.by_host(host)
    }

    pub(super) fn by_storage(&self, node: NodeIdx, id: &str) -> Option<StorageIdx> {
        // A node has few storages.
        let storages = &self.node(node)?.storages;
        storages
            .iter()
            .copied()
            .find(|storage| self.storage(*storage).is_some_and(|known| &*known.id == id))
    }

    pub(super) fn add_node(&mut self, id: DatanodeId, rack: Arc<str>) -> NodeIdx {
        let node = NodeIdx(self.nodes.len() as u32);
        self.names.insert(node, &id);
        self.nodes.push(Node {
            id: Arc::new(id),
            rack,
            software_version: String::new(),
            storages: SmallVec::new(),
            scheduled: Schedule::default(),
            alive: false,
            admin: AdminState::Normal,
            maintenance_until_ms: 0,
            xceivers: 0,
            transfers_running: 0,
            failed_volumes: 0,
            volume_failures: VolumeFailures::default(),
            cache_capacity: 0,
            cache_used: 0,
            last_update: Now::default(),
            last_report: Now::default(),
            heartbeat_seen: false,
            orders: Orders::default(),
        });
        node
    }

    /// A known DataNode came back, perhaps at another address.
    pub(super) fn rename_node(&mut self, node: NodeIdx, id: DatanodeId, rack: Arc<str>) {
        let Some(known) = self.nodes.get_mut(node.0 as usize) else { return };
        self.names.remove(node, &known.id);
        self.names.insert(node, &id);
        (known.id, known.rack) = (Arc::new(id), rack);
    }

    /// A DataNode with another UUID took over the address of this one: it is gone for good.
    pub(super) fn drop_address(&mut self, node: NodeIdx) {
        if let Some(known) = self.nodes.get(node.0 as usize) {
            self.names.remove(node, &known.id);
        }
    }

    /// The storage of a node by its id, made when it is new.
    pub(super) fn ensure_storage(
        &mut self,
        node: NodeIdx,
        id: &Arc<str>,
        kind: StorageType,
    ) -> StorageIdx {
        if let Some(known) = self.by_storage(node, id) {
            return known;
        }
        let storage = StorageIdx(self.storages.len() as u32);
        self.storages.push(Storage {
            id: id.clone(),
            node,
            kind,
            read_only: false,
            failed: false,
            capacity: 0,
            dfs_used: 0,
            non_dfs_used: 0,
            remaining: 0,
            block_pool_used: 0,
            mount: None,
            blocks: RoaringBitmap::new(),
            reports: StorageReports::default(),
        });
        if let Some(owner) = self.node_mut(node) {
            owner.storages.push(storage);
        }
        storage
    }

    /// Forgets the storages without replicas that a heartbeat does not report any more: their volumes were removed, or
    /// failed (`DatanodeDescriptor.pruneStorageMap`).
    pub(super) fn forget_unreported(&mut self, node: NodeIdx, reports: &[StorageReport]) {
        let Some(known) = self.node(node) else { return };
        if reports.is_empty() || known.storages.len() <= reports.len() {
            return;
        }
        let is_unreported = |known: &Storage| reports.iter().all(|report| report.id != known.id);
        let is_gone = |storage: &StorageIdx| {
            let known = self.storage(*storage);
            known.is_some_and(|known| known.blocks.is_empty() && is_unreported(known))
        };
        let gone: SmallVec<[StorageIdx; 1]> =
            known.storages.iter().copied().filter(is_gone).collect();
        for storage in gone {
            let Some(id) = self.storage(storage).map(|known| Arc::clone(&known.id)) else {
                continue;
            };
            if let Some(owner) = self.node_mut(node) {
                tracing::info!("Removed storage {id} from DataNode {}", owner.id.xfer_addr());
                owner.storages.retain(|other| *other != storage);
            }
        }
    }

    pub(super) fn is_alive(&self, storage: StorageIdx) -> bool {
        self.owner(storage).is_some_and(|node| node.alive)
    }

    pub(super) fn last_heartbeat_ms(&self, storage: StorageIdx) -> u64 {
        self.owner(storage).map_or(0, |node| node.last_update.mono_ms)
    }

    pub(super) fn note_replica(&mut self, storage: StorageIdx, slot: Slot) {
        if let Some(known) = self.storage_mut(storage) {
            known.blocks.insert(slot);
            known.reports.replica_changed(slot);
        }
    }

    pub(super) fn forget_replica(&mut self, storage: StorageIdx, slot: Slot) {
        if let Some(known) = self.storage_mut(storage) {
            known.blocks.remove(slot);
            known.reports.replica_changed(slot);
        }
    }

    pub(super) fn is_standby(&self) -> bool {
        self.is_standby
    }

    /// Sets whether this NameNode is a standby, forgets all queued orders, and makes all storages stale: the orders of the other
    /// NameNode are unknown here.
    pub(super) fn set_standby(&mut self, is_standby: bool) {
        self.is_standby = is_standby;
        self.nodes.iter_mut().for_each(|node| node.orders.clear());
        self.storages.iter_mut().for_each(|storage| storage.reports.make_stale());
    }

    /// Whether replicas on a storage may be gone, or going, that are listed there.
    pub(super) fn is_stale(&self, storage: StorageIdx) -> bool {
        self.storage(storage).is_some_and(|known| known.reports.is_stale())
    }

    /// Orders the deletion of a replica whose block belongs to no file, with one of the next heartbeats. Only
    /// [`Spare::order`](super::spare::Spare::order) may order that of an excess or corrupt replica.
    pub(super) fn invalidate(&mut self, storage: StorageIdx, block: Block) {
        if self.is_standby {
            return;
        }
        if let Some(node) = self.owner_mut(storage) {
            node.orders.delete(block);
        }
    }

    /// Takes a deletion back that the DataNode has not been told of; false if there is none.
    pub(super) fn call_off_invalidation(&mut self, storage: StorageIdx, block: Block) -> bool {
        let node = self.owner_mut(storage);
        node.is_some_and(|node| node.orders.call_off_deletion(block))
    }

    pub(super) fn is_invalidating(&self, storage: StorageIdx, block: Block) -> bool {
        let node = self.owner(storage);
        node.is_some_and(|node| node.orders.is_deleting(block))
    }

    /// A DataNode that can send a good replica, which is on one of these storages. Prefers a decommissioning one; never
    /// picks one that has `streams_max` copies to send.
    pub(super) fn choose_source(
        &self,
        storages: &[StorageIdx],
        streams_max: usize,
        random: impl Fn() -> u64,
    ) -> Option<NodeIdx> {
        let is_free = |known: &Node| {
            known.alive
                && known.orders.transfers() < streams_max
                && known.admin != AdminState::InMaintenance
        };
        let owners = storages.iter().filter_map(|storage| self.node_of(*storage));
        let free = owners.filter(|node| self.node(*node).is_some_and(is_free));
        free.min_by_key(|node| {
            let is_leaving = |known: &Node| known.admin == AdminState::DecommissionInProgress;
            (!self.node(*node).is_some_and(is_leaving), random())
        })
    }

    pub(super) fn schedule(&mut self, storage: StorageIdx) {
        let Some(kind) = self.storage(storage).map(|known| known.kind) else { return };
        if let Some(node) = self.owner_mut(storage) {
            node.scheduled.add(kind);
        }
    }

    pub(super) fn unschedule(&mut self, storage: StorageIdx) {
        let Some(kind) = self.storage(storage).map(|known| known.kind) else { return };
        if let Some(node) = self.owner_mut(storage) {
            node.scheduled.remove(kind);
        }
    }

    pub(super) fn queue_recovery(&mut self, leader: StorageIdx, command: RecoverCommand) {
        if self.is_standby {
            return;
        }
        if let Some(node) = self.owner_mut(leader) {
            node.orders.recover(command);
        }
    }

    pub(super) fn stats(&self, node: &Node) -> NodeStats {
        let mut stats = NodeStats {
            cache_capacity: node.cache_capacity,
            cache_used: node.cache_used,
            xceivers: node.xceivers,
            last_update: node.last_update,
            last_block_report: node.last_report,
            admin: node.admin,
            ..NodeStats::default()
        };
        for storage in node.storages.iter().filter_map(|storage| self.storage(*storage)) {
            stats.capacity += storage.capacity;
            stats.dfs_used += storage.dfs_used;
            stats.non_dfs_used += storage.non_dfs_used;
            stats.remaining += storage.remaining;
            stats.block_pool_used += storage.block_pool_used;
            stats.blocks += storage.blocks.len() as u32;
        }
        stats
    }

    pub(super) fn info(&self, node: &Node) -> DatanodeInfo {
        DatanodeInfo { id: node.id.clone(), rack: node.rack.clone(), stats: self.stats(node) }
    }

    pub(super) fn location(&self, storage: StorageIdx) -> Option<ReplicaLocation> {
        let (known, node) = (self.storage(storage)?, self.owner(storage)?);
        Some(ReplicaLocation {
            storage,
            node: self.info(node),
            storage_id: known.id.clone(),
            kind: known.kind,
            is_held: false,
        })
    }

    /// Locations of storages, in their order.
    pub(super) fn locations(&self, storages: &[StorageIdx]) -> Vec<ReplicaLocation> {
        storages.iter().filter_map(|storage| self.location(*storage)).collect()
    }
}
