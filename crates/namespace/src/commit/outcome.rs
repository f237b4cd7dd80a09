//! The result of a committed edit.

use crate::tree::{Slot, Usage};
use smallvec::SmallVec;
use std::sync::Arc;
use zerohop_wire::{BlockId, GenerationStamp};

/// What an edit changed: a call makes its answer from this, and the state that no edit carries follows it.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// The inode that the edit made, changed or moved; none if there was nothing to change.
    pub inode: Option<Slot>,
    /// The subtree that is not part of the namespace any more; its inodes are still to be freed.
    pub deleted: Option<Deleted>,
    /// The client that has the file open from now on, whose lease is renewed.
    pub holder: Option<Arc<str>>,
    /// Blocks that were being written and whose length is final now. They are complete once enough replicas are known.
    pub finished: SmallVec<[BlockId; 2]>,
    /// A complete block that is going to be written or cut: its replicas are what the pipeline or recovery begins with.
    pub reopened: Option<BlockId>,
    /// The block that DataNodes have to cut, and the generation stamp of that recovery.
    pub cut: Option<(BlockId, GenerationStamp)>,
}

impl Committed {
    /// A change of one inode, and nothing else.
    pub(super) fn inode(slot: Slot) -> Self {
        Self { inode: Some(slot), ..Self::default() }
    }
}

/// A subtree that was removed from the tree. The directories above it are no longer charged for it.
#[derive(Debug)]
pub(crate) struct Deleted {
    pub top: Slot,
    pub usage: Usage,
}

/// What a step of freeing a deleted subtree did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freed {
    /// Nothing: this child of the directory must be freed first.
    ChildFirst(Slot),
    /// So many inodes and blocks are freed.
    Objects(usize),
}
