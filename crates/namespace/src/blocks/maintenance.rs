//! DataNodes that are away for a while: their replicas count, and are copied only as far as
//! `dfs.namenode.maintenance.replication.min` asks.

use super::{AdminState, BlockManager, NodeIdx};

/// Wall-clock milliseconds that stand for a maintenance without an end.
pub const NO_EXPIRY_MS: u64 = u64::MAX;

impl BlockManager {
    /// An operator takes a DataNode away until this instant (ms since 1970). Of one that is dead nothing can be copied: it is
    /// in maintenance at once.
    pub(super) fn start_maintenance(&mut self, node: NodeIdx, until_ms: u64) {
        let Some(known) = self.nodes.node_mut(node) else { return };
        known.maintenance_until_ms = until_ms;
        if known.admin.is_maintenance() {
            return;
        }
        let is_nothing_to_copy = !known.alive || known.admin == AdminState::Decommissioned;
        let next = if is_nothing_to_copy {
            AdminState::InMaintenance
        } else {
            AdminState::EnteringMaintenance
        };
        self.set_admin_state_of(node, next);
    }

    /// A DataNode serves again, or is decommissioned. A dead one's replicas were counted as long as it was in maintenance.
    pub(super) fn end_maintenance(&mut self, node: NodeIdx, next: AdminState) {
        let Some(known) = self.nodes.node(node) else { return };
        let (alive, was_away) = (known.alive, known.admin.is_maintenance());
        self.set_admin_state_of(node, next);
        if was_away && !alive {
            self.drop_replicas_of(node);
        }
    }

    /// DataNodes whose maintenance is over serve again.
    pub(super) fn end_expired_maintenance(&mut self) {
        for node in (0..self.nodes.nodes.len() as u32).map(NodeIdx) {
            let now_ms = self.now.wall_ms;
            let is_over = |known: &&super::node::Node| {
                known.admin.is_maintenance() && known.maintenance_until_ms <= now_ms
            };
            if let Some(known) = self.nodes.node(node).filter(is_over) {
                let name = known.id.xfer_addr();
                self.end_maintenance(node, AdminState::Normal);
                self.leaving.note_change(name, AdminState::Normal);
            }
        }
    }
}
