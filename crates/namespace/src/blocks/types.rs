//! What the block manager takes and gives: plain data, no behaviour.

use smallvec::SmallVec;
use std::sync::Arc;
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId, authority};

pub use zerohop_wire::StorageType;
pub use zerohop_wire::{ReplicaState, ReportedReplica};

/// A DataNode in the tables of this process; not stable across restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIdx(pub u32);

/// A storage (volume) of a DataNode in the tables of this process; not stable across restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorageIdx(pub u32);

/// A few storages: as many as a block has replicas.
pub type Storages = SmallVec<[StorageIdx; 4]>;

/// Both clocks of the caller, in milliseconds: this crate reads none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Since 1970.
    pub wall_ms: u64,
    /// Since any fixed point; never steps back. Timeouts use this one.
    pub mono_ms: u64,
}

impl Now {
    /// Time passes; a clock that seems to step back does not count.
    pub(super) fn advance(&mut self, now: Now) {
        if now.mono_ms >= self.mono_ms {
            *self = now;
        }
    }
}

/// How a DataNode names itself (`DatanodeIDProto`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DatanodeId {
    /// Address clients connect to.
    pub ip: String,
    /// Its own idea of its name.
    pub host: String,
    /// Its UUID, made once when it was formatted.
    pub uuid: String,
    /// Port of block data.
    pub xfer_port: u32,
    /// Port of HTTP.
    pub info_port: u32,
    /// Port of HTTPS, 0 if none.
    pub info_secure_port: u32,
    /// Port of its RPC server.
    pub ipc_port: u32,
}

impl DatanodeId {
    /// `ip:port` of block data, as Hadoop's messages show a DataNode.
    pub fn xfer_addr(&self) -> String {
        format!("{}:{}", self.ip, self.xfer_port)
    }

    /// Returns the DataNode's name, `host:port` of block data.
    pub fn name(&self) -> String {
        authority(&self.host, self.xfer_port)
    }

    /// Returns the address of its pages by its name, which `dfs.datanode.hostname` can set.
    pub fn web_address(&self) -> String {
        authority(&self.host, self.info_port)
    }
}

/// What an operator wants of a DataNode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdminState {
    /// In service.
    #[default]
    Normal,
    /// Its replicas are being copied away.
    DecommissionInProgress,
    /// Nothing depends on it any more.
    Decommissioned,
    /// About to be away for a while.
    EnteringMaintenance,
    /// Away for a while; its replicas count.
    InMaintenance,
}

impl AdminState {
    /// Away for a while, or about to be.
    pub fn is_maintenance(self) -> bool {
        matches!(self, Self::EnteringMaintenance | Self::InMaintenance)
    }

    /// As Hadoop's pages call it (`DatanodeInfo.AdminStates`).
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "In Service",
            Self::DecommissionInProgress => "Decommission In Progress",
            Self::Decommissioned => "Decommissioned",
            Self::EnteringMaintenance => "Entering Maintenance",
            Self::InMaintenance => "In Maintenance",
        }
    }
}

/// Figures of a DataNode from its last heartbeat; sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct NodeStats {
    pub capacity: u64,
    pub dfs_used: u64,
    pub non_dfs_used: u64,
    pub remaining: u64,
    pub block_pool_used: u64,
    pub cache_capacity: u64,
    pub cache_used: u64,
    /// Active data threads.
    pub xceivers: u32,
    /// Replicas on all its storages.
    pub blocks: u32,
    /// Last heartbeat, by each clock.
    pub last_update: Now,
    /// Last full block report, by each clock.
    pub last_block_report: Now,
    pub admin: AdminState,
}

/// A DataNode as answers to clients show it.
#[derive(Clone, Debug)]
pub struct DatanodeInfo {
    /// Its names and ports.
    pub id: Arc<DatanodeId>,
    /// Its place in the network, `/default-rack` unless mapped.
    pub rack: Arc<str>,
    /// Its figures.
    pub stats: NodeStats,
}

/// One storage's figures, from a heartbeat (`StorageReportProto`).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct StorageReport {
    pub id: Arc<str>,
    pub kind: StorageType,
    pub read_only: bool,
    pub failed: bool,
    pub capacity: u64,
    pub dfs_used: u64,
    pub non_dfs_used: u64,
    pub remaining: u64,
    pub block_pool_used: u64,
    pub mount: Option<String>,
}

/// The volumes of a DataNode that are out of use (`VolumeFailureSummary`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeFailures {
    /// Their directories.
    pub directories: Vec<String>,
    /// When the last of them failed; milliseconds since 1970, 0 for never.
    pub last_ms: u64,
    /// Bytes they had.
    pub capacity_lost: u64,
}

