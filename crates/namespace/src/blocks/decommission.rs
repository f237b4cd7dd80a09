//! DataNodes that operators take out of service, or do not admit at all.

use super::leaving::Progress;
use super::walks::SLICE;
use super::{AdminState, BlockManager, DatanodeId, NodeIdx};
use roaring::RoaringBitmap;

/// What the host files say of a DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It serves.
    Allowed,
    /// Its replicas are copied away, then nothing depends on it any more.
    Excluded,
    /// It is away until this instant (ms since 1970).
    Maintenance(u64),
    /// It may not register.
    Refused,
}

impl BlockManager {
    /// The host files were read anew.
    pub fn apply_hosts(&mut self, judge: impl Fn(&DatanodeId) -> Admission) {
        for index in 0..self.nodes.nodes.len() {
            self.apply_host(NodeIdx(index as u32), &judge);
        }
    }

    /// As [`BlockManager::apply_hosts`], for one DataNode: it has just registered.
    pub fn apply_host(&mut self, node: NodeIdx, judge: impl Fn(&DatanodeId) -> Admission) {
        let Some(known) = self.nodes.node(node) else { return };
        let (uuid, admin) = (known.id.uuid.clone(), known.admin);
        let leaving =
            matches!(admin, AdminState::DecommissionInProgress | AdminState::Decommissioned);
        let alive = known.alive;
        match judge(&known.id) {
            Admission::Maintenance(until_ms) if until_ms > self.now.wall_ms => {
                self.start_maintenance(node, until_ms);
            }
            Admission::Allowed | Admission::Maintenance(_) if admin != AdminState::Normal => {
                self.end_maintenance(node, AdminState::Normal);
            }
            Admission::Excluded if !leaving => {
                // Nothing can be copied from a dead one, and it holds nothing that counts.
                let next = if alive {
                    AdminState::DecommissionInProgress
                } else {
                    AdminState::Decommissioned
                };
                self.end_maintenance(node, next);
            }
            Admission::Refused => self.remove_node(&uuid),
            Admission::Allowed | Admission::Excluded | Admission::Maintenance(_) => {}
        }
    }

    /// Looks again which DataNodes may leave service now: a slice of their blocks at once, the rest with
    /// [`BlockManager::continue_walks`]. [`BlockManager::take_admin_changes`] tells who left.
    pub fn check_leaving(&mut self) {
        self.end_expired_maintenance();
        for node in (0..self.nodes.nodes.len() as u32).map(NodeIdx) {
            let admin = self.nodes.node(node).map(|known| known.admin);
            if let Some(AdminState::DecommissionInProgress | AdminState::EnteringMaintenance) =
                admin
            {
                self.leaving.resume(node);
            }
        }
        self.scan_leaving(SLICE);
    }

    /// DataNodes that left service, or came back because their maintenance is over, since the last call: their names and new
    /// states.
    pub fn take_admin_changes(&mut self) -> Vec<(String, AdminState)> {
        self.leaving.take_changes()
    }

    /// Whether blocks of DataNodes that leave service are still to be looked at. Before safe mode ends nothing can be said:
    /// reports are missing.
    pub(super) fn has_leaving_to_scan(&self) -> bool {
        !self.safe_mode.is_on() && self.leaving.next().is_some()
    }

    /// Looks at up to `max` blocks of DataNodes that leave service; how many may still be looked at.
    pub(super) fn scan_leaving(&mut self, max: usize) -> usize {
        let mut left = max;
        while left > 0
            && self.has_leaving_to_scan()
            && let Some(node) = self.leaving.next()
        {
            left = self.scan_leaving_node(node, left);
        }
        left
    }

    fn scan_leaving_node(&mut self, node: NodeIdx, left: usize) -> usize {
        let Some(known) = self.nodes.node(node) else {
            self.leaving.drop_scan(node);
            return left;
        };
        if !self.is_accounted_for(node) {
            self.leaving.wait(node);
            return left;
        }
        let admin = known.admin;
        let mut leaving = std::mem::take(&mut self.leaving);
        let storages = known.storages.iter().filter_map(|storage| self.nodes.storage(*storage));
        let storages: Vec<&RoaringBitmap> = storages.map(|storage| &storage.blocks).collect();
        let is_enough = |slot| match admin {
            AdminState::EnteringMaintenance => self.replicas().allows_maintenance(slot),
            _ => self.replicas().allows_decommission(slot),
        };
        let (progress, left) = leaving.advance(node, &storages, left, is_enough);
        self.leaving = leaving;
        self.leave(node, admin, progress);
        left.saturating_sub(1)
    }

    /// What a DataNode's scan means for its state.
    fn leave(&mut self, node: NodeIdx, admin: AdminState, progress: Progress) {
        if progress == Progress::Unfinished {
            return;
        }
        let next = match (admin, progress) {
            (AdminState::DecommissionInProgress, Progress::Done) => AdminState::Decommissioned,
            (AdminState::EnteringMaintenance, Progress::Done) => AdminState::InMaintenance,
            // It came back with what others lack: it has to wait again.
            (AdminState::Decommissioned, Progress::Needed) => AdminState::DecommissionInProgress,
            (AdminState::DecommissionInProgress | AdminState::EnteringMaintenance, _) => return,
            _ => return self.leaving.drop_scan(node),
        };
        self.mark_admin_state(node, next);
        if progress == Progress::Done
            && let Some(known) = self.nodes.node(node)
        {
            self.leaving.note_change(known.id.xfer_addr(), next);
        }
    }

    /// What a DataNode holds is known: it reported every storage, and lives. Of a dead one nothing is known any more,
    /// so there must be no block that might need it.
    pub(super) fn is_accounted_for(&self, node: NodeIdx) -> bool {
        let Some(known) = self.nodes.node(node) else { return false };
        let storages = known.storages.iter().filter_map(|storage| self.nodes.storage(*storage));
        let mut working = storages.filter(|storage| !storage.failed).peekable();
        let is_reported = working.peek().is_some() && working.all(|storage| storage.reports > 0);
        is_reported && (known.alive || self.walks.is_empty() && self.redundancy.is_all_well())
    }

    /// A DataNode that was done with reports: if it holds what others lack, it has to wait again.
    pub(super) fn doubt_decommissioned(&mut self, node: NodeIdx) {
        let is_done =
            |known: &super::node::Node| known.alive && known.admin == AdminState::Decommissioned;
        if self.nodes.node(node).is_some_and(is_done) {
            self.leaving.drop_scan(node);
            self.leaving.resume(node);
            self.scan_leaving(SLICE);
            self.continue_storage_walks();
        }
    }
}
