//! The replicas of one block pool, by block.

use super::replica::Replica;
use crate::short_circuit::BlockKey;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use zerohop_wire::BlockId;

/// The replicas of one block pool.
pub(crate) struct BlockPool {
    pub(crate) id: Arc<str>,
    replicas: RwLock<HashMap<BlockId, Arc<Replica>>>,
}

impl BlockPool {
    /// A pool with these replicas.
    pub(super) fn new(id: Arc<str>, replicas: HashMap<BlockId, Arc<Replica>>) -> Self {
        Self { id, replicas: RwLock::new(replicas) }
    }

    /// A block of this pool.
    pub(crate) fn key(&self, id: BlockId) -> BlockKey {
        BlockKey { pool: Arc::clone(&self.id), id }
    }

    /// A replica.
    pub(crate) fn get(&self, id: BlockId) -> Option<Arc<Replica>> {
        self.replicas.read().get(&id).cloned()
    }

    /// All replicas.
    pub(crate) fn all(&self) -> Vec<Arc<Replica>> {
        self.replicas.read().values().cloned().collect()
    }

    /// Adds a replica, unless there is one of this block: that is the error. (Locks of replicas come
    /// before this map's, so none is taken under it.)
    pub(super) fn add(&self, replica: &Arc<Replica>) -> Result<(), Arc<Replica>> {
        match self.replicas.write().entry(replica.id) {
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::clone(replica));
                Ok(())
            }
            Entry::Occupied(known) => Err(Arc::clone(known.get())),
        }
    }

    /// Adds a replica, which takes the place of the one of this block.
    pub(super) fn replace(&self, replica: &Arc<Replica>) {
        self.replicas.write().insert(replica.id, Arc::clone(replica));
    }

    /// Whether this is the replica of its block, neither removed nor moved.
    pub(super) fn holds(&self, replica: &Arc<Replica>) -> bool {
        self.replicas.read().get(&replica.id).is_some_and(|known| Arc::ptr_eq(known, replica))
    }

    /// Whether another one has taken its place.
    pub(super) fn has_moved(&self, replica: &Arc<Replica>) -> bool {
        self.replicas.read().get(&replica.id).is_some_and(|known| !Arc::ptr_eq(known, replica))
    }

    /// Forgets a replica, if it is still this one.
    pub(super) fn forget(&self, replica: &Arc<Replica>) {
        if let Entry::Occupied(known) = self.replicas.write().entry(replica.id)
            && Arc::ptr_eq(known.get(), replica)
        {
            known.remove();
        }
    }
}
