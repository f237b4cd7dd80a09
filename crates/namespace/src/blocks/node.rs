//! A DataNode and its storages, as far as they are known.

use super::orders::Orders;
use super::schedule::Schedule;
use super::storage_reports::StorageReports;
use super::types::{
    AdminState, Command, DatanodeId, NodeIdx, Now, StorageIdx, StorageReport, StorageType,
    VolumeFailures,
};
use roaring::RoaringBitmap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A DataNode.
pub(super) struct Node {
    pub(super) id: Arc<DatanodeId>,
    pub(super) rack: Arc<str>,
    pub(super) software_version: String,
    pub(super) storages: SmallVec<[StorageIdx; 4]>,
    pub(super) scheduled: Schedule,
    pub(super) alive: bool,
    pub(super) admin: AdminState,
    /// When its maintenance ends, ms since 1970.
    pub(super) maintenance_until_ms: u64,
    pub(super) xceivers: u32,
    pub(super) transfers_running: u32,
    pub(super) failed_volumes: u32,
    pub(super) volume_failures: VolumeFailures,
    pub(super) cache_capacity: u64,
    pub(super) cache_used: u64,
    pub(super) last_update: Now,
    pub(super) last_report: Now,
    /// Its storages have been named by a heartbeat since it registered.
    pub(super) heartbeat_seen: bool,
    pub(super) orders: Orders,
}

impl Node {
    /// Takes what the DataNode is told with the answer to a heartbeat; it sends up to `streams_max` copies at once and is to
    /// delete up to `deletions_max` replicas.
    pub(super) fn take_commands(
        &mut self,
        streams_max: usize,
        deletions_max: usize,
    ) -> Vec<Command> {
        let free = streams_max.saturating_sub(self.transfers_running as usize);
        self.orders.take(free, deletions_max)
    }

    /// How many more copies it could send where so many at once are allowed; none until it has begun all that were ordered.
    pub(super) fn free_streams(&self, streams_max: usize) -> usize {
        if self.alive && self.orders.transfers() == 0 {
            streams_max.saturating_sub(self.transfers_running as usize)
        } else {
            0
        }
    }
}

/// A storage of a DataNode.
pub(super) struct Storage {
    pub(super) id: Arc<str>,
    pub(super) node: NodeIdx,
    pub(super) kind: StorageType,
    pub(super) read_only: bool,
    pub(super) failed: bool,
    pub(super) capacity: u64,
    pub(super) dfs_used: u64,
    pub(super) non_dfs_used: u64,
    pub(super) remaining: u64,
    pub(super) block_pool_used: u64,
    pub(super) mount: Option<String>,
    /// Slots of the blocks it holds a replica of.
    pub(super) blocks: RoaringBitmap,
    pub(super) reports: StorageReports,
}

impl Storage {
    /// Whether a block of this size may be placed there.
    pub(super) fn takes(&self, kind: StorageType, block_size: u64) -> bool {
        self.kind == kind && !self.failed && !self.read_only && self.remaining >= block_size
    }

    /// Begins to take in a full report; as [`StorageReports::begin`].
    pub(super) fn begin_report(&mut self, is_later: bool) -> (u64, u64) {
        self.reports.begin(is_later, self.blocks.clone())
    }

    pub(super) fn apply(&mut self, report: &StorageReport) {
        (self.kind, self.read_only, self.failed) = (report.kind, report.read_only, report.failed);
        (self.capacity, self.dfs_used, self.non_dfs_used) =
            (report.capacity, report.dfs_used, report.non_dfs_used);
        (self.remaining, self.block_pool_used) = (report.remaining, report.block_pool_used);
        if report.mount.is_some() {
            self.mount.clone_from(&report.mount);
        }
    }
}
