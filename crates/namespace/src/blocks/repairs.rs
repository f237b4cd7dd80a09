//! The steps of the repair of corrupt replicas, for the log: a replica is found, its block is copied, the block is whole.

use super::map::Slot;
use super::types::{BlockState, CorruptReason, NodeIdx, StorageIdx, Storages, StoredBlock};
use hashbrown::HashMap;
use smallvec::SmallVec;
use zerohop_wire::{Block, InodeId};

/// Events that are kept until they are taken; of further ones only the number is.
const EVENTS_MAX: usize = 1000;

/// A corrupt replica that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) node: NodeIdx,
    pub(super) storage: StorageIdx,
    pub(super) reason: CorruptReason,
}

/// A block whose corrupt replicas are not replaced yet.
#[derive(Debug, Default)]
struct Repair {
    found: SmallVec<[Found; 1]>,
    is_copied: bool,
}

/// A step of the repair of a block, with the block.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) block: Block,
    pub(super) file: InodeId,
    pub(super) step: Step,
}

/// A step of a repair.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Found(Found, u32),
    Copied(NodeIdx, Storages),
    Repaired(Found, u32),
}

/// The blocks under repair, and the events that were not logged yet.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    by_slot: HashMap<Slot, Repair>,
    events: Vec<Event>,
    untold: u64,
}

impl Repairs {
    fn note(&mut self, stored: &StoredBlock, step: Step) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(Event { block: stored.block, file: stored.file, step });
        } else {
            self.untold += 1;
        }
    }

    /// Notes a corrupt replica of a complete block that has `good` good replicas, unless the replica is noted already.
    pub(super) fn found(&mut self, slot: Slot, stored: &StoredBlock, found: Found, good: u32) {
        let repair = self.by_slot.entry(slot).or_default();
        let is_known = repair.found.iter().any(|known| known.node == found.node);
        if stored.state == BlockState::Complete && !is_known {
            repair.found.push(found);
            self.note(stored, Step::Found(found, good));
        }
    }

    /// Notes the first copy of a block under repair.
    pub(super) fn copied(
        &mut self,
        slot: Slot,
        stored: &StoredBlock,
        source: NodeIdx,
        targets: &[StorageIdx],
    ) {
        let Some(repair) = self.by_slot.get_mut(&slot) else { return };
        if !std::mem::replace(&mut repair.is_copied, true) {
            self.note(stored, Step::Copied(source, Storages::from_slice(targets)));
        }
    }

    /// Notes that a block has its replicas and none is corrupt, if it was under repair.
    pub(super) fn repaired(&mut self, slot: Slot, stored: &StoredBlock, good: u32) {
        let Some(repair) = self.by_slot.remove(&slot) else { return };
        repair.found.into_iter().for_each(|found| self.note(stored, Step::Repaired(found, good)));
    }

    /// Returns `true` if a block is under repair.
    pub(super) fn is_under_repair(&self, slot: Slot) -> bool {
        self.by_slot.contains_key(&slot)
    }

    /// Forgets a block that was removed.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.by_slot.remove(&slot);
    }

    /// Takes the events since the last call, and the number of those that were not kept.
    pub(super) fn take(&mut self) -> (Vec<Event>, u64) {
        (std::mem::take(&mut self.events), std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::{BlockId, GenerationStamp};

    #[test]
    fn each_step_of_a_repair_is_told_once_and_a_flood_is_counted() {
        let block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 5 };
        let (file, state) = (InodeId(7), BlockState::Complete);
        let stored = StoredBlock { block, file, replication: 2, state };
        let on = |node| Found {
            node: NodeIdx(node),
            storage: StorageIdx(node),
            reason: CorruptReason::Reported,
        };
        let mut repairs = Repairs::default();
        for _ in 0..2 {
            repairs.found(3, &stored, on(0), 1);
            repairs.copied(3, &stored, NodeIdx(1), &[StorageIdx(2)]);
        }
        repairs.repaired(3, &stored, 2);
        repairs.repaired(3, &stored, 2);
        repairs.copied(3, &stored, NodeIdx(1), &[StorageIdx(2)]);
        let (events, untold) = repairs.take();
        let steps: Vec<_> = events.iter().map(|event| &event.step).collect();
        assert!(
            matches!(steps[..], [Step::Found(_, 1), Step::Copied(..), Step::Repaired(_, 2)]),
            "{steps:?}"
        );
        assert_eq!(untold, 0);
        (0..EVENTS_MAX as u32 + 5).for_each(|slot| repairs.found(slot, &stored, on(0), 1));
        let (events, untold) = repairs.take();
        assert_eq!((events.len(), untold), (EVENTS_MAX, 5));
    }
}
