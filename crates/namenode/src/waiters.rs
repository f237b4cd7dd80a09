//! Calls that wait for a block to become complete.
//!
//! Apache's client asks to complete a file, or for the next block, right after the last acknowledgement; the DataNode's
//! report comes a moment later. Told no, that client sleeps 400 ms. So such a call is held until the report that
//! satisfies it arrives.

use hashbrown::HashMap;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::oneshot;
use zerohop_wire::BlockId;

/// The longest a call is held; then it gets the answer it would have got at once.
const HELD_MAX: Duration = Duration::from_millis(1000);

/// Who waits for which block.
#[derive(Default)]
pub(crate) struct Waiters {
    waiting: Mutex<HashMap<BlockId, Vec<oneshot::Sender<()>>>>,
}

impl Waiters {
    /// A wait for a block; to be called under the namespace's lock, so that no report slips in between.
    pub(crate) fn wait_for(&self, block: BlockId) -> Wait {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        let senders = waiting.entry(block).or_default();
        senders.retain(|sender| !sender.is_closed());
        senders.push(sender);
        Wait { block, receiver }
    }

    /// These blocks became complete.
    pub(crate) fn wake(&self, blocks: &[BlockId]) {
        let mut waiting = self.waiting.lock();
        for sender in blocks.iter().filter_map(|block| waiting.remove(block)).flatten() {
            _ = sender.send(());
        }
    }

    /// Forgets a wait that nobody woke.
    fn forget(&self, block: BlockId) {
        let mut waiting = self.waiting.lock();
        if let Some(senders) = waiting.get_mut(&block) {
            senders.retain(|sender| !sender.is_closed());
            if senders.is_empty() {
                waiting.remove(&block);
            }
        }
    }

    /// Waits until the block is complete, or for the longest time allowed: then false.
    pub(crate) async fn woken(&self, wait: Wait) -> bool {
        let Wait { block, receiver } = wait;
        let woken =
            tokio::time::timeout(HELD_MAX, receiver).await.is_ok_and(|result| result.is_ok());
        if !woken {
            self.forget(block);
        }
        woken
    }
}

/// One call's wait.
pub(crate) struct Wait {
    block: BlockId,
    receiver: oneshot::Receiver<()>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wait_ends_with_its_block_only() {
        let waiters = Waiters::default();
        let (first, second) = (waiters.wait_for(BlockId(1)), waiters.wait_for(BlockId(2)));
        waiters.wake(&[BlockId(1)]);
        assert!(waiters.woken(first).await);
        drop(second);
        waiters.forget(BlockId(2));
        assert!(waiters.waiting.lock().is_empty());
    }
}
