//! What a deletion leaves to be freed.

use crate::tree::Slot;
use zerohop_wire::InodeId;

/// A deleted subtree whose inodes are not all freed.
pub(crate) struct Garbage {
    /// The folder it was in: it and those above are charged until the inodes are freed. None: they are not charged any
    /// more.
    pub folder: Option<InodeId>,
    /// Inodes to free, with the storage policy of the folder each was in.
    pub open: Vec<(Slot, u8)>,
}
