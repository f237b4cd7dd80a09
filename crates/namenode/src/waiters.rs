//! Calls that wait for a block to become complete.
//!
//! Apache's client asks to complete a file, or for the next block, right after the last acknowledgement; the DataNode's
//! report comes a moment later. Told no, that client sleeps 400 ms. So such a call is held until the report that
//! satisfies it arrives.

use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::Instant;
use zerohop_wire::BlockId;

type Waiting = Mutex<HashMap<BlockId, Vec<oneshot::Sender<()>>>>;

/// Who waits for which block.
#[derive(Default)]
pub(crate) struct Waiters {
    waiting: Arc<Waiting>,
}

impl Waiters {
    /// A wait for a block; to be called under the namespace's lock, so that no report slips in between.
    pub(crate) fn wait_for(&self, block: BlockId) -> Wait {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        let senders = waiting.entry(block).or_default();
        senders.push(sender);
        Wait { block, receiver, waiting: Arc::clone(&self.waiting), is_over: false }
    }

    /// These blocks became complete.
    pub(crate) fn wake(&self, blocks: &[BlockId]) {
        let mut waiting = self.waiting.lock();
        for sender in blocks.iter().filter_map(|block| waiting.remove(block)).flatten() {
            _ = sender.send(());
        }
    }
}

/// One call's wait; forgotten when it is dropped, as when the caller's connection is gone.
pub(crate) struct Wait {
    block: BlockId,
    receiver: oneshot::Receiver<()>,
    waiting: Arc<Waiting>,
    is_over: bool,
}

impl Wait {
    /// Waits until the block is complete, or up to the instant: then false.
    pub(crate) async fn woken_before(mut self, end: Instant) -> bool {
        let woken = tokio::time::timeout_at(end, &mut self.receiver).await;
        self.is_over = woken.is_ok_and(|result| result.is_ok());
        self.is_over
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.receiver.close();
        let mut waiting = self.waiting.lock();
        if let Some(senders) = waiting.get_mut(&self.block) {
            senders.retain(|sender| !sender.is_closed());
            if senders.is_empty() {
                waiting.remove(&self.block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_wait_ends_with_its_block_only() {
        let waiters = Waiters::default();
        let (first, second) = (waiters.wait_for(BlockId(1)), waiters.wait_for(BlockId(2)));
        let third = waiters.wait_for(BlockId(2));
        waiters.wake(&[BlockId(1)]);
        assert!(first.woken_before(Instant::now() + Duration::from_secs(60)).await);
        assert!(!second.woken_before(Instant::now()).await);
        assert_eq!(waiters.waiting.lock().get(&BlockId(2)).map(Vec::len), Some(1));
        // As with the connection of its call.
        drop(third);
        assert!(waiters.waiting.lock().is_empty());
    }
}
