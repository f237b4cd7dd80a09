//! Records and journals for tests.

use crate::calls::{JournalOptions, RequestInfo, Write};
use crate::journal::Journal;
use crate::storage::StorageInfo;
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::op::{self, EditOp, StartLogSegment};
use zerohop_wire::{RpcIds, TxId};

/// One small record for each transaction.
pub(crate) fn records(first: u64, last: u64) -> Bytes {
    let mut bytes = Vec::new();
    for txid in first..=last {
        let op = EditOp::StartLogSegment(StartLogSegment {});
        op::encode(&op, TxId(txid as i64), &RpcIds::NONE, LayoutVersion::CURRENT, &mut bytes);
    }
    bytes.into()
}

pub(crate) fn info() -> StorageInfo {
    StorageInfo { namespace_id: 7, cluster_id: "CID-x".to_owned(), c_time_ms: 5, layout: -67 }
}

pub(crate) const OPTIONS: JournalOptions = JournalOptions {
    mode: 0o700,
    op_size_max: 1 << 20,
    cache_capacity: Some(1 << 20),
    format_over_data: false,
};

/// Opens the journal of a directory.
pub(crate) fn open(root: &Path) -> Journal {
    Journal::open("ns", root, &OPTIONS, Arc::default()).unwrap()
}

/// A writer's numbered calls.
pub(crate) struct Caller {
    pub(crate) epoch: u64,
    serial: u64,
}

impl Caller {
    pub(crate) fn new(epoch: u64) -> Self {
        Self { epoch, serial: 0 }
    }

    pub(crate) fn request(&mut self) -> RequestInfo {
        self.serial += 1;
        RequestInfo { epoch: self.epoch, serial: self.serial, committed: None }
    }

    pub(crate) fn write(&mut self, segment: i64, first: i64, last: i64) -> Write {
        Write {
            request: self.request(),
            segment: TxId(segment),
            first: TxId(first),
            count: (last + 1 - first) as u32,
            records: records(first as u64, last as u64),
        }
    }
}
