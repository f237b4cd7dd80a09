//! DataNodes come, beat and go; commands go out with the answers.

use super::node::{Node, NodeCache};
use super::{
    AdminState, BlockManager, Command, DatanodeId, NodeIdx, Now, PolicyOf, ReplicaLocation, Result,
    StorageIdx, StorageReport, TransferCommand, VolumeFailures,
};
use std::sync::Arc;
use zerohop_wire::{Block, GenerationStamp, JavaException};

/// What a heartbeat says of the DataNode as a whole.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Heartbeat {
    pub transfers_running: u32,
    pub xceivers: u32,
    pub failed_volumes: u32,
    pub volume_failures: VolumeFailures,
    pub cache_capacity: u64,
    pub cache_used: u64,
    /// It wants a lease for a full block report.
    pub wants_report_lease: bool,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct HeartbeatReply {
    /// What it shall do.
    pub commands: Vec<Command>,
    /// The lease asked for, 0 for none.
    pub report_lease: u64,
}

/// Scheduled blocks that were never reported are forgotten after one or two of these.
const SCHEDULE_PERIOD_MS: u64 = 600_000;

impl BlockManager {
    /// A DataNode registers, for the first time or again. The caller has checked versions and ids.
    pub fn register(
        &mut self,
        id: DatanodeId,
        rack: &str,
        software_version: &str,
        now: Now,
    ) -> NodeIdx {
        self.pass(now);
        self.evict_address(&id);
        let rack: Arc<str> = rack.into();
        let node = match self.nodes.by_uuid(&id.uuid) {
            Some(known) => {
                self.warn_of_second_datanode(known, &id);
                self.finish_departure(known);
                self.nodes.rename_node(known, id, rack);
                known
            }
            None => self.nodes.add_node(id, rack),
        };
        if let Some(known) = self.nodes.node_mut(node) {
            (known.alive, known.last_update, known.heartbeat_seen) = (true, now, false);
            known.software_version = software_version.to_owned();
        }
        self.reset_reports(node);
        self.nodes.count_racks();
        node
    }

    fn warn_of_second_datanode(&self, known: NodeIdx, id: &DatanodeId) {
        let Some(old) = self.nodes.node(known) else { return };
        let (from, to) = (old.id.xfer_addr(), id.xfer_addr());
        if from == to {
            return;
        }
        let silent_ms = self.now.mono_ms.saturating_sub(old.last_update.mono_ms);
        if old.alive && silent_ms <= 2 * self.params.heartbeat_interval_ms {
            tracing::error!(
                "BLOCK* registerDatanode: {to} has the UUID {} of {from}, which sent a heartbeat {silent_ms} ms ago. {to} \
                 takes its place, and {from} is refused from now on. If both run, the directories of one are a copy of the \
                 other's: stop one, and clear its directories before it is started again",
                id.uuid
            );
        } else {
            tracing::info!(
                "BLOCK* registerDatanode: {from} is replaced by {to} with the same UUID {}",
                id.uuid
            );
        }
    }

    /// Refuses a DataNode whose UUID another one registered with since. An unknown UUID passes: its heartbeat is answered
    /// with the order to register.
    ///
    /// # Errors
    /// `UnregisteredNodeException`, upon which a DataNode stops serving this NameNode.
    pub fn check_sender(&self, sender: &DatanodeId) -> Result<()> {
        let node = self.nodes.by_uuid(&sender.uuid).and_then(|node| self.nodes.node(node));
        let Some(node) = node else { return Ok(()) };
        if (&node.id.ip, node.id.xfer_port) == (&sender.ip, sender.xfer_port) {
            return Ok(());
        }
        Err(JavaException::UnregisteredNode.with(format!(
            "Data node {} is attempting to report storage ID {}. Node {} is expected to serve this storage.",
            sender.xfer_addr(),
            sender.uuid,
            node.id.xfer_addr()
        )))
    }

    /// Another UUID at an address means the DataNode there was formatted anew.
    fn evict_address(&mut self, id: &DatanodeId) {
        let same = |node: &NodeIdx| {
            self.nodes
                .node(*node)
                .is_some_and(|known| known.id.xfer_port == id.xfer_port && known.id.uuid != id.uuid)
        };
        let old: Vec<NodeIdx> = self.nodes.by_host(&id.ip).iter().copied().filter(same).collect();
        for node in old {
            self.lose(node);
            self.nodes.drop_address(node);
        }
    }

    fn reset_reports(&mut self, node: NodeIdx) {
        let storages =
            self.nodes.node(node).map(|known| known.storages.clone()).unwrap_or_default();
        self.pending_messages.forget(&storages);
        for storage in storages {
            if let Some(known) = self.nodes.storage_mut(storage) {
                known.forget_reports();
            }
        }
    }

