//! The block manager: it holds the parts and passes on to one what follows from a change in another.

use super::cached::{CachePlan, Caches};
use super::construction::Constructions;
use super::corrupt::CorruptReplicas;
use super::datanode_admin::DatanodeAdmin;
use super::datanode_manager::{DatanodeManager, Heartbeat, HeartbeatReply};
use super::datanodes::DatanodeLookup;
use super::edits::BlockEdits;
use super::leaving::LeavingScans;
use super::locate::BlockLookup;
use super::map::BlockMap;
use super::nodes::Nodes;
use super::params::BlockParams;
use super::pending_messages::PendingMessages;
use super::placement::Placement;
use super::queues::Redundancy;
use super::random::SplitMix64;
use super::read_order::ReadOrder;
use super::redundancy::RedundancyMonitor;
use super::repair_log::{self, RepairEvent};
use super::replicas::Replicas;
use super::report::{BlockReports, FullReport, ReportOutcome};
use super::report_lease::ReportLeases;
use super::role::RoleChange;
use super::safemode::SafeMode;
use super::slow::SlowReports;
use super::stored::StoredReplicas;
use super::types::{
    AdminState, BlockStats, Command, Completed, DatanodeId, NodeIdx, Now, PlacementRequest,
    PolicyOf, Result, StorageReport, Storages, StoredBlock,
};
use super::under_construction::UnderConstruction;
use super::unknown::{HighestUnknown, RemovedWhileWritten};
use super::unplaced;
use super::walks::Walks;
use crate::commit::key::CommitKey;
use crate::ids::Ids;
use std::collections::BTreeMap;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// Scheduled blocks that were never reported are forgotten after one or two of these.
const SCHEDULE_PERIOD_MS: u64 = 600_000;

/// The parts, and the few operations that concern more than one of those that borrow them.
pub struct BlockManager {
    params: BlockParams,
    /// The latest time that the caller gave.
    now: Now,
    map: BlockMap,
    nodes: Nodes,
    constructions: Constructions,
    corrupt: CorruptReplicas,
    redundancy: Redundancy,
    walks: Walks,
    leaving: LeavingScans,
    removed: RemovedWhileWritten,
    highest_unknown: HighestUnknown,
    safe_mode: SafeMode,
    pending_messages: PendingMessages,
    report_leases: ReportLeases,
    caches: Caches,
    slow: SlowReports,
    random: SplitMix64,
    schedules_rolled_ms: u64,
    /// No DataNode is told to delete anything before this instant of the steady clock.
    deletions_from_ms: u64,
    /// DataNodes whose heartbeats stopped since the start.
    expired_heartbeats: u64,
    /// How often the replicas of a block were counted: tests count work, not time.
    #[cfg(test)]
    counts: std::sync::atomic::AtomicUsize,
}

/// Borrows the parts that know of replicas, so that others can be borrowed beside them.
macro_rules! stored_replicas {
    ($blocks:ident) => {
        StoredReplicas {
            params: &$blocks.params,
            now: $blocks.now,
            map: &mut $blocks.map,
            nodes: &mut $blocks.nodes,
            corrupt: &mut $blocks.corrupt,
            redundancy: &mut $blocks.redundancy,
            walks: &mut $blocks.walks,
            safe_mode: &mut $blocks.safe_mode,
            #[cfg(test)]
            counts: &$blocks.counts,
        }
    };
}

/// The parts, and what is borrowed of them.
impl BlockManager {
    /// An empty block manager without DataNodes, in safe mode until [`BlockManager::start`] is called.
    pub fn new(params: BlockParams) -> Self {
        Self {
            now: Now::default(),
            map: BlockMap::default(),
            nodes: Nodes::default(),
            constructions: Constructions::default(),
            corrupt: CorruptReplicas::default(),
            redundancy: Redundancy::default(),
            walks: Walks::default(),
            leaving: LeavingScans::default(),
            removed: RemovedWhileWritten::default(),
            highest_unknown: HighestUnknown::default(),
            safe_mode: SafeMode::new(&params),
            pending_messages: PendingMessages::default(),
            report_leases: ReportLeases::default(),
            caches: Caches::default(),
            slow: SlowReports::new(params.slow_limits),
            random: SplitMix64::new(params.seed),
            schedules_rolled_ms: 0,
            deletions_from_ms: 0,
            expired_heartbeats: 0,
            #[cfg(test)]
            counts: Default::default(),
            params,
        }
    }

    /// The settings.
    pub fn params(&self) -> &BlockParams {
        &self.params
    }

