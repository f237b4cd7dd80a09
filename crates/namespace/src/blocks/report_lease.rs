//! Leases for full block reports: so many DataNodes may report at once, the others ask again with
//! their next heartbeat (`BlockReportLeaseManager`).

use super::node::ReportLease;
use super::{BlockManager, NodeIdx};

impl BlockManager {
    /// A lease for a DataNode, in place of one it has; 0 if enough others report now.
    pub(super) fn lend_report(&mut self, node: NodeIdx) -> u64 {
        let now_ms = self.now.mono_ms;
        let id = self.random.next() | 1;
        if let Some(known) = self.nodes.node_mut(node) {
            known.report_lease = ReportLease::default();
        }
        let lent = self.nodes.nodes.iter().filter(|node| node.report_lease.holds(now_ms)).count();
        if lent >= self.params.report_leases_max {
            return 0;
        }
        let until_ms = now_ms.saturating_add(self.params.report_lease_ms);
        let Some(known) = self.nodes.node_mut(node) else { return 0 };
        known.report_lease = ReportLease { id, until_ms };
        id
    }

    /// Whether a report that comes with this lease may be taken in. 0 is the word of a DataNode that
    /// was told to report: it needs none.
    pub fn is_report_lent(&self, uuid: &str, lease: u64) -> bool {
        let holder = || self.nodes.by_uuid(uuid).and_then(|node| self.nodes.node(node));
        let held = |known: &ReportLease| known.id == lease && known.holds(self.now.mono_ms);
        lease == 0 || holder().is_some_and(|known| held(&known.report_lease))
    }
}
