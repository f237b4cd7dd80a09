//! Blocks that were moved a short time ago.

use std::collections::HashSet;
use std::time::{Duration, Instant};
use zerohop_wire::BlockId;

/// Blocks that were moved a short time ago: for at least one window and at most two.
#[derive(Debug)]
pub(crate) struct MovedBlocks {
    window: Duration,
    current: HashSet<BlockId>,
    old: HashSet<BlockId>,
    /// When the current window began.
    began: Instant,
}

impl MovedBlocks {
    pub(crate) fn new(window: Duration, now: Instant) -> Self {
        Self { window, current: HashSet::new(), old: HashSet::new(), began: now }
    }

    pub(crate) fn add(&mut self, block: BlockId) {
        self.current.insert(block);
    }

    pub(crate) fn has(&self, block: BlockId) -> bool {
        self.current.contains(&block) || self.old.contains(&block)
    }

    /// Forgets the old window if the current one is over.
    pub(crate) fn forget_old(&mut self, now: Instant) {
        if now.saturating_duration_since(self.began) >= self.window {
            self.old = std::mem::take(&mut self.current);
            self.began = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_remembered_for_one_window_at_least_and_two_at_most() {
        let (start, window) = (Instant::now(), Duration::from_secs(10));
        let mut moved = MovedBlocks::new(window, start);
        moved.add(BlockId(1));
        moved.forget_old(start + window / 2);
        assert!(moved.has(BlockId(1)));
        moved.forget_old(start + window);
        assert!(moved.has(BlockId(1)) && !moved.has(BlockId(2)));
        moved.forget_old(start + 2 * window);
        assert!(!moved.has(BlockId(1)));
    }
}
