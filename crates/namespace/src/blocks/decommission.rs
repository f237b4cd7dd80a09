//! DataNodes that operators take out of service, or do not admit at all.

use super::{AdminState, BlockManager, BlockState, DatanodeId, NodeIdx};

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

    /// DataNodes whose blocks all have enough replicas elsewhere are done with; returns their names.
    pub fn finish_decommissions(&mut self) -> Vec<String> {
        // Before safe mode ends nothing can be said: reports are missing.
        if self.safe_mode.is_on() {
            return Vec::new();
        }
        let leaving = |node: &NodeIdx| {
            let known = self.nodes.node(*node);
            known.is_some_and(|known| known.admin == AdminState::DecommissionInProgress)
        };
        let all = (0..self.nodes.nodes.len() as u32).map(NodeIdx);
        let done: Vec<NodeIdx> = all
            .filter(leaving)
            .filter(|node| self.is_accounted_for(*node) && self.is_superfluous(*node))
            .collect();
        let mut names = Vec::with_capacity(done.len());
        for node in done {
            if let Some(known) = self.nodes.node_mut(node) {
                known.admin = AdminState::Decommissioned;
                names.push(known.id.xfer_addr());
            }
        }
        names
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

    /// Every block of a DataNode has enough replicas on those that stay: as many as it should, or as files get by default;
    /// a block that is being written as many as it needs to become complete.
    fn is_superfluous(&self, node: NodeIdx) -> bool {
        let Some(known) = self.nodes.node(node) else { return false };
        let storages = known.storages.iter().filter_map(|storage| self.nodes.storage(*storage));
        let mut slots = storages.flat_map(|storage| storage.blocks.iter());
        let params = &self.params;
        slots.all(|slot| {
            let enough = match self.map.get(slot) {
                Some(entry) if entry.state() == BlockState::Complete => {
                    entry.replication().min(params.replication_default)
                }
                Some(_) => params.replication_min,
                None => 0,
            };
            self.count(slot).live >= u32::from(enough)
        })
    }

    /// A DataNode that was done with reports: if it holds what others lack, it has to wait again.
    pub(super) fn doubt_decommissioned(&mut self, node: NodeIdx) {
        let is_done =
            |known: &super::node::Node| known.alive && known.admin == AdminState::Decommissioned;
        let Some(known) = self.nodes.node(node).filter(|known| is_done(known)) else { return };
        let uuid = known.id.uuid.clone();
        if !self.safe_mode.is_on() && !self.is_superfluous(node) {
            self.set_admin_state(&uuid, AdminState::DecommissionInProgress);
        }
    }
}
