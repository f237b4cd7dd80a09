//! The calls to a volume's disk in the last hour, for heat maps and `/slow`.

use std::time::Duration;
use zerohop_profile::heat::{HeatMap, LatencyHistory};
use zerohop_replica::{IoCall, IoObserver};

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
}

impl IoObserver for DiskHistory {
    fn done(&self, call: IoCall, took: Duration) {
        let index = KINDS.iter().position(|(kind, _)| *kind == call);
        if let Some(history) = index.and_then(|index| self.kinds.get(index)) {
            history.note(took);
        }
    }
}
