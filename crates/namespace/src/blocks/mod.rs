//! The block manager: which block belongs to which file, which storages hold it, and what must be done about it.
//!
//! Pure: no clock, no socket, no disk. [`BlockManager`] holds the parts, each of which keeps its own state. An operation on
//! several parts borrows these and no others: [`UnderConstruction`] for the tree's calls, [`BlockReports`],
//! [`DatanodeManager`] and [`DatanodeAdmin`] for the DataNode service. [`BlockManager::tick`] makes time pass.
//!
//! Memory: one 48-byte entry a block in a slab (three replicas inline), a 4-byte hash index, and a compressed bit set of
//! slab slots for each storage. The tree keeps only the ids of a file's blocks: stamp and length live here.

mod backlog;
mod cached;
mod construction;
mod copy_rounds;
mod corrupt;
mod datanode_admin;
mod datanode_manager;
mod datanodes;
mod edits;
mod excess;
mod extra;
mod leaving;
mod locate;
mod manager;
mod map;
mod node;
mod node_names;
mod nodes;
mod ongoing_report;
mod orders;
mod params;
mod pending_messages;
mod placement;
pub mod policy;
mod queues;
mod random;
mod read_order;
mod redundancy;
mod refusal;
mod repair_log;
mod repairs;
mod replicas;
mod report;
mod report_lease;
mod role;
mod safemode;
mod schedule;
mod slow;
mod spare;
mod storage_reports;
mod stored;
#[cfg(test)]
mod tests;
mod topology;
mod types;
mod under_construction;
mod unknown;
mod unplaced;
mod walks;

pub use backlog::{Backlog, CopiesUnderWay, Limited};
pub(crate) use cached::CachePlan;
pub use construction::Recovery;
pub use datanode_admin::{Admission, DatanodeAdmin, NO_EXPIRY_MS};
pub use datanode_manager::{DatanodeManager, Heartbeat, HeartbeatReply};
pub use datanodes::{DatanodeLookup, Misplaced, NodeCounts, NodeFilter, NodeReport};
pub(crate) use edits::BlockEdits;
pub use locate::{BlockCheck, BlockLookup, ReplicaCheck};
pub use manager::BlockManager;
pub use params::BlockParams;
pub use repair_log::{RepairEvent, RepairStep, StorageName};
pub use report::{BlockReports, FullReport, ReportOutcome};
pub use safemode::{SafeMode, SafeModeFigures};
pub use slow::{DiskLatency, PeerLatency, SlowDisk, SlowLimits, SlowPeer};
pub use topology::DEFAULT_RACK;
pub use types::*;
pub use under_construction::UnderConstruction;
