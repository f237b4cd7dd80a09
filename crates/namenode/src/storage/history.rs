//! What is known of edits besides the edits themselves: whether all of them are there.

use super::NameStorage;
use super::dir::ImageKind;
use super::error::{StorageError, inconsistent};
use super::save::images;
use zerohop_journal::log::{EditSource, Selection};
use zerohop_journal::segment::{SegmentFile, SegmentKind};
use zerohop_wire::TxId;

/// What directories and JournalNodes tell of the edits that there were.
pub struct EditHistory<'a> {
    storage: &'a NameStorage,
}

impl NameStorage {
    /// What is known of the edits.
    pub fn history(&self) -> EditHistory<'_> {
        EditHistory { storage: self }
    }
}

impl EditHistory<'_> {
    /// The last transaction of which any directory knows, segments in progress left out. To be asked
    /// while no directory has been dropped: one that is not used any more is still a witness.
    pub(super) fn known_txid(&self) -> i64 {
        let seen = self.storage.dirs.iter().map(|dir| {
            dir.read_seen_txid().unwrap_or_else(|e| {
                tracing::warn!("{e}");
                0
            })
        });
        let saved =
            self.storage.image_dirs().flat_map(|dir| images(&dir.current(), ImageKind::Image));
        let finished = self.finalized().into_iter().map(|(_, last)| last);
        seen.chain(saved.map(|(txid, _)| txid)).chain(finished).max().unwrap_or(0)
    }

    /// That edits which are known to exist, up to `until`, end before `next`.
    ///
    /// # Errors
    /// Names the first one that is missing.
    pub fn check_complete(&self, until: TxId, next: TxId) -> Result<(), StorageError> {
        if next <= until { Err(self.gap(until.0, next.0)) } else { Ok(()) }
    }

    /// Edits from `missing` to `until` are not there; names the directories that might have them.
    pub(super) fn gap(&self, until: i64, missing: i64) -> StorageError {
        let dropped = self.storage.dirs.iter().filter_map(|dir| {
            dir.failure().map(|reason| format!("; {} is not used: {reason}", dir.root().display()))
        });
        StorageError::Gap { until, missing, dropped: dropped.collect() }
    }

    /// Whether the shared edits hold this transaction, committed or not yet; true where no edits are shared.
    ///
    /// # Errors
    /// If no majority of the JournalNodes answers.
    pub fn shared_edits_hold(&self, txid: TxId) -> Result<bool, StorageError> {
        Ok(self.storage.shared.as_ref().map_or(Ok(true), |shared| shared.holds(txid))?)
    }

    /// That no finalized segment begins behind `next`, the edit that could not be found, unless another one has `next`: that
    /// was finalized since it was looked for, or is on JournalNodes that did not answer then.
    ///
    /// # Errors
    /// Names the edit that is missing.
    pub fn check_no_gap(&self, next: TxId) -> Result<(), StorageError> {
        let streams = self.storage.streams(Selection { from: next, in_progress: false })?;
        let ends = streams.iter().filter_map(|stream| Some((stream.first().0, stream.last()?.0)));
        self.check_reached(ends, next.0)
    }

    /// Like [`Self::check_no_gap`], but before it says that an edit is missing it asks every JournalNode, for segments in progress too:
    /// one that missed a call may have the edit in a segment that the others have finished.
    ///
    /// # Errors
    /// Names the edit that is missing.
    pub fn check_reachable(&self, next: TxId) -> Result<(), StorageError> {
        let checked = self.check_no_gap(next);
        let (Err(StorageError::Gap { .. }), Some(shared)) = (&checked, &self.storage.shared) else {
            return checked;
        };
        let streams = shared.every_copy(Selection { from: next, in_progress: true })?;
        let ends = streams.iter().map(|stream| {
            let last = stream.last().map_or(i64::MAX, |last| last.0);
            (stream.first().0, last)
        });
        self.check_reached(ends, next.0)
    }

    pub(super) fn check_no_later_segment(&self, next: i64) -> Result<(), StorageError> {
        if self.storage.shared.is_some() {
            return self.check_no_gap(TxId(next));
        }
        let finalized = self.finalized().into_iter();
        self.check_reached(finalized.map(|(file, last)| (file.first.0, last)), next)
    }

    /// That one of these segments, by first and last transaction, has `next`, or all end before it.
    fn check_reached(
        &self,
        segments: impl Iterator<Item = (i64, i64)>,
        next: i64,
    ) -> Result<(), StorageError> {
        let later: Vec<_> = segments.filter(|(_, last)| *last >= next).collect();
        if later.iter().any(|(first, _)| *first <= next) {
            return Ok(());
        }
        let last = later.into_iter().map(|(_, last)| last).max();
        last.map_or(Ok(()), |last| Err(self.gap(last, next)))
    }

    /// That no segment begins within another one. Then two directories went different ways from some
    /// transaction on, and one way's edits must not follow the other's.
    pub(super) fn check_one_history(&self, image_txid: i64) -> Result<(), StorageError> {
        let mut all = self.finalized();
        all.retain(|(_, last)| *last > image_txid);
        all.sort_by_key(|(file, last)| (file.first, *last));
        let mut longest: Option<(SegmentFile, i64)> = None;
        for (file, last) in all {
            match &longest {
                Some((other, until)) if other.first < file.first && file.first.0 <= *until => {
                    let reason = format!(
                        "there appears to be an out-of-order edit in the edit log: it begins with \
                         transaction {}, but {} goes on to {until}. Two directories were written apart \
                         from each other; move the segments of the one that was not in use last \
                         elsewhere",
                        file.first,
                        other.path.display()
                    );
                    return Err(inconsistent(&file.path, reason));
                }
                Some((_, until)) if *until >= last => {}
                _ => longest = Some((file, last)),
            }
        }
        Ok(())
    }

    fn finalized(&self) -> Vec<(SegmentFile, i64)> {
        let mut found = Vec::new();
        for dir in self.storage.edits_dirs() {
            match dir.journal(self.storage.config.op_size_max).segments() {
                Ok(files) => found.extend(files.into_iter().filter_map(|file| match file.kind {
                    SegmentKind::Finalized(last) => Some((file, last.0)),
                    SegmentKind::InProgress => None,
                })),
                Err(e) => dir.fail(&e),
            }
        }
        found
    }
}
