//! How many requests for descriptors were granted, and why others were not.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests for descriptors of replicas since the start.
#[derive(Debug, Default)]
pub(crate) struct DescriptorCounts {
    granted: AtomicU64,
    refused: Mutex<BTreeMap<&'static str, u64>>,
}

impl DescriptorCounts {
    /// A client got descriptors.
    pub(crate) fn grant(&self) {
        self.granted.fetch_add(1, Ordering::Relaxed);
    }

    /// A client got none, for a reason that has a short name.
    pub(crate) fn refuse(&self, reason: &'static str) {
        *self.refused.lock().entry(reason).or_default() += 1;
    }

    /// Requests that were granted.
    pub(crate) fn granted(&self) -> u64 {
        self.granted.load(Ordering::Relaxed)
    }

    /// Requests that were refused, by reason.
    pub(crate) fn refused(&self) -> BTreeMap<&'static str, u64> {
        self.refused.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_reason() {
        let counts = DescriptorCounts::default();
        counts.grant();
        ["replica", "slot", "replica"].into_iter().for_each(|reason| counts.refuse(reason));
        assert_eq!(counts.granted(), 1);
        assert_eq!(counts.refused(), BTreeMap::from([("replica", 2), ("slot", 1)]));
    }
}
