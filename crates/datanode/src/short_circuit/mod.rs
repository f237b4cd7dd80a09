//! Short-circuit reads, the DataNode's side: who holds descriptors of which replicas, and how they
//! are told to let go.

mod cache;
mod listing;
mod registry;
#[cfg(test)]
mod registry_test;

pub(crate) use cache::{BlockCache, CacheLimits, system_limit};
pub(crate) use listing::listing;
#[cfg(test)]
pub(crate) use registry::Lease;
pub(crate) use registry::{Limits, Registry};

use parking_lot::RwLock;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use zerohop_wire::{BlockId, ExtendedBlock};

/// A block of a pool, whatever its stamp and length.
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

/// How the domain socket is, for pages and logs.
#[derive(Debug, Default)]
pub(crate) struct SocketState {
    /// Where it listens; `None` when none is configured.
    pub(crate) path: RwLock<Option<PathBuf>>,
    /// Connections it accepted.
    pub(crate) accepted: AtomicU64,
    /// What is wrong with it now.
    pub(crate) problem: RwLock<Option<String>>,
}
