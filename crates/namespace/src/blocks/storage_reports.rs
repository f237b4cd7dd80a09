//! The full reports of one storage, and the replicas they list that the namespace does not know.

use super::map::Slot;
use super::ongoing_report::OngoingReport;
use super::unknown::UnknownReplicas;
use roaring::RoaringBitmap;
use zerohop_wire::Block;

/// The freshness of a storage's list of replicas. At the start and after a failover, the previous active NameNode may have
/// ordered deletions that are unknown here (`DatanodeStorageInfo.blockContentsStale`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Staleness {
    /// The storage has reported all its replicas since this NameNode became active.
    Fresh,
    /// This NameNode heard nothing of the storage's DataNode since it became active.
    #[default]
    Stale,
    /// The DataNode has sent a heartbeat to this active NameNode. It no longer carries out orders of the other NameNode, so that
    /// its next report lists replicas that stay.
    Heard,
}

/// What a storage has reported since its DataNode registered.
#[derive(Debug, Default)]
pub(super) struct StorageReports {
    /// Full reports.
    taken: u32,
    /// Full reports that were begun since the start.
    begun: u64,
    /// The full report that is being taken in.
    ongoing: Option<OngoingReport>,
    /// Replicas that the namespace does not know.
    unknown: UnknownReplicas,
    /// A full report followed the first one: unknown replicas are deleted from then on.
    deletes_unknown: bool,
    staleness: Staleness,
    /// True if the DataNode had heard of this active NameNode before it began the full report that is being taken in.
    ends_staleness: bool,
    /// Bytes of reported blocks that are newer than the namespace, while safe mode of the start lasts.
    future_bytes: u64,
}

impl StorageReports {
    /// Whether any full report was taken in.
    pub(super) fn is_reported(&self) -> bool {
        self.taken > 0
    }

    /// Begins to take in a full report, in place of one that is not finished: of a storage that is known to have replicas of
    /// these blocks. Returns its number, and the bytes in the future that do not count any more: the report lists
    /// its unknown replicas again.
    pub(super) fn begin(&mut self, is_later: bool, known: RoaringBitmap) -> (u64, u64) {
        self.unknown.clear();
        self.deletes_unknown |= is_later;
        self.begun += 1;
        self.ends_staleness = self.staleness == Staleness::Heard;
        self.ongoing = Some(OngoingReport::new(self.begun, known));
        (self.begun, std::mem::take(&mut self.future_bytes))
    }

    pub(super) fn ongoing(&self) -> Option<&OngoingReport> {
        self.ongoing.as_ref()
    }

    pub(super) fn ongoing_mut(&mut self) -> Option<&mut OngoingReport> {
        self.ongoing.as_mut()
    }

    /// A replica was added or removed.
    pub(super) fn replica_changed(&mut self, slot: Slot) {
        self.ongoing.iter_mut().for_each(|report| report.listed(slot));
    }

    /// The report is taken in; true if the storage was stale until now.
    pub(super) fn end(&mut self) -> bool {
        self.ongoing = None;
        self.taken += 1;
        let was_stale = std::mem::take(&mut self.ends_staleness);
        if was_stale {
            self.staleness = Staleness::Fresh;
        }
        was_stale
    }

    /// This NameNode became the active one.
    pub(super) fn make_stale(&mut self) {
        (self.staleness, self.ends_staleness) = (Staleness::Stale, false);
    }

    /// Its DataNode has sent a heartbeat, which was answered.
    pub(super) fn heard(&mut self) {
        if self.staleness == Staleness::Stale {
            self.staleness = Staleness::Heard;
        }
    }

    /// Whether replicas may be gone, or going, that are listed here.
    pub(super) fn is_stale(&self) -> bool {
        self.staleness != Staleness::Fresh
    }

    /// The report that is being taken in does not count any more: its DataNode is dead.
    pub(super) fn drop_ongoing(&mut self) {
        self.ongoing = None;
    }

    /// Its DataNode registered anew: what it reports next is a first report.
    pub(super) fn restart(&mut self) {
        self.taken = 0;
        self.unknown.clear();
        self.deletes_unknown = false;
        self.ongoing = None;
    }

    /// The storage is gone; the bytes in the future that do not count any more.
    pub(super) fn lose(&mut self) -> u64 {
        self.unknown.clear();
        self.ongoing = None;
        std::mem::take(&mut self.future_bytes)
    }

    pub(super) fn unknown(&self) -> &UnknownReplicas {
        &self.unknown
    }

    /// Whether unknown replicas are deleted.
    pub(super) fn deletes_unknown(&self) -> bool {
        self.deletes_unknown
    }

    /// Lists an unknown replica; false if it is listed.
    pub(super) fn list_unknown(&mut self, block: Block, is_newer: bool) -> bool {
        self.unknown.insert(block, is_newer)
    }

    /// An unknown replica was deleted.
    pub(super) fn remove_unknown(&mut self, block: Block) {
        self.unknown.remove(block);
    }

    /// The unknown replicas are on a DataNode that is dead.
    pub(super) fn forget_unknown(&mut self) {
        self.unknown.clear();
    }

    pub(super) fn add_future(&mut self, bytes: u64) {
        self.future_bytes = self.future_bytes.saturating_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::{BlockId, GenerationStamp};

    #[test]
    fn a_report_says_again_what_the_last_one_said_of_unknown_replicas() {
        let block = Block { id: BlockId(7), stamp: GenerationStamp(3000), len: 30 };
        let mut reports = StorageReports::default();
        assert_eq!(reports.begin(false, RoaringBitmap::new()), (1, 0));
        assert!(reports.list_unknown(block, true) && !reports.list_unknown(block, true));
        reports.add_future(block.len);
        reports.end();
        assert!(reports.is_reported() && !reports.deletes_unknown());
        assert_eq!(reports.begin(true, RoaringBitmap::new()), (2, 30));
        assert_eq!(reports.unknown().totals().replicas, 0);
        assert!(reports.deletes_unknown());
    }

    #[test]
    fn a_stale_storage_is_fresh_after_a_report_that_was_begun_behind_a_heartbeat() {
        let mut reports = StorageReports::default();
        assert!(reports.is_stale(), "the NameNode before the start may have ordered deletions");
        reports.heard();
        reports.begin(false, RoaringBitmap::new());
        assert!(reports.end() && !reports.is_stale());
        reports.make_stale();
        reports.begin(false, RoaringBitmap::new());
        reports.heard();
        assert!(!reports.end() && reports.is_stale(), "it was begun before");
        reports.begin(false, RoaringBitmap::new());
        assert!(reports.end() && !reports.is_stale());
        reports.heard();
        reports.begin(false, RoaringBitmap::new());
        assert!(!reports.end());
    }

    #[test]
    fn after_a_registration_the_next_report_is_the_first() {
        let mut reports = StorageReports::default();
        for is_later in [false, true] {
            reports.begin(is_later, RoaringBitmap::from([3]));
            reports.end();
        }
        reports.begin(true, RoaringBitmap::from([3]));
        reports.restart();
        assert!(!reports.is_reported() && !reports.deletes_unknown());
        assert!(reports.ongoing().is_none());
    }
}
