//! Keeping every block at its replication: the copies and deletions that are ordered.

use super::extra::ExtraChoice;
use super::map::Slot;
use super::placement::Placement;
use super::policy::{DEFAULT, StoragePolicy};
use super::queues::Arrival;
use super::random::SplitMix64;
use super::slow::SlowReports;
use super::spare::Spare;
use super::stored::StoredReplicas;
use super::types::{
    BlockState, NodeIdx, PlacementRequest, PolicyOf, StorageIdx, Storages, TransferCommand,
};
use super::walks::SLICE;

/// Orders copies of blocks with too few replicas and deletions of replicas that are too many (`RedundancyMonitor`).
pub(super) struct RedundancyMonitor<'a> {
    pub(super) replicas: StoredReplicas<'a>,
    pub(super) slow: &'a SlowReports,
    pub(super) random: &'a SplitMix64,
}

impl RedundancyMonitor<'_> {
    fn placement(&self) -> Placement<'_> {
        Placement {
            params: self.replicas.params,
            nodes: self.replicas.nodes,
            slow: self.slow,
            random: self.random,
            now_ms: self.now_ms(),
        }
    }

    fn now_ms(&self) -> u64 {
        self.replicas.now.mono_ms
    }

    /// One round: fills the queues after safe mode, gives up on copies that did not arrive, orders new ones.
    pub(super) fn run(&mut self, policy_of: PolicyOf<'_>) {
        if self.replicas.safe_mode.is_starting() {
            return;
        }
        self.replicas.redundancy.populate();
        self.replicas.scan_slice(SLICE);
        self.retry_late();
        self.repeat_deletions();
        if self.replicas.safe_mode.is_on() || !self.is_round_due() {
            return;
        }
        let found_work = self.order_copies(policy_of);
        self.replicas.redundancy.rounds.finished(self.now_ms(), found_work);
    }

    fn is_round_due(&self) -> bool {
        let StoredReplicas { params, nodes, redundancy, .. } = &self.replicas;
        let streams = params.transfer_streams_max;
        let is_source_idle = || nodes.all().iter().any(|node| node.free_streams(streams) > 0);
        redundancy.rounds.is_due(self.now_ms(), params.redundancy_interval_ms, is_source_idle)
    }

    /// Orders copies of what a DataNode has, if it could send more than was ordered of it and rounds find work: its
    /// next heartbeat may be 3 s away.
    pub(super) fn order_copies_from(&mut self, source: NodeIdx, policy_of: PolicyOf<'_>) {
        let StoredReplicas { params, nodes, redundancy, .. } = &self.replicas;
        let Some(node) = nodes.node(source) else { return };
        let mut free = node.free_streams(params.transfer_streams_max);
        if free == 0 || !redundancy.rounds.is_under_way(self.now_ms()) {
            return;
        }
        let blocks = node.storages.iter().filter_map(|storage| nodes.storage(*storage));
        let lacking = redundancy.lacking_among(blocks.map(|storage| &storage.blocks));
        for (priority, slot) in lacking {
            if free > 0 && self.order_copy(slot, priority, Some(source), policy_of) {
                free -= 1;
            }
        }
    }

    fn retry_late(&mut self) {
        let timeout_ms = self.replicas.params.pending_timeout_ms;
        let deadline_ms = self.now_ms().saturating_sub(timeout_ms);
        let late = self.replicas.redundancy.late(deadline_ms);
        self.replicas.redundancy.count_late(late.len());
        for slot in late {
            self.replicas.give_up_copies(slot);
            self.replicas.recheck(slot);
        }
    }

    /// One round; returns whether a copy was ordered.
    fn order_copies(&mut self, policy_of: PolicyOf<'_>) -> bool {
        let live = self.replicas.nodes.live_count();
        let limit = live * self.replicas.params.work_multiplier;
        let mut found_work = false;
        for (priority, slot) in self.replicas.redundancy.next_slots(limit) {
            let is_ordered = self.order_copy(slot, priority, None, policy_of);
            if !is_ordered {
                self.replicas.redundancy.count_not_ordered();
            }
            found_work |= is_ordered;
        }
        found_work
    }

    /// Returns whether a copy was ordered; `source` is the DataNode to send it, if it is chosen already.
    fn order_copy(
        &mut self,
        slot: Slot,
        priority: usize,
        source: Option<NodeIdx>,
        policy_of: PolicyOf<'_>,
    ) -> bool {
        let Some(stored) = self.replicas.map.get(slot).map(|entry| entry.view()) else {
            self.replicas.redundancy.dequeue(slot);
            return false;
        };
        let (block, expected) = (stored.block, u32::from(stored.replication));
        let (known, nodes) = (self.replicas.view(), &*self.replicas.nodes);
        let counts = known.count(slot);
        let have = counts.live + counts.pending;
        let lacking = known.live_needed(&counts, expected).saturating_sub(have);
        let wanted = lacking.max(u32::from(!known.is_well_spread(slot, expected)));
        let streams = self.replicas.params.copies_max(priority);
        let mut storages = known.live(slot);
        storages
            .retain(|storage| source.is_none_or(|source| nodes.node_of(*storage) == Some(source)));
        let chosen = nodes.choose_source(&storages, streams, || self.random.next());
        let Some(source) = chosen else { return false };
        let (chosen, unusable) = known.kept_and_unusable(slot);
        let request = PlacementRequest {
            replicas: wanted as usize,
            block_size: block.len,
            chosen: &chosen,
            unusable: &unusable,
            storage_policy: policy_of(stored.file),
            source: Some(source),
            ignore_locality: true,
            ..PlacementRequest::default()
        };
        let targets = self.placement().place(&request, false);
        if targets.is_empty() {
            return false;
        }
        let StoredReplicas { nodes, redundancy, corrupt, now, .. } = &mut self.replicas;
        targets.iter().for_each(|target| nodes.schedule(*target));
        redundancy.expect(slot, &targets, now.mono_ms);
        let command = TransferCommand { block, targets: nodes.locations(&targets) };
        corrupt.repairs.copied(slot, &stored, source, &targets);
        if let Some(node) = nodes.node_mut(source) {
            node.orders.transfer(command);
        }
        self.replicas.recheck(slot);
        true
    }

    /// Orders the deletion of replicas that changes since the last call made superfluous.
    pub(super) fn delete_extra(&mut self, policy_of: PolicyOf<'_>) {
        while let Some((slot, arrival)) = self.replicas.redundancy.take_extra() {
            self.delete_extra_of(slot, arrival, policy_of);
        }
    }

    fn delete_extra_of(&mut self, slot: Slot, arrival: Arrival, policy_of: PolicyOf<'_>) {
        let Some(stored) = self.replicas.map.get(slot).map(|entry| entry.view()) else { return };
        let now_ms = self.now_ms();
        let mut live = self.replicas.view().live(slot);
        let StoredReplicas { params, nodes, redundancy, .. } = &mut self.replicas;
        let choice = ExtraChoice { nodes, params, now_ms };
        live.retain(|storage| choice.is_in_service(*storage));
        let expected = usize::from(stored.replication);
        if stored.state != BlockState::Complete || live.len() <= expected {
            return;
        }
        // One on a stale storage may be going already, by an order of the NameNode that was active before. The blocks of a
        // storage are checked again after its full report (HDFS-16420).
        if live.iter().any(|storage| nodes.is_stale(*storage)) {
            redundancy.postpone(slot);
            live.retain(|storage| !nodes.is_stale(*storage));
        }
        let policy = StoragePolicy::by_id(policy_of(stored.file)).unwrap_or(DEFAULT);
        // First those whose DataNodes were told to delete them before: they may be gone.
        let is_doubtful = |storage: &StorageIdx| redundancy.excess.is_doubtful(slot, *storage);
        let mut extras: Storages = live.iter().copied().filter(is_doubtful).collect();
        extras.truncate(live.len().saturating_sub(expected));
        live.retain(|storage| !extras.contains(storage));
        extras.extend(choice.choose(live, expected, policy, arrival));
        for extra in extras {
            let Some(spare) = Spare::excess(self.replicas.view(), slot, extra) else { continue };
            self.replicas.redundancy.excess.mark(slot, extra, now_ms);
            spare.order(self.replicas.nodes);
        }
    }

    /// Orders the deletion of excess replicas again that are still there long after their DataNode was told, or counts them
    /// again where they are needed: the answer to a heartbeat may be lost (HDFS-17250).
    fn repeat_deletions(&mut self) {
        let now_ms = self.now_ms();
        let params = self.replicas.params;
        let deadline_ms = now_ms.saturating_sub(params.excess_timeout_ms);
        let limit = params.excess_timeout_check_limit;
        for (slot, storage) in self.replicas.redundancy.excess.take_overdue(deadline_ms, limit) {
            let Some(stored) = self.replicas.map.get(slot).map(|entry| entry.view()) else {
                continue;
            };
            let excess = &mut self.replicas.redundancy.excess;
            if stored.state != BlockState::Complete {
                excess.mark(slot, storage, now_ms);
            } else if let Some(spare) = Spare::excess(self.replicas.view(), slot, storage) {
                self.replicas.redundancy.excess.mark(slot, storage, now_ms);
                spare.order(self.replicas.nodes);
            } else {
                let is_called_off =
                    self.replicas.nodes.call_off_invalidation(storage, stored.block);
                let excess = &mut self.replicas.redundancy.excess;
                match is_called_off {
                    true => excess.unmark(slot, storage),
                    false => excess.doubt(slot, storage),
                }
                self.replicas.recheck(slot);
            }
        }
    }
}