/// A storage together with the DataNode that has it.
#[derive(Clone, Debug)]
pub struct ReplicaLocation {
    /// The storage in the tables here.
    pub storage: StorageIdx,
    /// The DataNode.
    pub node: DatanodeInfo,
    /// The storage's id.
    pub storage_id: Arc<str>,
    /// The storage's type.
    pub kind: StorageType,
    /// The DataNode holds the block locked in memory.
    pub is_held: bool,
}

/// Where a block's replicas are, nearest to the asking client first.
#[derive(Clone, Debug)]
pub struct BlockLocations {
    /// The block with its length as known now.
    pub block: Block,
    /// Its replicas that can be read (or are being written).
    pub replicas: Vec<ReplicaLocation>,
    /// Every replica is corrupt; `replicas` then lists the corrupt ones.
    pub corrupt: bool,
}

/// How far a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// A client writes it.
    UnderConstruction,
    /// Its replicas are being brought to one length and stamp.
    UnderRecovery,
    /// The client is done; too few DataNodes have reported it yet.
    Committed,
    /// At least the minimum of finalized replicas was reported.
    Complete,
}

/// What is known of a block apart from where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBlock {
    /// Id, stamp and length.
    pub block: Block,
    /// The file it belongs to.
    pub file: InodeId,
    /// How many replicas it should have.
    pub replication: u16,
    /// How far it is.
    pub state: BlockState,
}

/// A wish for storages to write a block to.
#[derive(Clone, Debug, Default)]
pub struct PlacementRequest<'a> {
    /// For messages.
    pub path: &'a str,
    /// How many storages, not counting `chosen`.
    pub replicas: usize,
    /// The writer's address (IP or host name).
    pub client_host: &'a str,
    /// The rack of a writer that is not a DataNode, if the network's mapping knows it.
    pub client_rack: Option<&'a str>,
    /// The DataNode that sends the block on, if it was chosen already.
    pub source: Option<NodeIdx>,
    /// Size of the block in bytes: room that must be there.
    pub block_size: u64,
    /// DataNodes not to use, by UUID.
    pub excluded: &'a [String],
    /// DataNodes to prefer, `host:port`.
    pub favored: &'a [String],
    /// Storages that already hold (or will hold) the block: placement goes on from them.
    pub chosen: &'a [StorageIdx],
    /// Storages whose DataNodes are not to be used although their replicas do not count: corrupt, about to go.
    pub unusable: &'a [StorageIdx],
    /// The file's storage policy id; 0 means the default, HOT.
    pub storage_policy: u8,
    /// AddBlockFlag.NO_LOCAL_WRITE: not the writer's own DataNode.
    pub avoid_local: bool,
    /// AddBlockFlag.IGNORE_CLIENT_LOCALITY: act as if the writer ran on no DataNode.
    pub ignore_locality: bool,
}

/// The place of a client in the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientLocation<'a> {
    /// The client's address (IP or host name).
    pub host: &'a str,
    /// The rack of a client that is not a DataNode, if the network's mapping knows it.
    pub rack: Option<&'a str>,
}

impl<'a> From<&'a str> for ClientLocation<'a> {
    fn from(host: &'a str) -> Self {
        Self { host, rack: None }
    }
}

/// Says which storage policy is in force for a file; 0 where none is set: the directories above decide, and they are not known
/// here.
pub type PolicyOf<'a> = &'a dyn Fn(InodeId) -> u8;

/// Commands for a DataNode, answered to its next heartbeat.
#[derive(Clone, Debug)]
pub enum Command {
    /// Send these replicas on to targets.
    Transfer(Vec<TransferCommand>),
    /// Delete these replicas.
    Invalidate(Vec<Block>),
    /// Lead the recovery of these blocks.
    Recover(Vec<RecoverCommand>),
    /// Register again.
    Register,
    /// Throttle balancing to this many bytes a second.
    BalancerBandwidth(u64),
    /// Lock these replicas in memory.
    Cache(Vec<BlockId>),
    /// Let these replicas go from memory.
    Uncache(Vec<BlockId>),
}

/// One block to copy to one or more targets.
#[derive(Clone, Debug)]
pub struct TransferCommand {
    /// The block.
    pub block: Block,
    /// Where to.
    pub targets: Vec<ReplicaLocation>,
}

/// One block whose replicas must agree on a length.
#[derive(Clone, Debug)]
pub struct RecoverCommand {
    /// The block as the NameNode knows it.
    pub block: Block,
    /// The stamp it gets.
    pub new_stamp: GenerationStamp,
    /// Replicas that take part; the first is the leader.
    pub locations: Vec<ReplicaLocation>,
    /// For a truncate: the block it shall become (same id, or a new one when copied) and its length.
    pub truncate: Option<Block>,
}

/// One event of an incremental report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaEvent {
    /// A replica is being written.
    Receiving(Block),
    /// A replica is finalized.
    Received(Block),
    /// A replica is finalized, and shall take the place of this DataNode's: the balancer or the mover had it copied.
    Moved(Block, NodeIdx),
    /// A replica is gone.
    Deleted(Block),
}

