//! DataNodes that operators take out of service for good or for a while, or do not admit at all. The replicas of one that is
//! away for a while count, and are copied only as far as `dfs.namenode.maintenance.replication.min` asks.

use super::datanode_manager::DatanodeManager;
use super::leaving::{LeavingScans, Progress};
use super::node::Node;
use super::stored::StoredReplicas;
use super::types::{AdminState, DatanodeId, NodeIdx};
use super::walks::SLICE;
use roaring::RoaringBitmap;

/// Wall-clock milliseconds that stand for a maintenance without an end.
pub const NO_EXPIRY_MS: u64 = u64::MAX;

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

/// Decommissioning and maintenance (`DatanodeAdminManager`).
pub struct DatanodeAdmin<'a> {
    pub(super) datanodes: DatanodeManager<'a>,
    pub(super) leaving: &'a mut LeavingScans,
}

impl<'a> DatanodeAdmin<'a> {
    fn replicas(&self) -> &StoredReplicas<'a> {
        &self.datanodes.replicas
    }

    fn node(&self, node: NodeIdx) -> Option<&Node> {
        self.replicas().nodes.node(node)
    }

    /// The host files were read anew.
    pub fn apply_hosts(&mut self, judge: impl Fn(&DatanodeId) -> Admission) {
        self.replicas().nodes.indexes().for_each(|node| self.apply_host(node, &judge));
    }

    /// As [`DatanodeAdmin::apply_hosts`], for one DataNode: it has just registered.
    pub fn apply_host(&mut self, node: NodeIdx, judge: impl Fn(&DatanodeId) -> Admission) {
        let Some(known) = self.node(node) else { return };
        let (uuid, admin) = (known.id.uuid.clone(), known.admin);
        let leaving =
            matches!(admin, AdminState::DecommissionInProgress | AdminState::Decommissioned);
        let alive = known.alive;
        match judge(&known.id) {
            Admission::Maintenance(until_ms) if until_ms > self.replicas().now.wall_ms => {
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
            Admission::Refused => self.datanodes.remove(&uuid),
            Admission::Allowed | Admission::Excluded | Admission::Maintenance(_) => {}
        }
    }

    /// An operator takes a DataNode away until this instant (ms since 1970). Of one that is dead nothing can be copied: it is
    /// in maintenance at once.
    fn start_maintenance(&mut self, node: NodeIdx, until_ms: u64) {
        let Some(known) = self.datanodes.replicas.nodes.node_mut(node) else { return };
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
        self.set_admin_state(node, next);
    }

    /// A DataNode serves again, or is decommissioned. A dead one's replicas were counted as long as it was in maintenance.
    fn end_maintenance(&mut self, node: NodeIdx, next: AdminState) {
        let Some(known) = self.node(node) else { return };
        let (alive, was_away) = (known.alive, known.admin.is_maintenance());
        self.set_admin_state(node, next);
        if was_away && !alive {
            self.datanodes.drop_replicas_of(node);
        }
    }

    /// DataNodes whose maintenance is over serve again.
    fn end_expired_maintenance(&mut self) {
        for node in self.replicas().nodes.indexes() {
            let now_ms = self.replicas().now.wall_ms;
            let is_over = |known: &&Node| {
                known.admin.is_maintenance() && known.maintenance_until_ms <= now_ms
            };
            if let Some(known) = self.node(node).filter(is_over) {
                let name = known.id.xfer_addr();
                self.end_maintenance(node, AdminState::Normal);
                self.leaving.note_change(name, AdminState::Normal);
            }
        }
    }

    /// Stores what an operator wants of a DataNode: no new replica goes to one that leaves, and its replicas are copied
    /// away.
    fn set_admin_state(&mut self, node: NodeIdx, admin: AdminState) {
        self.mark_admin_state(node, admin);
        self.datanodes.replicas.continue_storage_walks();
    }

    /// As [`DatanodeAdmin::set_admin_state`]; the DataNode's blocks are looked at by
    /// [`BlockManager::continue_walks`](super::BlockManager::continue_walks) only.
    fn mark_admin_state(&mut self, node: NodeIdx, admin: AdminState) {
        self.leaving.drop_scan(node);
        let StoredReplicas { nodes, walks, .. } = &mut self.datanodes.replicas;
        let Some(known) = nodes.node_mut(node) else { return };
        known.admin = admin;
        known.storages.iter().for_each(|storage| walks.recheck(*storage));
        nodes.reindex(node);
    }

    /// Looks again which DataNodes may leave service now: a slice of their blocks at once, the rest with
    /// [`BlockManager::continue_walks`](super::BlockManager::continue_walks).
    /// [`BlockManager::take_admin_changes`](super::BlockManager::take_admin_changes) tells who left.
    pub fn check_leaving(&mut self) {
        self.end_expired_maintenance();
        for node in self.replicas().nodes.indexes() {
            let admin = self.node(node).map(|known| known.admin);
            if let Some(AdminState::DecommissionInProgress | AdminState::EnteringMaintenance) =
                admin
            {
                self.leaving.resume(node);
            }
        }
        self.scan_leaving(SLICE);
    }

    /// Whether blocks of DataNodes that leave service are still to be looked at. Before safe mode ends the answer is no:
    /// reports are missing.
    pub(super) fn has_leaving_to_scan(&self) -> bool {
        !self.replicas().safe_mode.is_on() && self.leaving.next().is_some()
    }

    /// Looks at up to `max` blocks of DataNodes that leave service.
    pub(super) fn scan_leaving(&mut self, max: usize) {
        let mut left = max;
        while left > 0
            && self.has_leaving_to_scan()
            && let Some(node) = self.leaving.next()
        {
            left = self.scan_leaving_node(node, left);
        }
    }

    fn scan_leaving_node(&mut self, node: NodeIdx, left: usize) -> usize {
        let nodes = &self.datanodes.replicas.nodes;
        let Some(known) = nodes.node(node) else {
            self.leaving.drop_scan(node);
            return left;
        };
        if !self.is_accounted_for(node) {
            self.leaving.wait(node);
            return left;
        }
        let admin = known.admin;
        let storages = known.storages.iter().filter_map(|storage| nodes.storage(*storage));
        let storages: Vec<&RoaringBitmap> = storages.map(|storage| &storage.blocks).collect();
        let replicas = self.datanodes.replicas.view();
        let is_enough = |slot| match admin {
            AdminState::EnteringMaintenance => replicas.allows_maintenance(slot),
            _ => replicas.allows_decommission(slot),
        };
        let (progress, left) = self.leaving.advance(node, &storages, left, is_enough);
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
        let name = self.node(node).map(|known| known.id.xfer_addr());
        if let Some(name) = name.filter(|_| progress == Progress::Done) {
            self.leaving.note_change(name, next);
        }
    }

    /// What a DataNode holds is known: it reported every storage, and lives. Of a dead one nothing is known any more,
    /// so there must be no block that might need it.
    fn is_accounted_for(&self, node: NodeIdx) -> bool {
        let StoredReplicas { nodes, walks, redundancy, .. } = self.replicas();
        let Some(known) = nodes.node(node) else { return false };
        let storages = known.storages.iter().filter_map(|storage| nodes.storage(*storage));
        let mut working = storages.filter(|storage| !storage.failed).peekable();
        let is_reported =
            working.peek().is_some() && working.all(|storage| storage.reports.is_reported());
        is_reported && (known.alive || walks.is_empty() && redundancy.is_all_well())
    }

    /// A DataNode that was done with reports: if it holds what others lack, it has to wait again.
    pub(super) fn recheck_decommissioned(&mut self, node: NodeIdx) {
        let is_done = |known: &Node| known.alive && known.admin == AdminState::Decommissioned;
        if self.node(node).is_some_and(is_done) {
            self.leaving.drop_scan(node);
            self.leaving.resume(node);
            self.scan_leaving(SLICE);
            self.datanodes.replicas.continue_storage_walks();
        }
    }
}
