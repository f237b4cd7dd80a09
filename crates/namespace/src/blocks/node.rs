//! A DataNode and its storages, as far as they are known.

use super::ongoing_report::OngoingReport;
use super::schedule::Schedule;
use super::types::{
    AdminState, Command, DatanodeId, NodeIdx, Now, RecoverCommand, StorageIdx, StorageReport,
    StorageType, TransferCommand, VolumeFailures,
};
use super::unknown::UnknownReplicas;
use roaring::RoaringBitmap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zerohop_wire::{Block, BlockId, GenerationStamp};

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
    pub(super) bandwidth: Option<u64>,
    /// Replicas to delete, with their lengths; under another stamp a DataNode keeps what it has.
    pub(super) invalidate: BTreeMap<(BlockId, GenerationStamp), u64>,
    pub(super) transfers: VecDeque<TransferCommand>,
    pub(super) recoveries: Vec<RecoverCommand>,
}

impl Node {
    /// Forgets what the DataNode was to be told.
    pub(super) fn clear_orders(&mut self) {
        self.invalidate.clear();
        self.transfers.clear();
        self.recoveries.clear();
    }

    /// Takes what the DataNode is told with the answer to a heartbeat; it sends up to `streams_max` copies at once and is to
    /// delete up to `deletions_max` replicas.
    pub(super) fn take_commands(
        &mut self,
        streams_max: usize,
        deletions_max: usize,
    ) -> Vec<Command> {
        let mut commands = Vec::new();
        let free = streams_max.saturating_sub(self.transfers_running as usize);
        let transfers: Vec<TransferCommand> =
            self.transfers.drain(..free.min(self.transfers.len())).collect();
        if !transfers.is_empty() {
            commands.push(Command::Transfer(transfers));
        }
        if !self.recoveries.is_empty() {
            commands.push(Command::Recover(std::mem::take(&mut self.recoveries)));
        }
        let deletions = self.take_deletions(deletions_max);
        if !deletions.is_empty() {
            commands.push(Command::Invalidate(deletions));
        }
        commands.extend(self.bandwidth.take().map(Command::BalancerBandwidth));
        commands
    }

    fn take_deletions(&mut self, max: usize) -> Vec<Block> {
        let next = std::iter::from_fn(|| self.invalidate.pop_first());
        next.take(max).map(|((id, stamp), len)| Block { id, stamp, len }).collect()
    }

    /// How many more copies it could send where so many at once are allowed; none until it has begun all that were ordered.
    pub(super) fn free_streams(&self, streams_max: usize) -> usize {
        if self.alive && self.transfers.is_empty() {
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
    /// Full reports since its DataNode registered.
    pub(super) reports: u32,
    /// Bytes of reported blocks that are newer than the namespace, while safe mode of the start lasts.
    pub(super) future_bytes: u64,
    /// Replicas that the namespace does not know.
    pub(super) unknown: UnknownReplicas,
    /// A full report followed the first one since its DataNode registered: unknown replicas are deleted from then on.
    pub(super) deletes_unknown: bool,
    /// The full report that is being taken in.
    pub(super) ongoing: Option<OngoingReport>,
    /// Full reports that were begun.
    pub(super) reports_begun: u64,
}

impl Storage {
    /// Whether a block of this size may be placed there.
    pub(super) fn takes(&self, kind: StorageType, block_size: u64) -> bool {
        self.kind == kind && !self.failed && !self.read_only && self.remaining >= block_size
    }

    /// Its DataNode registered anew or is gone: what it reports next is a first report.
    pub(super) fn forget_reports(&mut self) {
        self.reports = 0;
        self.unknown.clear();
        self.deletes_unknown = false;
        self.ongoing = None;
    }

    /// Begins to take in a full report, in place of one that is not finished; its number.
    pub(super) fn begin_report(&mut self) -> u64 {
        self.reports_begun += 1;
        self.ongoing = Some(OngoingReport::new(self.reports_begun, self.blocks.clone()));
        self.reports_begun
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
