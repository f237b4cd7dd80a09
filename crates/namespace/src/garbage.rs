//! Deleted inodes that are still to be freed.

use crate::tree::{Slot, Usage};

/// Subtrees that were taken out of the tree. The directories that they were in are not charged for them any more.
#[derive(Default)]
pub(crate) struct Garbage {
    /// Inodes to free; what is below a directory among them is too.
    open: Vec<Slot>,
    /// Inodes and blocks in all that.
    objects: u64,
}

impl Garbage {
    /// Takes in a subtree by its top.
    pub(crate) fn add(&mut self, top: Slot, usage: &Usage) {
        self.open.push(top);
        let objects = usage.names.saturating_add(usage.blocks);
        self.objects = self.objects.saturating_add(objects.max(0) as u64);
    }

    /// The next inode to look at.
    pub(crate) fn next(&mut self) -> Option<Slot> {
        self.open.pop()
    }

    /// A directory to look at again, after one of its children.
    pub(crate) fn put_back(&mut self, directory: Slot, child: Slot) {
        self.open.extend([directory, child]);
    }

    /// So many inodes and blocks were freed.
    pub(crate) fn freed(&mut self, objects: usize) {
        self.objects = self.objects.saturating_sub(objects as u64);
    }

    /// Inodes and blocks that are still to be freed.
    pub(crate) fn objects(&self) -> u64 {
        self.objects
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
