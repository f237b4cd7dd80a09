//! When the next round of copies is ordered.

/// The blocks of a DataNode that died are queued within this time.
const EXPECTED_MS: u64 = 3000;

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
    /// Until then blocks are expected to be queued: a DataNode died.
    work_expected_until_ms: u64,
}

impl CopyRounds {
    /// Whether a round is due; `is_source_idle`: a DataNode could send more than was ordered of it.
    pub(super) fn is_due(
        &self,
        now_ms: u64,
        interval_ms: u64,
        is_source_idle: impl FnOnce() -> bool,
    ) -> bool {
        now_ms >= self.last_ms + interval_ms || self.is_under_way(now_ms) && is_source_idle()
    }

    /// Whether copies are being ordered: then DataNodes get new ones as soon as they have time.
    pub(super) fn is_under_way(&self, now_ms: u64) -> bool {
        self.found_work || now_ms < self.work_expected_until_ms
    }

    /// Blocks will be queued soon.
    pub(super) fn expect_work(&mut self, now_ms: u64) {
        self.work_expected_until_ms = now_ms + EXPECTED_MS;
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

    /// The first copies after the death of a DataNode waited for the next round.
    #[test]
    fn rounds_come_early_after_the_death_of_a_datanode() {
        let mut rounds = CopyRounds::default();
        rounds.finished(10_000, false);
        assert!(!rounds.is_under_way(10_500));
        rounds.expect_work(10_500);
        assert!(rounds.is_under_way(10_500) && rounds.is_due(10_500, 3000, || true));
        rounds.finished(10_500, false);
        assert!(rounds.is_due(11_000, 3000, || true), "its blocks are queued in slices");
        rounds.finished(13_400, false);
        assert!(!rounds.is_due(13_500, 3000, || true));
    }
}
