//! The block manager of a standby.

use super::BlockManager;
use super::pending_messages::Message;
use crate::ids::Ids;
use zerohop_wire::BlockId;

impl BlockManager {
    /// Another NameNode orders copies and deletions from here on; what was queued here is for it to find again. `ids` are
    /// the counters after the last edit.
    pub(crate) fn become_standby(&mut self, ids: &Ids) {
        self.nodes.set_standby(true);
        self.pending_messages.set_ids(ids);
    }

    /// This NameNode has all edits, and orders copies and deletions from here on.
    pub(crate) fn become_active(&mut self) {
        self.nodes.set_standby(false);
        self.take_pending_messages(&self.pending_messages.blocks());
        self.redundancy.rounds.expect_work(self.now.mono_ms);
    }

    /// A standby applied an edit about these blocks: DataNodes may have told of them before.
    pub(crate) fn edit_applied(&mut self, ids: &Ids, blocks: &[BlockId]) {
        self.pending_messages.set_ids(ids);
        self.take_pending_messages(blocks);
    }

    /// Takes in what DataNodes told of these blocks. What is still too early waits again.
    fn take_pending_messages(&mut self, blocks: &[BlockId]) {
        for block in blocks {
            for (storage, message) in self.pending_messages.take(*block) {
                match message {
                    Message::Reported(replica, origin) => {
                        self.reported(storage, replica, origin);
                    }
                    Message::Deleted(block) => self.deleted(storage, block),
                }
            }
        }
        self.check_safe_mode();
    }

    /// Whether another NameNode orders copies and deletions.
    pub(crate) fn is_standby(&self) -> bool {
        self.nodes.is_standby()
    }

    /// Messages of DataNodes that wait for an edit.
    pub fn pending_messages(&self) -> usize {
        self.pending_messages.count()
    }
}
