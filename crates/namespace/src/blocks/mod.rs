//! The block manager: which block belongs to which file, which storages hold it, and what must be done about it.
//!
//! Pure: no clock, no socket, no disk. The tree calls the methods in `lifecycle` and `construction`, the NameNode's
//! DataNode service calls those in `heartbeat` and `report`, and [`BlockManager::tick`] makes time pass.
//!
//! Memory: one 48-byte entry a block in a slab (three replicas inline), a 4-byte hash index, and a compressed bit set of
//! slab slots for each storage. The tree keeps only the ids of a file's blocks: stamp and length live here.

mod backlog;
mod cached;
mod construction;
mod copy_rounds;
mod corrupt;
mod decommission;
mod edits;
mod excess;
mod extra;
mod heartbeat;
mod inspect;
mod leaving;
mod lifecycle;
mod locate;
mod maintenance;
mod map;
mod node;
mod nodes;
mod ongoing_report;
mod params;
mod pending_deletions;
mod pending_messages;
mod placement;
pub mod policy;
mod queues;
mod random;
mod read_order;
mod recovery;
mod redundancy;
mod refusal;
mod replicas;
mod report;
mod report_lease;
mod safemode;
mod schedule;
mod slices;
mod slow;
mod slow_nodes;
mod standby;
mod stats;
#[cfg(test)]
mod tests;
mod topology;
mod types;
mod unknown;
mod unplaced;
mod walks;

pub use backlog::{Backlog, Beginning, CopiesUnderWay};
pub(crate) use cached::CachePlan;
pub use construction::Recovery;
pub use decommission::Admission;
pub(crate) use edits::BlockEdits;
pub use heartbeat::{Heartbeat, HeartbeatReply};
pub use inspect::{BlockCheck, Misplaced, ReplicaCheck};
pub use maintenance::NO_EXPIRY_MS;
pub use params::BlockParams;
pub use report::{FullReport, ReportOutcome};
pub use safemode::SafeMode;
pub use slow::{DiskLatency, PeerLatency, SlowLimits};
pub use slow_nodes::{SlowDisk, SlowPeer};
pub use stats::{NodeFilter, NodeReport};
pub use topology::DEFAULT_RACK;
pub use types::*;

use construction::Construction;
use hashbrown::HashMap;
use map::{BlockMap, Slot};
use nodes::Nodes;
use queues::Redundancy;
use random::SplitMix64;
use unknown::RemovedWhileWritten;

/// The block manager; see the module's text.
pub struct BlockManager {
    params: BlockParams,
    /// The last instant the caller told.
    now: Now,
    map: BlockMap,
    nodes: Nodes,
    /// Only blocks that are not complete.
    constructions: HashMap<Slot, Construction>,
    /// Replicas known to be bad.
    corrupt: corrupt::CorruptReplicas,
    redundancy: Redundancy,
    walks: walks::Walks,
    leaving: leaving::LeavingScans,
    removed: RemovedWhileWritten,
    highest_unknown: unknown::HighestUnknown,
    safe_mode: SafeMode,
    pending_messages: pending_messages::PendingMessages,
    slow: slow::SlowReports,
    completed: Vec<Completed>,
    random: SplitMix64,
    schedules_rolled_ms: u64,
    /// No DataNode is told to delete anything before this instant of the steady clock.
    deletions_from_ms: u64,
    /// DataNodes that fell silent since the start.
    expired_heartbeats: u64,
    /// How often the replicas of a block were counted: tests count work, not time.
    #[cfg(test)]
    counts: std::sync::atomic::AtomicUsize,
}

impl BlockManager {
    /// An empty block manager without DataNodes, in safe mode until [`BlockManager::start`] is called.
    pub fn new(params: BlockParams) -> Self {
        Self {
            now: Now::default(),
            map: BlockMap::default(),
            nodes: Nodes::default(),
            constructions: HashMap::new(),
            corrupt: corrupt::CorruptReplicas::default(),
            redundancy: Redundancy::default(),
            walks: walks::Walks::default(),
            leaving: leaving::LeavingScans::default(),
            removed: RemovedWhileWritten::default(),
            highest_unknown: unknown::HighestUnknown::default(),
            safe_mode: SafeMode::new(&params),
            pending_messages: pending_messages::PendingMessages::default(),
            slow: slow::SlowReports::new(params.slow_limits),
            completed: Vec::new(),
            random: SplitMix64::new(params.seed),
            schedules_rolled_ms: 0,
            deletions_from_ms: 0,
            expired_heartbeats: 0,
            #[cfg(test)]
            counts: Default::default(),
            params,
        }
    }

    /// Other settings from here on; those that were only read at the start stay as they were.
    pub fn set_params(&mut self, params: BlockParams) {
        self.slow.set_limits(params.slow_limits);
        self.params = params;
    }

    /// What is known of the replicas of blocks.
    fn replicas(&self) -> replicas::Replicas<'_> {
        replicas::Replicas {
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

    fn placement(&self) -> placement::Placement<'_> {
        placement::Placement {
            params: &self.params,
            nodes: &self.nodes,
            slow: &self.slow,
            random: &self.random,
            now_ms: self.now.mono_ms,
        }
    }

    fn read_order(&self) -> read_order::ReadOrder<'_> {
        read_order::ReadOrder {
            params: &self.params,
            nodes: &self.nodes,
            slow: &self.slow,
            random: &self.random,
            now_ms: self.now.mono_ms,
        }
    }

    /// Storages for new replicas, the pipeline's order; may be fewer than asked, never the same node twice.
    ///
    /// # Errors
    /// `IOException` as Hadoop words it when fewer than `dfs.namenode.replication.min` can be found.
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

    /// The settings.
    pub fn params(&self) -> &BlockParams {
        &self.params
    }
}
