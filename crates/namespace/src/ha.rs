//! What becomes different when the NameNode becomes active, or a standby.

use crate::Namespace;
use crate::blocks::Now;

impl Namespace {
    /// This namespace follows the edits of another NameNode from here on: DataNodes get no commands, and what they report of
    /// blocks waits until those blocks' edits have been applied.
    pub fn become_standby(&mut self) {
        let ids = *self.state.ids();
        self.state.blocks_mut().become_standby(&ids);
    }

    /// All edits of the NameNode that was active before have been applied. No client could renew its lease here, so all
    /// count as renewed now.
    pub fn become_active(&mut self, now: Now) {
        self.lease_clock.start(now.mono_ms);
        self.state.blocks_mut().become_active();
    }
}
