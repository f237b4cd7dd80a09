//! Where a block's replicas are, nearest first, and how they are counted.

use super::{
    BlockLocations, BlockManager, BlockState, CorruptReason, NodeIdx, ReplicaCounts,
    ReplicaLocation, Result, StorageIdx, Storages,
};
use zerohop_wire::{BlockId, JavaException};

impl BlockManager {
    /// Where a block is, nearest to `client_host` (IP or name) first; unknown blocks have no location.
    ///
    /// A block under construction is where it is being written.
    pub fn locations(&self, id: BlockId, client_host: &str) -> Option<BlockLocations> {
        let (slot, stored) = self.entry(id)?;
        let expected =
            self.constructions.get(&slot).filter(|_| stored.state != BlockState::Complete);
        let (storages, corrupt) = match expected {
            Some(construction) => (construction.storages().collect(), false),
            None => self.replicas().readable(slot),
        };
        let mut replicas: Vec<_> =
            storages.iter().filter_map(|storage| self.location_with_cache(*storage, id)).collect();
        self.read_order().sort(&mut replicas, client_host);
        Some(BlockLocations { block: stored.block, replicas, corrupt })
    }

    fn location_with_cache(&self, storage: StorageIdx, id: BlockId) -> Option<ReplicaLocation> {
        let is_held = self.nodes.node_of(storage).is_some_and(|node| self.is_held(node, id));
        self.nodes.location(storage).map(|location| ReplicaLocation { is_held, ..location })
    }

    /// Locations of chosen storages, in their order: a pipeline's.
    pub fn describe(&self, storages: &[StorageIdx]) -> Vec<ReplicaLocation> {
        storages.iter().filter_map(|storage| self.nodes.location(*storage)).collect()
    }

    /// Storages named by DataNode UUID and storage id, as clients and DataNodes send them; a storage its DataNode never
    /// told of is left out.
    ///
    /// # Errors
    /// `UnregisteredNodeException` for an unknown DataNode.
    pub fn resolve_storages<'a>(
        &self,
        names: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Storages> {
        let found = names.into_iter().map(|(uuid, storage)| self.resolve_storage(uuid, storage));
        found.filter_map(Result::transpose).collect()
    }

    fn resolve_storage(&self, uuid: &str, storage: &str) -> Result<Option<StorageIdx>> {
        let Some(node) = self.nodes.by_uuid(uuid) else {
            let message = format!("Unresolved datanode registration: unknown datanode {uuid}");
            return Err(JavaException::UnregisteredNode.with(message));
        };
        let known = self.nodes.by_storage(node, storage);
        // Clients without storage ids (very old ones) mean the node.
        let first = || {
            let node = self.nodes.node(node).filter(|_| storage.is_empty());
            node.and_then(|node| node.storages.first().copied())
        };
        Ok(known.or_else(first))
    }

    /// A registered DataNode by its UUID.
    pub fn node_named(&self, uuid: &str) -> Option<NodeIdx> {
        self.nodes.by_uuid(uuid)
    }

    /// Why the replica on a node counts as corrupt.
    pub fn corrupt_reason(&self, id: BlockId, node: NodeIdx) -> Option<CorruptReason> {
        self.corrupt.get(self.map.slot(id)?, node).map(|known| known.reason)
    }

    /// How many replicas a block has in which condition.
    pub fn replica_counts(&self, id: BlockId) -> ReplicaCounts {
        self.map.slot(id).map(|slot| self.replicas().count(slot)).unwrap_or_default()
    }
}
