//! Which blocks were opened early ([`ahead`](super::ahead)).

use std::sync::atomic::{AtomicU64, Ordering};

/// Which block was opened ahead last.
pub(super) struct OpenedAhead(AtomicU64);

impl Default for OpenedAhead {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl OpenedAhead {
    /// Whether the block at `offset` is to be opened: true for the first caller only.
    pub(super) fn take(&self, offset: u64) -> bool {
        self.0.load(Ordering::Relaxed) != offset && self.0.swap(offset, Ordering::Relaxed) != offset
    }
}
