//! JournalNodes from which a segment did not come lately.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// Time for which readers prefer other JournalNodes.
const LATELY: Duration = Duration::from_secs(60);

/// JournalNodes from which a segment did not come lately. A JournalNode whose transfers stall delays a reader
/// once a minute, not once for each segment.
#[derive(Debug, Default)]
pub(crate) struct FailedFetches(Mutex<BTreeMap<String, Instant>>);

impl FailedFetches {
    /// Notes that a segment did not come from `base`, `http://host:port`.
    pub(crate) fn note(&self, base: &str) {
        let mut failed = self.0.lock();
        failed.retain(|_, at| clock::since(*at) < LATELY);
        failed.insert(base.to_owned(), clock::now());
    }

    /// Returns `true` if a segment did not come from `base` lately.
    pub(crate) fn is_recent(&self, base: &str) -> bool {
        self.0.lock().get(base).is_some_and(|at| clock::since(*at) < LATELY)
    }
}