    /// Other settings from here on; those that were only read at the start stay as they were.
    pub fn set_params(&mut self, params: BlockParams) {
        self.slow.set_limits(params.slow_limits);
        self.params = params;
    }

    /// Safe mode.
    pub fn safe_mode(&self) -> &SafeMode {
        &self.safe_mode
    }

    /// Safe mode, to enter or leave it.
    pub fn safe_mode_mut(&mut self) -> &mut SafeMode {
        &mut self.safe_mode
    }

    /// What is known of the replicas of blocks.
    pub(super) fn replicas(&self) -> Replicas<'_> {
        Replicas {
            params: &self.params,
            map: &self.map,
            nodes: &self.nodes,
            corrupt: &self.corrupt,
            redundancy: &self.redundancy,
            walks: &self.walks,
            #[cfg(test)]
            counts: &self.counts,
        }
    }

    fn stored_replicas(&mut self) -> StoredReplicas<'_> {
        stored_replicas!(self)
    }

    pub(super) fn placement(&self) -> Placement<'_> {
        Placement {
            params: &self.params,
            nodes: &self.nodes,
            slow: &self.slow,
            random: &self.random,
            now_ms: self.now.mono_ms,
        }
    }

    /// Where blocks are, and in which condition.
    pub fn lookup(&self) -> BlockLookup<'_> {
        let order = ReadOrder {
            params: &self.params,
            nodes: &self.nodes,
            slow: &self.slow,
            random: &self.random,
            now_ms: self.now.mono_ms,
        };
        BlockLookup {
            replicas: self.replicas(),
            constructions: &self.constructions,
            caches: &self.caches,
            order,
        }
    }

    /// The DataNodes, to look at.
    pub fn datanodes(&self) -> DatanodeLookup<'_> {
        DatanodeLookup { nodes: &self.nodes, slow: &self.slow, random: &self.random }
    }

    /// Blocks as edits change them; only a commit has the key.
    pub(crate) fn edits(&mut self, _key: CommitKey) -> BlockEdits<'_> {
        let replicas = stored_replicas!(self);
        let blocks = UnderConstruction { replicas, constructions: &mut self.constructions };
        BlockEdits { blocks, removed: &mut self.removed }
    }

    /// Blocks that are written or recovered, to change.
    pub fn under_construction(&mut self) -> UnderConstruction<'_> {
        let replicas = stored_replicas!(self);
        UnderConstruction { replicas, constructions: &mut self.constructions }
    }

    /// Takes in what DataNodes report of their replicas.
    pub fn block_reports(&mut self) -> BlockReports<'_> {
        let replicas = stored_replicas!(self);
        BlockReports {
            blocks: UnderConstruction { replicas, constructions: &mut self.constructions },
            pending: &mut self.pending_messages,
            removed: &self.removed,
            highest_unknown: &mut self.highest_unknown,
            report_leases: &mut self.report_leases,
        }
    }

    /// The DataNodes, as they come and go.
    pub fn datanode_manager(&mut self) -> DatanodeManager<'_> {
        DatanodeManager {
            replicas: stored_replicas!(self),
            pending: &mut self.pending_messages,
            caches: &mut self.caches,
            slow: &mut self.slow,
        }
    }

    /// Takes DataNodes out of service, and back.
    pub fn datanode_admin(&mut self) -> DatanodeAdmin<'_> {
        let replicas = stored_replicas!(self);
        let (pending, caches, slow) =
            (&mut self.pending_messages, &mut self.caches, &mut self.slow);
        let datanodes = DatanodeManager { replicas, pending, caches, slow };
        DatanodeAdmin { datanodes, leaving: &mut self.leaving }
    }

    fn role_change(&mut self) -> RoleChange<'_> {
        RoleChange {
            replicas: stored_replicas!(self),
            constructions: &mut self.constructions,
            caches: &mut self.caches,
            pending_messages: &mut self.pending_messages,
            report_leases: &mut self.report_leases,
        }
    }

    fn redundancy_monitor(&mut self) -> RedundancyMonitor<'_> {
        let replicas = stored_replicas!(self);
        RedundancyMonitor { replicas, slow: &self.slow, random: &self.random }
    }
}

/// Events.
impl BlockManager {
    /// The namespace is loaded: safe mode starts counting, `now` being the start. `last_stamp` is the last one the
    /// namespace gave out: unknown blocks with later ones mean that its metadata is too old.
    pub fn start(&mut self, now: Now, last_stamp: GenerationStamp) {
        self.now.advance(now);
        self.deletions_from_ms = self.now.mono_ms.saturating_add(self.params.deletion_delay_ms);
        self.under_construction().keep_empty(now.mono_ms);
        let complete = self.map.len() - self.constructions.len();
        self.safe_mode.start(complete as u64, last_stamp, now);
    }

