//! Leases for full block reports: so many DataNodes may report at once, the others ask again with
//! their next heartbeat (`BlockReportLeaseManager`).

use super::nodes::Nodes;
use super::params::BlockParams;
use super::types::NodeIdx;
use hashbrown::HashMap;

/// A DataNode's leave to send a full report.
#[derive(Clone, Copy, Debug)]
struct ReportLease {
    id: u64,
    /// It holds until this instant.
    until_ms: u64,
}

/// The leases that DataNodes have; some may have run out.
#[derive(Debug, Default)]
pub(super) struct ReportLeases {
    by_node: HashMap<NodeIdx, ReportLease>,
}

impl ReportLeases {
    /// A lease for a DataNode, in place of one it has; 0 if enough others report now. Its number is made of a random one.
    pub(super) fn grant(
        &mut self,
        node: NodeIdx,
        random: u64,
        now_ms: u64,
        params: &BlockParams,
    ) -> u64 {
        self.by_node.remove(&node);
        self.by_node.retain(|_, lease| now_ms < lease.until_ms);
        if self.by_node.len() >= params.report_leases_max {
            return 0;
        }
        let lease =
            ReportLease { id: random | 1, until_ms: now_ms.saturating_add(params.report_lease_ms) };
        self.by_node.insert(node, lease);
        lease.id
    }

    /// Whether a report that comes with this lease may be taken in. 0 comes from a DataNode that was ordered to report,
    /// which needs no lease.
    pub(super) fn is_held(&self, nodes: &Nodes, uuid: &str, lease: u64, now_ms: u64) -> bool {
        let held = || self.by_node.get(&nodes.by_uuid(uuid)?);
        lease == 0 || held().is_some_and(|held| held.id == lease && now_ms < held.until_ms)
    }

    /// Revokes all leases: a report that was begun under one of them lists what its DataNode had before a failover.
    pub(super) fn revoke(&mut self) {
        self.by_node.clear();
    }

    /// A DataNode has reported.
    pub(super) fn end(&mut self, node: NodeIdx) {
        self.by_node.remove(&node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_ended_or_ran_out_is_free_for_another() {
        let params =
            BlockParams { report_leases_max: 1, report_lease_ms: 100, ..BlockParams::default() };
        let mut leases = ReportLeases::default();
        assert_eq!(leases.grant(NodeIdx(1), 6, 0, &params), 7);
        assert_eq!(leases.grant(NodeIdx(2), 8, 99, &params), 0);
        assert_eq!(leases.grant(NodeIdx(1), 10, 99, &params), 11, "its own is in nobody's way");
        leases.end(NodeIdx(1));
        assert_eq!(leases.grant(NodeIdx(2), 8, 99, &params), 9);
        assert_eq!(leases.grant(NodeIdx(1), 12, 199, &params), 13);
    }
}
