//! The calls to a volume's disk in the last hour, for heat maps and `/slow`.

use parking_lot::Mutex;
use std::time::Duration;
use zerohop_daemon::metrics::IntervalMean;
use zerohop_profile::heat::{HeatMap, LatencyHistory};
use zerohop_replica::{IoCall, IoObserver};
use zerohop_system::clock;

/// The kinds of calls, in the order of their maps.
const KINDS: [(IoCall, &str); 4] = [
    (IoCall::Read, "read"),
    (IoCall::Write, "write"),
    (IoCall::Sync, "fsync"),
    (IoCall::Metadata, "metadata"),
];

/// How long calls took, by kind and second.
#[derive(Default)]
pub(crate) struct DiskHistory {
    kinds: [LatencyHistory; KINDS.len()],
    rates: [Mutex<IntervalMean>; KINDS.len()],
}

/// How often each kind of call was made, and how long one takes lately, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiskRates {
    pub(crate) read: IntervalMean,
    pub(crate) write: IntervalMean,
    pub(crate) sync: IntervalMean,
    pub(crate) metadata: IntervalMean,
}

impl DiskRates {
    /// Adds those of another disk.
    pub(crate) fn merge(&mut self, other: &Self) {
        let now = clock::now();
        self.read.merge(&other.read, now);
        self.write.merge(&other.write, now);
        self.sync.merge(&other.sync, now);
        self.metadata.merge(&other.metadata, now);
    }

    /// Calls for data: all but those for metadata.
    pub(crate) fn data(&self) -> IntervalMean {
        let (mut all, now) = (self.read, clock::now());
        all.merge(&self.write, now);
        all.merge(&self.sync, now);
        all
    }
}

impl DiskHistory {
    /// The maps of the last `length` seconds of a volume at `place`, one a kind; those without calls as well.
    pub(crate) fn maps(&self, place: &str, length: u64) -> Vec<HeatMap> {
        let map = |((_, kind), history): (&(IoCall, &'static str), &LatencyHistory)| {
            let now = history.now();
            let seconds = history.seconds(now.saturating_sub(length));
            HeatMap::new(place.to_owned(), kind, &seconds, now, length)
        };
        KINDS.iter().zip(&self.kinds).map(map).collect()
    }

    /// The rates now.
    pub(crate) fn rates(&self) -> DiskRates {
        let [read, write, sync, metadata] = &self.rates;
        let (read, write) = (*read.lock(), *write.lock());
        DiskRates { read, write, sync: *sync.lock(), metadata: *metadata.lock() }
    }
}

impl IoObserver for DiskHistory {
    fn done(&self, call: IoCall, took: Duration) {
        let index = KINDS.iter().position(|(kind, _)| *kind == call);
        if let Some(history) = index.and_then(|index| self.kinds.get(index)) {
            history.note(took);
        }
        if let Some(rate) = index.and_then(|index| self.rates.get(index)) {
            rate.lock().add(clock::now(), took.as_secs_f64() * 1000.0);
        }
    }
}
