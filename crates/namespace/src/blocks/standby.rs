//! The block manager of a standby.

use super::BlockManager;

impl BlockManager {
    /// Another NameNode orders copies and deletions from here on; what was queued here is for it to find again.
    pub(crate) fn become_standby(&mut self) {
        self.nodes.set_standby(true);
    }

    /// This NameNode orders copies and deletions from here on.
    pub(crate) fn become_active(&mut self) {
        self.nodes.set_standby(false);
        let now_ms = self.now.mono_ms;
        self.redundancy.rounds.expect_work(now_ms);
    }
}
