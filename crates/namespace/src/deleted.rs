//! Deleted inodes that are still to be freed.

use crate::commit::{Deleted, DurableState, Freed};
use crate::tree::Slot;

/// Subtrees that were taken out of the namespace and are freed in slices.
#[derive(Default)]
pub(crate) struct DeletedSubtrees {
    /// Inodes to free, with all inodes below them.
    open: Vec<Slot>,
    /// Inodes and blocks in all that.
    objects: u64,
}

impl DeletedSubtrees {
    /// Adds a subtree.
    pub(crate) fn add(&mut self, deleted: &Deleted) {
        self.open.push(deleted.top);
        let objects = deleted.usage.names.saturating_add(deleted.usage.blocks);
        self.objects = self.objects.saturating_add(objects.max(0) as u64);
    }

    /// Frees up to `max` inodes and blocks; true while there are more.
    pub(crate) fn free(&mut self, state: &mut DurableState, max: usize) -> bool {
        let mut left = max;
        while left > 0
            && let Some(slot) = self.open.pop()
        {
            let steps = match state.free_deleted(slot) {
                Freed::ChildFirst(child) => {
                    self.open.extend([slot, child]);
                    1
                }
                Freed::Objects(objects) => {
                    self.objects = self.objects.saturating_sub(objects as u64);
                    objects
                }
            };
            left = left.saturating_sub(steps);
        }
        !self.open.is_empty()
    }

    /// Inodes and blocks that are still to be freed.
    pub(crate) fn objects(&self) -> u64 {
        self.objects
    }
}
