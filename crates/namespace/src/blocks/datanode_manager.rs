//! DataNodes register, send heartbeats and go.

use super::cached::Caches;
use super::node::Node;
use super::pending_messages::PendingMessages;
use super::slow::{DiskLatency, PeerLatency, SlowReports};
use super::stored::StoredReplicas;
use super::types::{
    Command, DatanodeId, NodeIdx, Now, Result, StorageIdx, StorageReport, VolumeFailures,
};
use std::sync::Arc;
use zerohop_wire::BlockId;

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

/// The DataNodes with all that is forgotten when one goes.
pub struct DatanodeManager<'a> {
    pub(super) replicas: StoredReplicas<'a>,
    pub(super) pending: &'a mut PendingMessages,
    pub(super) caches: &'a mut Caches,
    pub(super) slow: &'a mut SlowReports,
}

impl DatanodeManager<'_> {
    /// A DataNode registers, for the first time or again. The caller has checked versions and ids.
    pub(super) fn register(
        &mut self,
        id: DatanodeId,
        rack: &str,
        software_version: &str,
        now: Now,
    ) -> NodeIdx {
        self.evict_address(&id);
        let rack: Arc<str> = rack.into();
        let node = match self.replicas.nodes.by_uuid(&id.uuid) {
            Some(known) => {
                self.warn_of_second_datanode(known, &id);
                self.replicas.finish_departure(known);
                self.replicas.nodes.rename_node(known, id, rack);
                known
            }
            None => self.replicas.nodes.add_node(id, rack),
        };
        if let Some(known) = self.replicas.nodes.node_mut(node) {
            (known.alive, known.last_update, known.heartbeat_seen) = (true, now, false);
            known.software_version = software_version.to_owned();
        }
        self.forget_reports(node);
        self.replicas.nodes.reindex(node);
        node
    }

    fn warn_of_second_datanode(&self, known: NodeIdx, id: &DatanodeId) {
        let StoredReplicas { params, nodes, now, .. } = &self.replicas;
        let Some(old) = nodes.node(known) else { return };
        let (from, to) = (old.id.xfer_addr(), id.xfer_addr());
        if from == to {
            return;
        }
        let silent_ms = now.mono_ms.saturating_sub(old.last_update.mono_ms);
        if old.alive && silent_ms <= 2 * params.heartbeat_interval_ms {
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

    /// Another UUID at an address means the DataNode there was formatted anew.
    fn evict_address(&mut self, id: &DatanodeId) {
        let nodes = &self.replicas.nodes;
        let is_same = |node: &NodeIdx| {
            nodes
                .node(*node)
                .is_some_and(|known| known.id.xfer_port == id.xfer_port && known.id.uuid != id.uuid)
        };
        let old: Vec<NodeIdx> = nodes.by_host(&id.ip).iter().copied().filter(is_same).collect();
        for node in old {
            self.lose(node);
            self.replicas.nodes.drop_address(node);
        }
    }

    /// What a DataNode that registered reports next is a first report.
    fn forget_reports(&mut self, node: NodeIdx) {
        let storages = self.replicas.nodes.storages_of(node);
        self.pending.forget(&storages);
        for storage in storages {
            if let Some(known) = self.replicas.nodes.storage_mut(storage) {
                known.reports.restart();
            }
        }
    }

    /// Takes in a lifeline: a DataNode that is alive stays so. One that is unknown or dead must register, as the answer to its
    /// next heartbeat will say; returns false for it.
    pub fn lifeline(
        &mut self,
        uuid: &str,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
    ) -> bool {
        let Some(node) = self.replicas.nodes.alive(uuid) else { return false };
        self.note_figures(node, beat, storages, now);
        true
    }

    /// Takes in the figures of a DataNode and of each storage; one that is not named any more, after a volume failed, is
    /// lost.
    pub(super) fn note_figures(
        &mut self,
        node: NodeIdx,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
    ) {
        self.update_storages(node, storages, beat.failed_volumes);
        if let Some(known) = self.replicas.nodes.node_mut(node) {
            known.last_update = now;
            (known.xceivers, known.transfers_running) = (beat.xceivers, beat.transfers_running);
            (known.cache_capacity, known.cache_used) = (beat.cache_capacity, beat.cache_used);
            known.volume_failures = beat.volume_failures;
        }
        self.replicas.nodes.reindex(node);
    }

    /// Notes that a DataNode is told with the answer to its heartbeat which NameNode is active. A lifeline tells it nothing.
    pub(super) fn note_answered(&mut self, node: NodeIdx) {
        let nodes = &mut self.replicas.nodes;
        if nodes.is_standby() {
            return;
        }
        for storage in nodes.storages_of(node) {
            if let Some(known) = nodes.storage_mut(storage) {
                known.reports.heard();
            }
        }
    }

    /// What a DataNode is told with the answer to a heartbeat.
    pub(super) fn take_commands(&mut self, node: NodeIdx, is_deleting: bool) -> Vec<Command> {
        let StoredReplicas { params, nodes, now, .. } = &mut self.replicas;
        let deletions_max = if is_deleting { params.invalidate_limit } else { 0 };
        let Some(known) = nodes.node_mut(node) else { return Vec::new() };
        let mut commands = known.take_commands(params.transfer_streams_max, deletions_max);
        commands.extend(self.caches.commands(node, now.mono_ms, params.cache_retry_ms));
        commands
    }

    fn update_storages(&mut self, node: NodeIdx, reports: &[StorageReport], failed_volumes: u32) {
        for report in reports {
            let storage = self.replicas.nodes.ensure_storage(node, &report.id, report.kind);
            if !report.failed {
                self.replicas.finish_departure_of(storage);
            }
            if let Some(known) = self.replicas.nodes.storage_mut(storage) {
                known.apply(report);
            }
        }
        let nodes = &mut self.replicas.nodes;
        let Some(known) = nodes.node_mut(node) else { return };
        let look = !known.heartbeat_seen || failed_volumes > known.failed_volumes;
        (known.heartbeat_seen, known.failed_volumes) = (true, failed_volumes);
        let is_lost = |storage: &StorageIdx| {
            nodes.storage(*storage).is_some_and(|known| {
                known.failed || look && !reports.iter().any(|report| report.id == known.id)
            })
        };
        let lost: Vec<StorageIdx> = nodes.storages_of(node).into_iter().filter(is_lost).collect();
        lost.into_iter().for_each(|storage| self.lose_storage(storage));
        self.replicas.nodes.forget_unreported(node, reports);
    }

    fn lose_storage(&mut self, storage: StorageIdx) {
        let StoredReplicas { nodes, safe_mode, .. } = &mut self.replicas;
        let Some(known) = nodes.storage_mut(storage) else { return };
        known.failed = true;
        safe_mode.remove_future(known.reports.lose());
        (known.capacity, known.remaining, known.dfs_used) = (0, 0, 0);
        self.replicas.forget_replicas_of(storage);
    }

    /// What a DataNode holds in memory now.
    ///
    /// # Errors
    /// `Error::Datanode` when the DataNode is unknown or dead: it must register again first.
    pub fn cache_report(
        &mut self,
        uuid: &str,
        held: impl IntoIterator<Item = BlockId>,
    ) -> Result<()> {
        let node = self.replicas.nodes.reporting(uuid)?;
        self.caches.report(node, held);
        Ok(())
    }

    /// Takes in what a DataNode says of others and of its disks; names of DataNodes that are not known are left out.
    pub fn report_slow(
        &mut self,
        reporter: &str,
        peers: &[(String, PeerLatency)],
        disks: Vec<(String, DiskLatency)>,
    ) {
        let StoredReplicas { nodes, now, .. } = &self.replicas;
        self.slow.report(nodes, reporter, peers, disks, now.mono_ms);
    }

    /// DataNodes whose heartbeats stopped are dead: their replicas do not count any more, unless they are away for maintenance.
    /// Returns how many there are.
    pub(super) fn lose_silent(&mut self, now: Now) -> usize {
        let StoredReplicas { params, nodes, .. } = &mut self.replicas;
        let is_stale = |known: &&Node| {
            let silent_ms = now.mono_ms.saturating_sub(known.last_update.mono_ms);
            known.alive && silent_ms > params.stale_interval_ms
        };
        nodes.set_stale_count(nodes.all().iter().filter(is_stale).count());
        let is_silent = |known: &Node| {
            let silent_ms = now.mono_ms.saturating_sub(known.last_update.mono_ms);
            known.alive && silent_ms > params.expiry_ms()
        };
        let indexed = nodes.indexes().zip(nodes.all());
        let silent: Vec<(NodeIdx, bool)> = indexed
            .filter(|(_, known)| is_silent(known))
            .map(|(node, known)| (node, known.admin.is_maintenance()))
            .collect();
        for (node, is_away) in &silent {
            if let Some(known) = self.replicas.nodes.node(*node) {
                let name = known.id.xfer_addr();
                tracing::info!("BLOCK* removeDeadDatanode: lost heartbeat from {name}");
            }
            if *is_away {
                self.mark_dead(*node);
            } else {
                self.lose(*node);
            }
        }
        silent.len()
    }

    /// A period is over: blocks that were scheduled before it and not reported since are forgotten.
    pub(super) fn roll_schedules(&mut self) {
        self.replicas.nodes.all_mut().for_each(|node| node.scheduled.roll());
    }

    /// Tells every live DataNode how fast it may balance.
    pub fn set_balancer_bandwidth(&mut self, bytes_per_second: u64) {
        for node in self.replicas.nodes.all_mut().filter(|node| node.alive) {
            node.orders.set_bandwidth(bytes_per_second);
        }
    }

    /// A DataNode says that it cannot go on: it counts as dead until it registers again.
    pub fn remove(&mut self, uuid: &str) {
        if let Some(node) = self.replicas.nodes.by_uuid(uuid) {
            self.lose(node);
        }
    }

    fn lose(&mut self, node: NodeIdx) {
        self.mark_dead(node);
        self.drop_replicas_of(node);
    }

    fn mark_dead(&mut self, node: NodeIdx) {
        let nodes = &mut self.replicas.nodes;
        let Some(known) = nodes.node_mut(node) else { return };
        known.alive = false;
        known.orders.clear();
        self.caches.forget(node);
        let storages = nodes.storages_of(node);
        self.pending.forget(&storages);
        for storage in storages {
            if let Some(known) = nodes.storage_mut(storage) {
                known.reports.drop_ongoing();
            }
        }
        nodes.reindex(node);
    }

    pub(super) fn drop_replicas_of(&mut self, node: NodeIdx) {
        for storage in self.replicas.nodes.storages_of(node) {
            let Some(known) = self.replicas.nodes.storage_mut(storage) else { continue };
            known.reports.forget_unknown();
            self.replicas.forget_replicas_of(storage);
        }
    }
}
