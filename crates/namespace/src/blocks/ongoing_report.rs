//! A full report of one storage while it is taken in: others get the namespace's lock between two slices of it.

use super::map::Slot;
use hashbrown::HashSet;
use roaring::RoaringBitmap;
use zerohop_wire::BlockId;

/// The replicas that a full report has not listed yet, and the blocks of incremental reports that arrived since it began.
#[derive(Debug)]
pub(super) struct OngoingReport {
    number: u64,
    /// Replicas that were known when the report began, that it has not listed, and of which nothing was heard since.
    unlisted: RoaringBitmap,
    /// Blocks of these incremental reports, which are newer than the full report.
    overtaken: HashSet<BlockId>,
}

impl OngoingReport {
    /// A report on a storage that is known to have replicas of these blocks.
    pub(super) fn new(number: u64, known: RoaringBitmap) -> Self {
        Self { number, unlisted: known, overtaken: HashSet::new() }
    }

    /// Which report of the storage it is.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The report lists a replica, or the replica was added or removed since the report began.
    pub(super) fn listed(&mut self, slot: Slot) {
        self.unlisted.remove(slot);
    }

    /// An incremental report about a block arrived; `slot` is the block's if it is known.
    pub(super) fn overtake(&mut self, id: BlockId, slot: Option<Slot>) {
        self.overtaken.insert(id);
        if let Some(slot) = slot {
            self.listed(slot);
        }
    }

    /// Whether what the report says of a block is older than what is known.
    pub(super) fn is_overtaken(&self, id: BlockId) -> bool {
        self.overtaken.contains(&id)
    }

    /// After all of the report was read: up to `max` replicas that are not there any more.
    pub(super) fn gone(&self, max: usize) -> Vec<Slot> {
        self.unlisted.iter().take(max).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_listed_nor_told_of_since_is_gone() {
        let mut report = OngoingReport::new(1, (0..5).collect());
        report.listed(0);
        report.overtake(BlockId(9), Some(2));
        report.overtake(BlockId(8), None);
        assert!(report.is_overtaken(BlockId(8)) && !report.is_overtaken(BlockId(7)));
        assert_eq!(report.gone(2), [1, 3]);
        report.listed(1);
        assert_eq!(report.gone(9), [3, 4]);
    }
}
