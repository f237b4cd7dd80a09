//! Replicas that are verified first, because reading them failed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};
use zerohop_wire::ExtendedBlock;

/// A replica is not verified a second time within this time, however often it is named.
const RECENT: Duration = Duration::from_secs(10 * 60);
/// So many are remembered for that.
const RECENT_MAX: usize = 1000;

/// The replicas of one volume that are verified first.
#[derive(Default)]
pub(super) struct SuspectBlocks {
    waiting: VecDeque<ExtendedBlock>,
    recent: VecDeque<(Instant, ExtendedBlock)>,
}

impl SuspectBlocks {
    /// Adds a replica, unless it waits or was verified just now; true if it was added.
    pub(super) fn add(&mut self, block: &ExtendedBlock, now: Instant) -> bool {
        while self.recent.front().is_some_and(|(added, _)| now.duration_since(*added) >= RECENT) {
            self.recent.pop_front();
        }
        let is_same =
            |known: &ExtendedBlock| known.block.id == block.block.id && known.pool == block.pool;
        if self.recent.iter().any(|(_, known)| is_same(known)) {
            return false;
        }
        if self.recent.len() >= RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back((now, block.clone()));
        self.waiting.push_back(block.clone());
        true
    }

    /// The replica that has waited longest.
    pub(super) fn take(&mut self) -> Option<ExtendedBlock> {
        self.waiting.pop_front()
    }

    /// Whether any waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::{Block, BlockId, GenerationStamp};

    #[test]
    fn a_replica_that_every_reader_names_is_verified_once_in_ten_minutes() {
        let block = |id| ExtendedBlock {
            pool: "BP-1".into(),
            block: Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 1 },
        };
        let (mut suspects, now) = (SuspectBlocks::default(), Instant::now());
        assert!(suspects.add(&block(1), now) && suspects.add(&block(2), now));
        assert!(!suspects.add(&block(1), now));
        assert_eq!(suspects.take(), Some(block(1)));
        assert!(!suspects.add(&block(1), now + RECENT / 2));
        assert!(suspects.add(&block(1), now + RECENT));
        assert_eq!([suspects.take(), suspects.take()], [Some(block(2)), Some(block(1))]);
        assert!(suspects.is_empty());
    }
}