    /// A DataNode registers, for the first time or again. The caller has checked versions and ids.
    pub fn register(
        &mut self,
        id: DatanodeId,
        rack: &str,
        software_version: &str,
        now: Now,
    ) -> NodeIdx {
        self.now.advance(now);
        self.datanode_manager().register(id, rack, software_version, now)
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
        self.now.advance(now);
        let Some(node) = self.nodes.alive(uuid) else {
            return HeartbeatReply { commands: vec![Command::Register], report_lease: 0 };
        };
        let wants_report_lease = beat.wants_report_lease;
        let mut datanodes = self.datanode_manager();
        datanodes.note_figures(node, beat, storages, now);
        datanodes.note_answered(node);
        let report_lease = if wants_report_lease {
            self.report_leases.grant(node, self.random.next(), self.now.mono_ms, &self.params)
        } else {
            0
        };
        if self.safe_mode.is_on() || self.nodes.is_standby() {
            return HeartbeatReply { commands: Vec::new(), report_lease };
        }
        self.redundancy_monitor().order_copies_from(node, policy_of);
        let is_deleting = self.now.mono_ms >= self.deletions_from_ms;
        let commands = self.datanode_manager().take_commands(node, is_deleting);
        HeartbeatReply { commands, report_lease }
    }

    /// Time passes: DataNodes that fell silent are dead, safe mode may end, copies and deletions are ordered.
    ///
    /// `policy_of` says on which types of storage a file's replicas shall lie.
    pub fn tick(&mut self, now: Now, policy_of: PolicyOf<'_>) {
        self.now.advance(now);
        let now_ms = self.now.mono_ms;
        self.slow.refresh(now_ms);
        let lost = self.datanode_manager().lose_silent(now);
        if lost > 0 {
            self.redundancy.rounds.expect_work(now_ms);
            self.expired_heartbeats += lost as u64;
        }
        if now_ms >= self.schedules_rolled_ms + SCHEDULE_PERIOD_MS {
            self.schedules_rolled_ms = now_ms;
            self.datanode_manager().roll_schedules();
            self.removed.roll();
        }
        self.under_construction().await_start(now_ms);
        self.safe_mode.set_figures(now, self.nodes.live_count() as u32);
        self.stored_replicas().check_safe_mode();
        if !self.nodes.is_standby() {
            self.redundancy_monitor().run(policy_of);
            self.delete_extra(policy_of);
        }
    }

    /// Orders the deletion of replicas that changes since the last call made superfluous. To be called after every change
    /// that may have done so, before the lock is released.
    pub fn delete_extra(&mut self, policy_of: PolicyOf<'_>) {
        self.redundancy_monitor().delete_extra(policy_of);
    }

    /// Takes in up to `max` replicas of a report or, after its last one, forgets up to `max` that it did not list. Returns the
    /// outcome after the last slice. An entry is ignored if an incremental report about its block arrived since the report began.
    ///
    /// # Errors
    /// `Error::Datanode` when the DataNode died or registered anew since the report began, or began another one.
    pub fn continue_full_report(
        &mut self,
        report: &mut FullReport,
        max: usize,
    ) -> Result<Option<ReportOutcome>> {
        let outcome = self.block_reports().continue_full_report(report, max)?;
        if outcome.is_some() {
            // What was decommissioned may have come back with blocks that others lack.
            self.datanode_admin().recheck_decommissioned(report.node());
        }
        Ok(outcome)
    }

    /// Whether a report that comes with this lease may be taken in.
    pub fn is_report_lease_held(&self, uuid: &str, lease: u64) -> bool {
        self.report_leases.is_held(&self.nodes, uuid, lease, self.now.mono_ms)
    }

    /// One more slice of the walks over blocks; true if there is more to do. Call it until then, others in between.
    pub fn continue_walks(&mut self) -> bool {
        let mut replicas = self.stored_replicas();
        let left = replicas.continue_storage_walks();
        let left = replicas.scan_slice(left);
        let mut admin = self.datanode_admin();
        admin.scan_leaving(left);
        let has_leaving = admin.has_leaving_to_scan();
        !self.walks.is_empty() || self.redundancy.is_scanning() || has_leaving
    }

    /// DataNodes that left service, or came back because their maintenance is over, since the last call: their names and new
    /// states.
    pub fn take_admin_changes(&mut self) -> Vec<(String, AdminState)> {
        self.leaving.take_changes()
    }

