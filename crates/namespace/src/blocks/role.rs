//! The change of this NameNode from standby to active and back, which forgets decisions.

use super::cached::Caches;
use super::construction::Constructions;
use super::pending_messages::PendingMessages;
use super::report_lease::ReportLeases;
use super::stored::StoredReplicas;
use crate::ids::Ids;

/// The parts that hold decisions of the active NameNode.
pub(super) struct RoleChange<'a> {
    pub(super) replicas: StoredReplicas<'a>,
    pub(super) constructions: &'a mut Constructions,
    pub(super) caches: &'a mut Caches,
    pub(super) pending_messages: &'a mut PendingMessages,
    pub(super) report_leases: &'a mut ReportLeases,
}

impl RoleChange<'_> {
    /// Makes this NameNode a standby (`FSNamesystem.stopActiveServices`). `ids` are the counters after the last edit.
    pub(super) fn hand_over(&mut self, ids: &Ids) {
        self.forget_decisions();
        self.replicas.nodes.set_standby(true);
        self.pending_messages.set_ids(ids);
        self.replicas.safe_mode.metadata_reached(ids.stamp);
    }

    /// Makes this NameNode the active one (`FSNamesystem.startActiveServices`).
    pub(super) fn take_over(&mut self) {
        self.forget_decisions();
        self.replicas.nodes.set_standby(false);
        // DataNodes may have begun reports while the other NameNode still gave orders.
        self.report_leases.revoke();
        // What is newer than all edits was never acknowledged: its edit was lost with the NameNode that was active before.
        self.replicas.safe_mode.expect_newer_blocks();
        if !self.replicas.safe_mode.is_starting() {
            self.replicas.redundancy.populate();
        }
        self.replicas.redundancy.rounds.expect_work(self.replicas.now.mono_ms);
    }

    /// Forgets the copies, deletions, recoveries and orders to cache that this NameNode decided on
    /// (`BlockManager.clearQueues`).
    fn forget_decisions(&mut self) {
        let pending = self.replicas.redundancy.all_pending();
        let pending: Vec<_> = pending.map(|(slot, ..)| slot).collect();
        pending.into_iter().for_each(|slot| self.replicas.give_up_copies(slot));
        self.replicas.redundancy.clear();
        self.replicas.walks.cancel_rechecks();
        self.constructions.forget_recoveries();
        self.caches.forget_orders();
    }
}
