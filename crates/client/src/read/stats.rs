//! What was read, by the way it went: of one stream, and of a client.

use super::local_outcome::Found;
use super::plan::{NotLocal, ReadPath, ReadReason};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

const PATHS: usize = ReadPath::ALL.len();
const REASONS: usize = ReadReason::ALL.len();
/// Places for the counts of mapped reads: threads that read at once do not wait for each other's
/// cache line.
const PLACES: usize = 8;

/// Ranges that went one way for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeCount {
    /// The way.
    pub path: ReadPath,
    /// Why it was not a local one; `None` where it was.
    pub reason: ReadReason,
    /// Bytes read.
    pub bytes: u64,
    /// Ranges read.
    pub ops: u64,
}

impl RangeCount {
    /// A path that no read has taken yet.
    pub const fn new(path: ReadPath, reason: ReadReason) -> Self {
        Self { path, reason, bytes: 0, ops: 0 }
    }
}

/// What was read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadStatistics {
    /// Bytes by path, in the order of [`ReadPath::ALL`].
    pub bytes: [u64; PATHS],
    /// Ranges by path, in the same order.
    pub ops: [u64; PATHS],
    /// Blocks opened by path, in the same order.
    pub opens: [u64; PATHS],
    /// Bytes that were compared with their checksums.
    pub checked_bytes: u64,
    /// Bytes of zero-copy reads; part of those of [`ReadPath::LocalMapped`].
    pub zero_copy_bytes: u64,
    /// Local opens that found the replica open.
    pub cache_hits: u64,
    /// Local opens that asked the DataNode.
    pub cache_misses: u64,
    /// Local opens that waited for another reader's request.
    pub waits: u64,
    /// Replicas that failed and were replaced by another one.
    pub failovers: u64,
    /// Replicas whose data did not match its checksum.
    pub corrupt: u64,
    /// All that was read, by path and reason.
    pub ranges: Vec<RangeCount>,
    /// The path of the last open and why it was not a local one.
    pub last: Option<(ReadPath, ReadReason)>,
    /// Details of the last path and reason: what was found, and what to do.
    pub detail: Option<String>,
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

    /// Bytes read from replicas' files (`ReadStatistics.getTotalShortCircuitBytesRead`).
    pub fn local_bytes(&self) -> u64 {
        ReadPath::ALL.iter().filter(|p| p.is_local()).map(|p| self.bytes_by(*p)).sum()
    }

    fn add(&mut self, other: &Self) {
        let sum = |to: &mut [u64; PATHS], from: &[u64; PATHS]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        sum(&mut self.bytes, &other.bytes);
        sum(&mut self.ops, &other.ops);
        sum(&mut self.opens, &other.opens);
        self.checked_bytes += other.checked_bytes;
        self.zero_copy_bytes += other.zero_copy_bytes;
        self.cache_hits += other.cache_hits;
        self.cache_misses += other.cache_misses;
        self.waits += other.waits;
        self.failovers += other.failovers;
        self.corrupt += other.corrupt;
        for range in &other.ranges {
            let same = |r: &&mut RangeCount| (r.path, r.reason) == (range.path, range.reason);
            match self.ranges.iter_mut().find(same) {
                Some(known) => {
                    known.bytes += range.bytes;
                    known.ops += range.ops;
                }
                None => self.ranges.push(*range),
            }
        }
        if other.last.is_some() {
            self.last = other.last;
            self.detail = other.detail.clone();
        }
    }
}

#[derive(Default)]
struct Count {
    bytes: AtomicU64,
    ops: AtomicU64,
}

impl Count {
    fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.ops.fetch_add(1, Ordering::Relaxed);
    }
}

/// Mapped reads of the threads that use this place.
#[derive(Default)]
#[repr(align(128))]
struct Place {
    read: Count,
    checked: AtomicU64,
}

#[derive(Default)]
pub(super) struct Counters {
    mapped: [Place; PLACES],
    ranges: [[Count; REASONS]; PATHS],
    opens: [AtomicU64; PATHS],
    checked: AtomicU64,
    zero_copy: AtomicU64,
    found: [AtomicU64; 3],
    failovers: AtomicU64,
    corrupt: AtomicU64,
    last: Mutex<Option<(ReadPath, NotLocal)>>,
}

impl Counters {
    /// `note`: details about the path.
    pub(super) fn opened_local(&self, path: ReadPath, found: Found, note: &str) {
        self.opens[path.index()].fetch_add(1, Ordering::Relaxed);
        self.found[found as usize].fetch_add(1, Ordering::Relaxed);
        *self.last.lock() = Some((path, NotLocal::new(ReadReason::None, note)));
    }

    pub(super) fn opened(&self, path: ReadPath, why: NotLocal) {
        self.opens[path.index()].fetch_add(1, Ordering::Relaxed);
        *self.last.lock() = Some((path, why));
    }