    /// Takes what happened to blocks with corrupt replicas since the last call, and the number of events that were too many.
    pub fn take_repairs(&mut self) -> (Vec<RepairEvent>, u64) {
        let (events, untold) = self.corrupt.repairs.take();
        (events.into_iter().map(|event| repair_log::named(event, &self.nodes)).collect(), untold)
    }

    /// Blocks that became complete since the last call: calls that wait for them can go on.
    pub fn take_completed(&mut self) -> Vec<Completed> {
        self.constructions.take_completed()
    }

    /// Queues a block for copies or deletions, where it needs any. `false`: it is not known, or nothing
    /// is ordered yet because the NameNode is still starting.
    pub fn requeue(&mut self, id: BlockId) -> bool {
        self.stored_replicas().requeue(id)
    }

    /// Another NameNode orders copies and deletions from here on; what was queued here is for it to find again. `ids` are
    /// the counters after the last edit.
    pub(crate) fn become_standby(&mut self, ids: &Ids) {
        self.role_change().hand_over(ids);
    }

    /// This NameNode has all edits, and orders copies and deletions from here on.
    pub(crate) fn become_active(&mut self) {
        self.role_change().take_over();
        let blocks = self.pending_messages.blocks();
        self.block_reports().take_pending_messages(&blocks);
    }

    /// A standby applied an edit about these blocks: DataNodes may have reported them before.
    pub(crate) fn edit_applied(&mut self, ids: &Ids, blocks: &[BlockId]) {
        self.pending_messages.set_ids(ids);
        self.safe_mode.metadata_reached(ids.stamp);
        self.block_reports().take_pending_messages(blocks);
    }

    /// Whether another NameNode orders copies and deletions.
    pub(crate) fn is_standby(&self) -> bool {
        self.nodes.is_standby()
    }

    /// A plan that has each of these blocks in the memory of so many DataNodes.
    pub(crate) fn plan_caches(&self, wanted: BTreeMap<BlockId, u16>) -> CachePlan {
        CachePlan::new(wanted, self.nodes.all().len())
    }

    /// Looks at up to `max` blocks of a plan; true if there are more.
    pub(crate) fn advance_plan(&mut self, plan: &mut CachePlan, max: usize) -> bool {
        let replicas = stored_replicas!(self);
        plan.advance(&mut self.caches, replicas.view(), max)
    }
}

/// Questions.
impl BlockManager {
    /// What is known of a block.
    pub fn get(&self, id: BlockId) -> Option<StoredBlock> {
        self.map.stored(id)
    }

    /// Whether the block is there and complete.
    pub fn is_complete(&self, id: BlockId) -> bool {
        self.map.is_complete(id)
    }

    /// Blocks known, complete or not.
    pub fn block_count(&self) -> u64 {
        self.map.len() as u64
    }

    /// Whether a client that is done with a block may say of it what it says.
    ///
    /// # Errors
    /// `Error::Block` when the stamp is not the stored one, or it is shorter than is known, or unknown.
    pub fn check_commit(&self, committed: Block) -> Result<()> {
        self.map.check_commit(committed)
    }

    /// Storages for new replicas, the pipeline's order; may be fewer than asked, never the same node twice.
    ///
    /// # Errors
    /// `Error::Block` when fewer than `dfs.namenode.replication.min` can be found.
    pub fn choose_targets(&self, request: &PlacementRequest<'_>) -> Result<Storages> {
        let placement = self.placement();
        placement
            .choose_targets(request)
            .inspect_err(|_| unplaced::log_refusals(&placement, request))
    }

    /// Storages for a pipeline that lost some: none is an answer too, the client decides. How many it wants is what its
    /// message says, so that no more are looked for than there are nodes.
    pub fn choose_more_targets(&self, request: &PlacementRequest<'_>) -> Storages {
        self.placement().choose_more_targets(request)
    }

    /// Messages of DataNodes that wait for an edit.
    pub fn pending_messages(&self) -> usize {
        self.pending_messages.count()
    }

    /// The highest block id among unknown replicas since the start, and the highest generation stamp; 0 without any.
    pub fn highest_unknown(&self) -> (BlockId, GenerationStamp) {
        self.highest_unknown.get()
    }

    /// Sums over DataNodes and blocks.
    pub fn stats(&self) -> BlockStats {
        let mut stats = BlockStats {
            bytes_in_future: self.safe_mode.bytes_in_future(),
            expired_heartbeats: self.expired_heartbeats,
            ..BlockStats::default()
        };
        self.lookup().add_to(&mut stats);
        self.datanodes().add_to(&mut stats, self.now.mono_ms, self.params.stale_interval_ms);
        stats
    }
}
