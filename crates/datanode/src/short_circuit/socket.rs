//! The state of the domain socket.

use super::descriptor_counts::DescriptorCounts;
use parking_lot::RwLock;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

/// How the domain socket is, for pages and logs.
#[derive(Debug, Default)]
pub(crate) struct SocketState {
    /// Where it listens; `None` when none is configured.
    pub(crate) path: RwLock<Option<PathBuf>>,
    /// Connections it accepted.
    pub(crate) accepted: AtomicU64,
    /// What is wrong with it now.
    pub(crate) problem: RwLock<Option<String>>,
    /// What clients asked for over it, or over TCP by mistake.
    pub(crate) descriptors: DescriptorCounts,
}
