//! What is kept of a block while it is written or recovered.

use super::types::StorageIdx;
use smallvec::SmallVec;
use zerohop_wire::{Block, GenerationStamp};

/// One replica of a block under construction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) storage: StorageIdx,
    pub(super) stamp: GenerationStamp,
    /// It has been asked to lead a recovery.
    pub(super) led: bool,
    /// The pipeline or the recovery goes on without it: it is only kept in mind to be deleted.
    pub(super) left_out: bool,
}

impl Expected {
    pub(super) fn new(storage: StorageIdx, stamp: GenerationStamp) -> Self {
        Self { storage, stamp, led: false, left_out: false }
    }
}

/// What is kept of a block only while it is not complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Construction {
    pub(super) replicas: SmallVec<[Expected; 3]>,
    pub(super) recovery: Option<Recovery>,
    /// Its targets count as being sent to: they are new, not reopened or found after a start.
    pub(super) is_scheduled: bool,
}

/// A recovery under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The stamp the block gets; answers with another belong to an older try.
    pub stamp: GenerationStamp,
    /// For a truncate: what the block shall become.
    pub truncate: Option<Block>,
    /// When the last leader was asked, on the caller's steady clock; none if no replica was known.
    pub(super) started_ms: Option<u64>,
}

impl Recovery {
    /// Whether a DataNode was asked since this NameNode started. What one answers that was asked before
    /// must not count: others may have been asked later, under stamps that no edit tells of, and would
    /// change the replicas afterwards.
    pub fn is_asked(&self) -> bool {
        self.started_ms.is_some()
    }
}

impl Construction {
    pub(super) fn with_targets(stamp: GenerationStamp, targets: &[StorageIdx]) -> Self {
        let expected = |storage: &StorageIdx| Expected::new(*storage, stamp);
        Self { replicas: targets.iter().map(expected).collect(), ..Self::default() }
    }

    /// The replicas that take part.
    pub(super) fn storages(&self) -> impl Iterator<Item = StorageIdx> + '_ {
        self.replicas.iter().filter(|replica| !replica.left_out).map(|replica| replica.storage)
    }

    /// All storages known, those left out too.
    pub(super) fn all_storages(&self) -> impl Iterator<Item = StorageIdx> + '_ {
        self.replicas.iter().map(|replica| replica.storage)
    }

    pub(super) fn replicas_of(
        &self,
        stamp: GenerationStamp,
    ) -> impl Iterator<Item = StorageIdx> + '_ {
        let current = self.replicas.iter().filter(move |replica| replica.stamp == stamp);
        current.map(|replica| replica.storage)
    }

    pub(super) fn stale_replicas(
        &self,
        stamp: GenerationStamp,
    ) -> impl Iterator<Item = StorageIdx> + '_ {
        self.replicas
            .iter()
            .filter(move |replica| replica.stamp != stamp)
            .map(|replica| replica.storage)
    }
}
