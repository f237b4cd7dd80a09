//! In which order a reader shall try the replicas of a block.

use super::nodes::Nodes;
use super::params::BlockParams;
use super::random::SplitMix64;
use super::slow::SlowReports;
use super::topology::distance;
use super::types::{AdminState, ClientLocation, ReplicaLocation};

/// Orders replicas for readers: near ones first, those on DataNodes that are about to go, stale or slow last.
pub(super) struct ReadOrder<'a> {
    pub(super) params: &'a BlockParams,
    pub(super) nodes: &'a Nodes,
    pub(super) slow: &'a SlowReports,
    pub(super) random: &'a SplitMix64,
    pub(super) now_ms: u64,
}

impl ReadOrder<'_> {
    /// Sorts the replicas of one block for a reader. The rack that the network's mapping names counts for a reader that is no
    /// DataNode (`DatanodeManager.sortLocatedBlock`).
    pub(super) fn sort(&self, replicas: &mut [ReplicaLocation], client: ClientLocation<'_>) {
        if replicas.len() < 2 {
            return;
        }
        let client_host = client.host;
        let reader = self.nodes.by_host(client_host).first();
        let rack = reader.and_then(|node| self.nodes.node(*node)).map(|node| &*node.rack);
        let rack = rack.or(client.rack);
        let stale_ms =
            if self.params.avoid_stale_for_read { self.params.stale_interval_ms } else { u64::MAX };
        replicas.sort_by_cached_key(|replica| {
            let node = &replica.node;
            let here = node.id.ip == client_host || node.id.host == client_host;
            let hops =
                if here { 0 } else { rack.map_or(u32::MAX, |rack| distance(rack, &node.rack)) };
            let idle_ms = self.now_ms.saturating_sub(node.stats.last_update.mono_ms);
            let is_slow = self.params.avoid_slow_for_read
                && self.nodes.node_of(replica.storage).is_some_and(|node| self.slow.is_slow(node));
            (avoidance(node.stats.admin), idle_ms > stale_ms, is_slow, hops, self.random.next())
        });
    }
}

/// How much readers avoid DataNodes in this state.
fn avoidance(admin: AdminState) -> u8 {
    match admin {
        AdminState::Decommissioned | AdminState::InMaintenance => 2,
        AdminState::EnteringMaintenance => 1,
        AdminState::Normal | AdminState::DecommissionInProgress => 0,
    }
}