    pub(super) fn read(&self, path: ReadPath, reason: ReadReason, bytes: usize, checked: bool) {
        if path == ReadPath::LocalMapped {
            return self.read_mapped(bytes, checked);
        }
        self.ranges[path.index()][reason.index()].add(bytes as u64);
        if checked {
            self.checked.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn read_mapped(&self, bytes: usize, checked: bool) {
        let place = &self.mapped[place_of_thread()];
        place.read.add(bytes as u64);
        if checked {
            place.checked.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn read_zero_copy(&self, bytes: usize, checked: bool) {
        self.read_mapped(bytes, checked);
        self.zero_copy.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn failed_over(&self, is_corrupt: bool) {
        self.failovers.fetch_add(1, Ordering::Relaxed);
        if is_corrupt {
            self.corrupt.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn snapshot(&self) -> ReadStatistics {
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let mut ranges = Vec::new();
        for path in ReadPath::ALL {
            for reason in ReadReason::ALL {
                let count = &self.ranges[path.index()][reason.index()];
                let (mut bytes, mut ops) = (load(&count.bytes), load(&count.ops));
                if (path, reason) == (ReadPath::LocalMapped, ReadReason::None) {
                    bytes += self.mapped.iter().map(|p| load(&p.read.bytes)).sum::<u64>();
                    ops += self.mapped.iter().map(|p| load(&p.read.ops)).sum::<u64>();
                }
                if ops > 0 {
                    ranges.push(RangeCount { path, reason, bytes, ops });
                }
            }
        }
        let sum = |path: ReadPath, of: fn(&RangeCount) -> u64| {
            ranges.iter().filter(|range| range.path == path).map(of).sum()
        };
        let last = self.last.lock().clone();
        let [hits, misses, waits] = &self.found;
        ReadStatistics {
            bytes: ReadPath::ALL.map(|path| sum(path, |range| range.bytes)),
            ops: ReadPath::ALL.map(|path| sum(path, |range| range.ops)),
            opens: self.opens.each_ref().map(load),
            checked_bytes: load(&self.checked)
                + self.mapped.iter().map(|p| load(&p.checked)).sum::<u64>(),
            zero_copy_bytes: load(&self.zero_copy),
            cache_hits: load(hits),
            cache_misses: load(misses),
            waits: load(waits),
            failovers: load(&self.failovers),
            corrupt: load(&self.corrupt),
            detail: last.as_ref().map(|(_, why)| why.detail.clone()).filter(|d| !d.is_empty()),
            last: last.map(|(path, why)| (path, why.reason)),
            ranges,
        }
    }
}

/// A thread keeps its place; threads beyond the places share them.
#[inline]
fn place_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static PLACE: usize = NEXT.fetch_add(1, Ordering::Relaxed) % PLACES;
    }
    PLACE.try_with(|place| *place).unwrap_or(0)
}

/// The counts of all streams of a client, those that have ended included.
#[derive(Default)]
pub(crate) struct Totals {
    ended: Mutex<ReadStatistics>,
    live: Mutex<Vec<Weak<Counters>>>,
}

impl Totals {
    pub(super) fn begin(&self) -> Arc<Counters> {
        let counters = Arc::new(Counters::default());
        let mut live = self.live.lock();
        live.retain(|known| known.strong_count() > 0);
        live.push(Arc::downgrade(&counters));
        counters
    }

    pub(super) fn end(&self, counters: &Arc<Counters>) {
        let mut live = self.live.lock();
        live.retain(|known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(counters)));
        self.ended.lock().add(&counters.snapshot());
    }

    pub(crate) fn snapshot(&self) -> ReadStatistics {
        let live = self.live.lock();
        let mut all = self.ended.lock().clone();
        live.iter().filter_map(Weak::upgrade).for_each(|counters| all.add(&counters.snapshot()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_s_sum_is_that_of_its_streams_living_and_ended() {
        let totals = Totals::default();
        let (first, second) = (totals.begin(), totals.begin());
        first.opened_local(ReadPath::LocalMapped, Found::Asked, "");
        first.read(ReadPath::LocalMapped, ReadReason::None, 100, true);
        first.read_zero_copy(10, false);
        second.opened(ReadPath::TcpLocal, NotLocal::new(ReadReason::Refused, "no"));
        second.read(ReadPath::TcpLocal, ReadReason::Refused, 7, true);
        totals.end(&first);
        drop(first);
        let all = totals.snapshot();
        assert_eq!((all.local_bytes(), all.total(), all.checked_bytes), (110, 117, 107));
        assert_eq!((all.cache_misses, all.zero_copy_bytes, all.ops), (1, 10, [2, 0, 0, 1, 0]));
        assert_eq!(all.detail.as_deref(), Some("no"));
        let refused =
            RangeCount { path: ReadPath::TcpLocal, reason: ReadReason::Refused, bytes: 7, ops: 1 };
        assert!(all.ranges.contains(&refused));
    }
}
