//! What is held, by name.

use std::sync::Arc;
use zerohop_wire::{BlockId, ExtendedBlock};

/// A block of a pool; its stamp and length do not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BlockKey {
    pub(crate) pool: Arc<str>,
    pub(crate) id: BlockId,
}

impl From<&ExtendedBlock> for BlockKey {
    fn from(block: &ExtendedBlock) -> Self {
        Self { pool: Arc::clone(&block.pool), id: block.block.id }
    }
}
