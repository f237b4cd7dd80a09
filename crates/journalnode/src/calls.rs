//! What a journal is asked for, and what it answers.

use crate::segments::SegmentState;
use bytes::Bytes;
use zerohop_wire::TxId;

/// What a journal is given at its start.
#[derive(Clone, Debug)]
pub(crate) struct JournalOptions {
    /// Permissions of the directory (`dfs.journalnode.edits.dir.perm`).
    pub(crate) mode: u32,
    /// Larger records are taken for damage.
    pub(crate) op_size_max: usize,
    /// Bytes of edits kept in memory for those who follow; none: nothing is kept.
    pub(crate) cache_capacity: Option<usize>,
    /// Whether a NameNode may format a journal that has edits.
    pub(crate) format_over_data: bool,
}

/// Who sends a call, and which one it is (`RequestInfoProto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestInfo {
    pub(crate) epoch: u64,
    /// Rises with each call of an epoch.
    pub(crate) serial: u64,
    /// The last transaction that a majority has.
    pub(crate) committed: Option<u64>,
}

/// Records to write (`JournalRequestProto`).
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) request: RequestInfo,
    /// The first transaction of the segment.
    pub(crate) segment: TxId,
    /// The first record's transaction.
    pub(crate) first: TxId,
    /// How many records there are. None: only what is committed is told.
    pub(crate) count: u32,
    pub(crate) records: Bytes,
}

/// What a journal knows of a segment that is to be recovered (`PrepareRecoveryResponseProto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) state: Option<SegmentState>,
    /// The epoch of an earlier recovery that was accepted here and not completed.
    pub(crate) accepted_in: Option<u64>,
    pub(crate) last_writer: u64,
    pub(crate) committed: Option<u64>,
}

/// A list of segments (`RemoteEditLogManifestProto`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) committed: Option<u64>,
}
