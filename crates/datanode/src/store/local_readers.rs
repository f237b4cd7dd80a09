//! Those who read replicas without asking for each byte: clients of this machine with descriptors of the
//! files, and what is locked in memory for them.

use crate::settings::Settings;
use crate::short_circuit::{BlockCache, BlockKey, Registry};
use std::sync::Arc;

/// The slots of local readers, and the replicas locked in memory.
pub(crate) struct LocalReaders {
    slots: Arc<Registry>,
    cache: Arc<BlockCache>,
}

impl LocalReaders {
    pub(super) fn new(settings: &Settings) -> Self {
        let slots = Registry::new(settings.shm_directories.clone(), settings.shm_limits);
        Self { cache: BlockCache::new(settings.cache_limits, Arc::clone(&slots)), slots }
    }

    /// Who reads replicas through descriptors of their own, and must hear when they change.
    pub(crate) fn slots(&self) -> &Arc<Registry> {
        &self.slots
    }

    /// Replicas locked in memory.
    pub(crate) fn cache(&self) -> &Arc<BlockCache> {
        &self.cache
    }

    /// Tells local readers not to use their descriptors of a block any more. Comes after the change
    /// that keeps new ones from being opened, so that no reader slips through.
    pub(super) fn revoke(&self, block: &BlockKey) {
        self.slots.revoke(block);
        self.cache.unlock(block);
    }
}
