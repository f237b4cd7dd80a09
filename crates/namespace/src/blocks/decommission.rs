//! DataNodes that operators take out of service, or do not admit at all.

use super::{AdminState, BlockManager, BlockState, DatanodeId, NodeIdx};

/// What the host files say of a DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It serves.
    Allowed,
    /// Its replicas are copied away, then nothing depends on it any more.
    Excluded,
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
        match judge(&known.id) {
            Admission::Allowed if leaving => self.set_admin_state(&uuid, AdminState::Normal),
            Admission::Excluded if !leaving => {
                self.set_admin_state(&uuid, AdminState::DecommissionInProgress);
            }
            Admission::Refused => self.remove_node(&uuid),
            Admission::Allowed | Admission::Excluded => {}
        }
    }

    /// DataNodes whose blocks all have enough replicas elsewhere are done with; returns their names.
    pub fn finish_decommissions(&mut self) -> Vec<String> {
        let leaving = |node: &NodeIdx| {
            let known = self.nodes.node(*node);
            known.is_some_and(|known| known.admin == AdminState::DecommissionInProgress)
        };
        let all = (0..self.nodes.nodes.len() as u32).map(NodeIdx);
        let done: Vec<NodeIdx> =
            all.filter(leaving).filter(|node| self.is_superfluous(*node)).collect();
        let mut names = Vec::with_capacity(done.len());
        for node in done {
            if let Some(known) = self.nodes.node_mut(node) {
                known.admin = AdminState::Decommissioned;
                names.push(known.id.xfer_addr());
            }
        }
        names
    }

    /// Before safe mode ends nothing can be said: reports are missing.
    fn is_superfluous(&self, node: NodeIdx) -> bool {
        let Some(known) = self.nodes.node(node).filter(|_| !self.safe_mode.is_on()) else {
            return false;
        };
        let storages = known.storages.iter().filter_map(|storage| self.nodes.storage(*storage));
        let mut slots = storages.flat_map(|storage| storage.blocks.iter());
        slots.all(|slot| match self.map.get(slot) {
            Some(entry) if entry.state() == BlockState::Complete => {
                self.count(slot).live >= u32::from(entry.replication())
            }
            Some(_) => self.has_min(slot),
            None => true,
        })
    }
}