    /// Takes in a heartbeat and answers with commands; an unknown or dead DataNode is told to register.
    pub fn heartbeat(
        &mut self,
        uuid: &str,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
        policy_of: PolicyOf<'_>,
    ) -> HeartbeatReply {
        self.pass(now);
        let Some(node) = self.nodes.alive(uuid) else {
            return HeartbeatReply { commands: vec![Command::Register], report_lease: 0 };
        };
        self.update_storages(node, storages, beat.failed_volumes);
        let lease = if beat.wants_report_lease { self.lend_report(node) } else { 0 };
        self.note_figures(node, beat, now);
        if self.safe_mode.is_on() || self.nodes.is_standby() {
            return HeartbeatReply { commands: Vec::new(), report_lease: lease };
        }
        self.order_copies_from(node, policy_of);
        HeartbeatReply { commands: self.commands(node), report_lease: lease }
    }

    /// Takes in a lifeline: a DataNode that is alive stays so. One that is unknown or dead is not told;
    /// it must register, and its next heartbeat says so.
    pub fn lifeline(
        &mut self,
        uuid: &str,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
    ) -> bool {
        let Some(node) = self.nodes.alive(uuid) else { return false };
        self.update_storages(node, storages, beat.failed_volumes);
        self.note_figures(node, beat, now);
        true
    }

    fn note_figures(&mut self, node: NodeIdx, beat: Heartbeat, now: Now) {
        if let Some(known) = self.nodes.node_mut(node) {
            known.last_update = now;
            (known.xceivers, known.transfers_running) = (beat.xceivers, beat.transfers_running);
            (known.cache_capacity, known.cache_used) = (beat.cache_capacity, beat.cache_used);
            known.volume_failures = beat.volume_failures;
        }
    }

    /// Figures of each storage; one that is not named any more, after a volume failed, is lost.
    fn update_storages(&mut self, node: NodeIdx, reports: &[StorageReport], failed_volumes: u32) {
        for report in reports {
            let storage = self.nodes.ensure_storage(node, &report.id, report.kind);
            if !report.failed {
                self.finish_departure_of(storage);
            }
            if let Some(known) = self.nodes.storage_mut(storage) {
                known.apply(report);
            }
        }
        let Some(known) = self.nodes.node_mut(node) else { return };
        let look = !known.heartbeat_seen || failed_volumes > known.failed_volumes;
        (known.heartbeat_seen, known.failed_volumes) = (true, failed_volumes);
        let storages = known.storages.clone();
        let unnamed = |storage: &StorageIdx| {
            let known = self.nodes.storage(*storage);
            known.is_some_and(|known| {
                known.failed || look && !reports.iter().any(|report| report.id == known.id)
            })
        };
        let lost: Vec<StorageIdx> = storages.into_iter().filter(unnamed).collect();
        lost.into_iter().for_each(|storage| self.lose_storage(storage));
        self.nodes.forget_unreported(node, reports);
    }

    fn lose_storage(&mut self, storage: StorageIdx) {
        let Some(known) = self.nodes.storage_mut(storage) else { return };
        known.failed = true;
        known.unknown.clear();
        known.ongoing = None;
        self.safe_mode.remove_future(std::mem::take(&mut known.future_bytes));
        (known.capacity, known.remaining, known.dfs_used) = (0, 0, 0);
        self.forget_replicas_of(storage);
    }

    fn commands(&mut self, node: NodeIdx) -> Vec<Command> {
        let is_deleting = self.now.mono_ms >= self.deletions_from_ms;
        let invalidations = if is_deleting { self.params.invalidate_limit } else { 0 };
        let streams = self.params.transfer_streams_max;
        let Some(known) = self.nodes.node_mut(node) else { return Vec::new() };
        let mut commands = Vec::new();
        let free =
            streams.saturating_sub(known.transfers_running as usize).min(known.transfers.len());
        let transfers: Vec<TransferCommand> = known.transfers.drain(..free).collect();
        if !transfers.is_empty() {
            commands.push(Command::Transfer(transfers));
        }
        if !known.recoveries.is_empty() {
            commands.push(Command::Recover(std::mem::take(&mut known.recoveries)));
        }
        let doomed = take_invalidations(known, invalidations);
        if !doomed.is_empty() {
            commands.push(Command::Invalidate(doomed));
        }
        commands.extend(known.bandwidth.take().map(Command::BalancerBandwidth));
        commands.extend(self.cache_commands(node));
        commands
    }

    /// Time passes: DataNodes that fell silent are dead, safe mode may end, copies and deletions are ordered.
    ///
    /// `policy_of` says on which types of storage a file's replicas shall lie.
    pub fn tick(&mut self, now: Now, policy_of: PolicyOf<'_>) {
        self.pass(now);
        self.slow.refresh(self.now.mono_ms);
        let expiry_ms = self.params.expiry_ms();
        let silent = |node: &Node| {
            node.alive && now.mono_ms.saturating_sub(node.last_update.mono_ms) > expiry_ms
        };
        let dead: Vec<NodeIdx> = (self.nodes.nodes.iter().enumerate())
            .filter(|(_, node)| silent(node))
            .map(|(i, _)| NodeIdx(i as u32))
            .collect();
        for node in dead {
            if let Some(known) = self.nodes.node(node) {
                tracing::info!(
                    "BLOCK* removeDeadDatanode: lost heartbeat from {}",
                    known.id.xfer_addr()
                );
            }
            self.lose_silent(node);
            self.redundancy.rounds.expect_work(self.now.mono_ms);
            self.expired_heartbeats += 1;
        }
        self.roll_schedules();
        let live = self.nodes.live_count() as u32;
        self.safe_mode.set_figures(now, live);
        self.check_safe_mode();
        if !self.nodes.is_standby() {
            self.keep_redundancy(policy_of);
            self.delete_extra(policy_of);
        }
    }

