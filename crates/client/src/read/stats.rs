//! What a stream has read, by the way it went.

use super::plan::{ReadPath, ReadReason};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const PATHS: usize = ReadPath::ALL.len();

/// What a stream has read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadStatistics {
    /// Bytes by path, in the order of [`ReadPath::ALL`].
    pub bytes: [u64; PATHS],
    /// Blocks opened by path, in the same order.
    pub opens: [u64; PATHS],
    /// Replicas that failed and were replaced by another one.
    pub failovers: u64,
    /// Replicas whose data did not match its checksum.
    pub corrupt: u64,
    /// The path of the last open and why it was not a local one.
    pub last: Option<(ReadPath, ReadReason)>,
}

impl ReadStatistics {
    /// Bytes that went a path.
    pub fn bytes_by(&self, path: ReadPath) -> u64 {
        self.bytes[path.index()]
    }

    /// All bytes.
    pub fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }
}

#[derive(Default)]
pub(super) struct Counters {
    bytes: [AtomicU64; PATHS],
    opens: [AtomicU64; PATHS],
    failovers: AtomicU64,
    corrupt: AtomicU64,
    last: Mutex<Option<(ReadPath, ReadReason)>>,
}

impl Counters {
    pub(super) fn opened(&self, path: ReadPath, reason: ReadReason) {
        self.opens[path.index()].fetch_add(1, Ordering::Relaxed);
        *self.last.lock() = Some((path, reason));
    }

    pub(super) fn read(&self, path: ReadPath, bytes: usize) {
        self.bytes[path.index()].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn failed_over(&self, is_corrupt: bool) {
        self.failovers.fetch_add(1, Ordering::Relaxed);
        if is_corrupt {
            self.corrupt.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn snapshot(&self) -> ReadStatistics {
        let all = |from: &[AtomicU64; PATHS]| from.each_ref().map(|n| n.load(Ordering::Relaxed));
        ReadStatistics {
            bytes: all(&self.bytes),
            opens: all(&self.opens),
            failovers: self.failovers.load(Ordering::Relaxed),
            corrupt: self.corrupt.load(Ordering::Relaxed),
            last: *self.last.lock(),
        }
    }
}
