//! When the next round of copies is ordered.

/// Rounds of ordering copies of blocks with too few replicas.
///
/// Each round orders a few blocks for each DataNode. It comes once in an interval, as in Apache's NameNode, and
/// earlier while rounds find work and a DataNode has nothing left to send: an interval of 3 s with two
/// blocks a DataNode would hold a cluster with large blocks far below the speed of its disks. How many
/// copies a DataNode makes at once stays limited by `dfs.namenode.replication.max-streams`.
#[derive(Default)]
pub(super) struct CopyRounds {
    last_ms: u64,
    /// Whether the last round ordered a copy.
    found_work: bool,
}

impl CopyRounds {
    /// Whether a round is due; `is_source_idle`: a DataNode could send more than was ordered of it.
    pub(super) fn is_due(
        &self,
        now_ms: u64,
        interval_ms: u64,
        is_source_idle: impl FnOnce() -> bool,
    ) -> bool {
        now_ms >= self.last_ms + interval_ms || self.found_work && is_source_idle()
    }

    /// A round is over.
    pub(super) fn finished(&mut self, now_ms: u64, found_work: bool) {
        (self.last_ms, self.found_work) = (now_ms, found_work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_comes_early_only_while_there_is_work_and_somebody_to_do_it() {
        let mut rounds = CopyRounds::default();
        rounds.finished(10_000, false);
        assert!(!rounds.is_due(12_999, 3000, || true));
        assert!(rounds.is_due(13_000, 3000, || false));
        rounds.finished(13_000, true);
        assert!(!rounds.is_due(13_500, 3000, || false));
        assert!(rounds.is_due(13_500, 3000, || true));
    }
}