    fn roll_schedules(&mut self) {
        if self.now.mono_ms < self.schedules_rolled_ms + SCHEDULE_PERIOD_MS {
            return;
        }
        self.schedules_rolled_ms = self.now.mono_ms;
        self.nodes.nodes.iter_mut().for_each(|node| node.scheduled.roll());
        self.removed.roll();
    }

    /// A DataNode is dead: its replicas do not count any more, unless it is away for maintenance.
    fn lose_silent(&mut self, node: NodeIdx) {
        if self.nodes.node(node).is_some_and(|known| known.admin.is_maintenance()) {
            self.mark_dead(node);
        } else {
            self.lose(node);
        }
    }

    fn lose(&mut self, node: NodeIdx) {
        self.mark_dead(node);
        self.drop_replicas_of(node);
    }

    fn mark_dead(&mut self, node: NodeIdx) {
        let Some(known) = self.nodes.node_mut(node) else { return };
        known.alive = false;
        known.clear_orders();
        known.cache = NodeCache::default();
        let storages = known.storages.clone();
        self.pending_messages.forget(&storages);
        storages.into_iter().for_each(|storage| self.drop_report(storage));
        self.nodes.count_racks();
    }

    pub(super) fn drop_replicas_of(&mut self, node: NodeIdx) {
        let storages =
            self.nodes.node(node).map(|known| known.storages.clone()).unwrap_or_default();
        for storage in storages {
            let Some(known) = self.nodes.storage_mut(storage) else { continue };
            known.unknown.clear();
            self.forget_replicas_of(storage);
        }
    }

    /// A DataNode says that it cannot go on: it counts as dead until it registers again.
    pub fn remove_node(&mut self, uuid: &str) {
        if let Some(node) = self.nodes.by_uuid(uuid) {
            self.lose(node);
        }
    }

    fn pass(&mut self, now: Now) {
        if now.mono_ms >= self.now.mono_ms {
            self.now = now;
        }
    }

    /// The namespace is loaded: safe mode starts counting, `now` being the start. `last_stamp` is the last one the
    /// namespace gave out: unknown blocks with later ones mean that its metadata is too old.
    pub fn start(&mut self, now: Now, last_stamp: GenerationStamp) {
        self.pass(now);
        self.deletions_from_ms = self.now.mono_ms.saturating_add(self.params.deletion_delay_ms);
        let complete = self.block_count() - self.constructions.len() as u64;
        self.safe_mode.start(complete, last_stamp, now);
    }

    /// Whether a DataNode with this UUID is registered and alive.
    pub fn is_registered(&self, uuid: &str) -> bool {
        self.nodes.alive(uuid).is_some()
    }

    /// Stores what an operator wants of a DataNode: no new replica goes to one that leaves, and its replicas are copied
    /// away.
    pub fn set_admin_state(&mut self, uuid: &str, admin: AdminState) {
        if let Some(node) = self.nodes.by_uuid(uuid) {
            self.set_admin_state_of(node, admin);
        }
    }

    pub(super) fn set_admin_state_of(&mut self, node: NodeIdx, admin: AdminState) {
        self.mark_admin_state(node, admin);
        self.continue_storage_walks();
    }

    /// As [`BlockManager::set_admin_state`]; the DataNode's blocks are looked at by [`BlockManager::continue_walks`] only.
    pub(super) fn mark_admin_state(&mut self, node: NodeIdx, admin: AdminState) {
        self.leaving.drop_scan(node);
        let Some(known) = self.nodes.node_mut(node) else { return };
        known.admin = admin;
        let storages = known.storages.clone();
        for storage in storages {
            self.walks.recheck(storage);
        }
    }

    /// Tells every DataNode how fast it may balance.
    pub fn set_balancer_bandwidth(&mut self, bytes_per_second: u64) {
        for node in self.nodes.nodes.iter_mut().filter(|node| node.alive) {
            node.bandwidth = Some(bytes_per_second);
        }
    }

    /// The location of one storage of a DataNode.
    pub fn location_of(&self, uuid: &str, storage_id: &str) -> Option<ReplicaLocation> {
        let node = self.nodes.by_uuid(uuid)?;
        self.nodes.location(self.nodes.by_storage(node, storage_id)?)
    }
}

fn take_invalidations(node: &mut Node, limit: usize) -> Vec<Block> {
    let count = node.invalidate.len().min(limit);
    let next = std::iter::from_fn(|| node.invalidate.pop_first());
    next.take(count).map(|((id, stamp), len)| Block { id, stamp, len }).collect()
}