impl ReplicaEvent {
    /// The replica.
    pub fn block(&self) -> Block {
        match self {
            Self::Receiving(block) | Self::Received(block) => *block,
            Self::Moved(block, _) | Self::Deleted(block) => *block,
        }
    }
}

/// Why a replica counts as corrupt; shown by fsck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CorruptReason {
    GenerationStampMismatch,
    SizeMismatch,
    InvalidState,
    /// A client or a DataNode found wrong checksums.
    Reported,
}

impl CorruptReason {
    /// As Hadoop's `CorruptReplicasMap.Reason` is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::GenerationStampMismatch => "GENSTAMP_MISMATCH",
            Self::SizeMismatch => "SIZE_MISMATCH",
            Self::InvalidState => "INVALID_STATE",
            Self::Reported => "CORRUPTION_REPORTED",
        }
    }
}

/// How many replicas of a block are in which condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ReplicaCounts {
    pub live: u32,
    pub corrupt: u32,
    pub excess: u32,
    pub decommissioning: u32,
    pub decommissioned: u32,
    pub maintenance: u32,
    pub pending: u32,
}

impl ReplicaCounts {
    /// Good replicas on DataNodes that operators take out of service.
    pub(super) fn leaving(&self) -> u32 {
        self.decommissioning + self.decommissioned + self.maintenance
    }
}

/// How many replicas are unknown, and how large they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnknownTotals {
    /// Replicas.
    pub replicas: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those of them whose generation stamp is later than any this NameNode had given out when it started.
    pub newer: u64,
}

impl UnknownTotals {
    pub(super) fn add(&mut self, other: Self) {
        self.replicas = self.replicas.saturating_add(other.replicas);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.newer = self.newer.saturating_add(other.newer);
    }
}

/// A storage with unknown replicas, and some of their blocks.
#[derive(Clone, Debug)]
pub struct UnknownOnStorage {
    /// The DataNode's UUID.
    pub uuid: String,
    /// Where clients reach it, `ip:port`.
    pub xfer_addr: String,
    /// The storage's id.
    pub storage_id: Arc<str>,
    /// When the DataNode last sent a full report; ms since 1970, 0 for never.
    pub last_report_ms: u64,
    /// How many there are.
    pub totals: UnknownTotals,
    /// A page of their ids.
    pub ids: Vec<BlockId>,
    /// Where the next page begins; none after the last one. Fewer ids than replicas are listed if there are very many.
    pub next: Option<u64>,
}

/// Sums over all DataNodes and blocks, for `getStats`, JMX and `dfsadmin -report`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct BlockStats {
    pub capacity: u64,
    pub dfs_used: u64,
    pub non_dfs_used: u64,
    pub remaining: u64,
    pub cache_capacity: u64,
    pub cache_used: u64,
    pub block_pool_used: u64,
    pub blocks: u64,
    pub under_replicated: u64,
    pub corrupt: u64,
    pub missing: u64,
    pub missing_replication_one: u64,
    pub pending_replication: u64,
    pub pending_deletion: u64,
    pub excess: u64,
    /// Blocks whose excess or corrupt replicas are kept until stale storages have reported.
    pub postponed: u64,
    /// Replicas that the namespace does not know, not deleted yet.
    pub unknown: UnknownTotals,
    pub bytes_in_future: u64,
    pub under_construction: u64,
    pub low_redundancy_with_highest_priority: u64,
    pub live_nodes: u32,
    pub dead_nodes: u32,
    pub stale_nodes: u32,
    pub xceivers: u32,
    /// Storages of live DataNodes that have sent no full report since this NameNode became active.
    pub stale_storages: u32,
    /// DataNodes that fell silent since this process started.
    pub expired_heartbeats: u64,
    /// Blocks that the block map holds without growing.
    pub block_capacity: u64,
    /// Blocks whose ordered replicas arrived, since this process started.
    pub copies_arrived: u64,
    /// Blocks whose ordered replicas did not arrive in time.
    pub copies_late: u64,
    /// Times that a copy was due and none could be ordered.
    pub copies_not_ordered: u64,
}

pub use crate::error::Result;

/// A block that became complete through a report: what waiting calls are woken by.
pub type Completed = BlockId;

#[cfg(test)]
mod tests {
    use super::*;

    /// Links to a DataNode with an address of IPv6 named another host and port, or none.
    #[test]
    fn links_to_a_datanode_lacked_brackets() {
        let id = |host: &str| DatanodeId {
            host: host.to_owned(),
            xfer_port: 9866,
            info_port: 9864,
            ..DatanodeId::default()
        };
        for (host, name, web) in [
            ("fd00::7", "[fd00::7]:9866", "[fd00::7]:9864"),
            ("dn7.example", "dn7.example:9866", "dn7.example:9864"),
        ] {
            assert_eq!((id(host).name().as_str(), id(host).web_address().as_str()), (name, web));
        }
    }
}
