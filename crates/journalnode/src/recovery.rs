//! The recovery of a segment that its writer left in progress, as one JournalNode takes part in it.

use crate::accepted::Accepted;
use crate::error::{Error, Result};
use crate::segments::{SegmentState, Segments};
use crate::storage::JournalStorage;
use std::path::Path;
use zerohop_journal::segment::{self, SegmentKind};
use zerohop_wire::TxId;

/// The parts of a journal that a recovery needs.
pub(crate) struct SegmentRecovery<'a> {
    /// The journal's id.
    pub(crate) journal: &'a str,
    pub(crate) storage: &'a JournalStorage,
    pub(crate) segments: &'a Segments,
    /// The last transaction that a majority has, as far as it is known here.
    pub(crate) committed: Option<u64>,
}

/// A segment was replaced by one that was fetched.
pub(crate) struct Replaced {
    /// What was here; none if there was nothing.
    pub(crate) before: Option<SegmentState>,
}

impl SegmentRecovery<'_> {
    /// What was accepted for the segment in an earlier recovery that was not completed, and what is here of it.
    pub(crate) fn prepare(&self, first: TxId) -> Result<(Option<Accepted>, Option<SegmentState>)> {
        let accepted = Accepted::read(&self.storage.paxos_file(first), first)?;
        if let Some(accepted) = &accepted {
            self.complete_accepted(accepted)?;
        }
        let state = self.segments.state(first)?;
        let is_finalized = state.is_some_and(|state| !state.in_progress);
        let accepted = accepted.filter(|_| !is_finalized);
        if let Some(accepted) = &accepted
            && state.map(|state| state.last) != Some(accepted.state.last)
        {
            return Err(Error::WouldLose(format!(
                "segment {first} was accepted up to transaction {} and ends with {:?} here ; journal id: {}",
                accepted.state.last,
                state.map(|state| state.last.0),
                self.journal
            )));
        }
        Ok((accepted, state))
    }

    /// Puts a segment in place that a recovery had fetched and accepted before a crash (HDFS-3955).
    fn complete_accepted(&self, accepted: &Accepted) -> Result<()> {
        let fetched = self.storage.fetched_by(accepted.state.first, accepted.epoch);
        if fetched.exists() {
            segment::rename(&fetched, &self.storage.in_progress(accepted.state.first))?;
        }
        Ok(())
    }

    /// That a segment in progress is that of the writer of `epoch`, or the one whose recovery it had accepted here. One that an
    /// earlier `writer` left may have as many transactions, and others.
    pub(crate) fn check_decided(&self, epoch: u64, writer: u64, first: TxId) -> Result<()> {
        let accepted = Accepted::read(&self.storage.paxos_file(first), first)?;
        if writer == epoch || accepted.is_some_and(|accepted| accepted.epoch == epoch) {
            return Ok(());
        }
        Err(Error::OutOfSync(format!(
            "Trying to finalize in-progress log segment {first}, which the writer of epoch {writer} left, and no recovery of epoch \
             {epoch} was accepted ; journal id: {}",
            self.journal
        )))
    }

    /// A crash at the beginning of a segment may have left its first record. Anything more was perhaps accepted.
    pub(crate) fn check_not_overwritten(&self, first: TxId) -> Result<()> {
        let Some(file) = self.segments.find(first)? else { return Ok(()) };
        let refuse = |reason: &str| {
            let path = file.path.display();
            Err(Error::WouldLose(format!("{path}: {reason} ; journal id: {}", self.journal)))
        };
        match file.kind {
            SegmentKind::Finalized(_) => refuse("Already have a finalized segment"),
            SegmentKind::InProgress => match self.segments.last_of(&file)? {
                Some(last) if last != first => refuse("seems to contain valid transactions"),
                _ => Ok(()),
            },
        }
    }

    /// Returns `true` if the segment must be fetched before the state that a recovery of `epoch` decided can be accepted.
    pub(crate) fn must_fetch(&self, epoch: u64, state: SegmentState) -> Result<bool> {
        let here = self.check_acceptable(epoch, state)?;
        Ok(here.is_none_or(|here| here.last != state.last))
    }

    /// Accepts the state that a recovery of `epoch` decided. `fetched` replaces the segment if this journal's copy differs.
    ///
    /// What was accepted is written down after the segment was fetched and before it replaces what is here: a crash in between
    /// leaves either nothing, or enough for [`Self::prepare`] to go on.
    pub(crate) fn accept(
        &self,
        epoch: u64,
        state: SegmentState,
        fetched: Option<&Path>,
    ) -> Result<Option<Replaced>> {
        let here = self.check_acceptable(epoch, state)?;
        let to = self.storage.fetched_by(state.first, epoch);
        let differs = here.is_none_or(|here| here.last != state.last);
        match fetched {
            Some(fetched) if differs => {
                self.check_fetched(fetched, state)?;
                segment::rename(fetched, &to)?;
            }
            None if differs => {
                return Err(Error::OutOfSync(format!(
                    "segment {} is another one than when its recovery began ; journal id: {}",
                    state.first, self.journal
                )));
            }
            _ => self.segments.make_durable(state.first)?,
        }
        Accepted { state, epoch }.write(&self.storage.paxos_file(state.first))?;
        if differs {
            segment::rename(&to, &self.storage.in_progress(state.first))?;
        }
        Ok(differs.then_some(Replaced { before: here }))
    }

    /// Checks that a recovery of `epoch` may give the segment this state. Returns the state of this journal's copy.
    fn check_acceptable(&self, epoch: u64, state: SegmentState) -> Result<Option<SegmentState>> {
        if state.first.0 <= 0 || state.last < state.first {
            return Err(Error::BadRequest(format!(
                "bad recovery state for segment {}: it ends with {} ; journal id: {}",
                state.first, state.last, self.journal
            )));
        }
        if let Some(old) = Accepted::read(&self.storage.paxos_file(state.first), state.first)?
            && old.epoch > epoch
        {
            return Err(Error::WouldLose(format!(
                "Bad paxos transition, out-of-order epochs: {} after {} ; journal id: {}",
                epoch, old.epoch, self.journal
            )));
        }
        let here = self.segments.state(state.first)?;
        if here.is_none_or(|here| here.last != state.last) {
            self.check_replaceable(here, state)?;
        }
        Ok(here)
    }

    /// That putting a segment in another's place loses nothing that a majority has.
    fn check_replaceable(&self, here: Option<SegmentState>, new: SegmentState) -> Result<()> {
        let Some(here) = here else { return Ok(()) };
        if let Some(committed) =
            self.committed.filter(|txid| here.contains(*txid) && !new.contains(*txid))
        {
            return Err(Error::WouldLose(format!(
                "Cannot replace segment {}-{} with new segment {}-{}: would discard already-committed txn {committed} ; \
                 journal id: {}",
                here.first, here.last, new.first, new.last, self.journal
            )));
        }
        if !here.in_progress {
            return Err(Error::WouldLose(format!(
                "Should never be asked to synchronize a different log on top of an already-finalized segment ; journal id: {}",
                self.journal
            )));
        }
        Ok(())
    }

    /// Checks that a fetched file holds the segment up to the last transaction of `state`.
    fn check_fetched(&self, fetched: &Path, state: SegmentState) -> Result<()> {
        match self.segments.scan(fetched)? {
            Some(scan) if (scan.first, scan.last) == (Some(state.first), Some(state.last)) => {
                Ok(())
            }
            scan => Err(Error::OutOfSync(format!(
                "the segment {} that was fetched ends with transaction {:?} in place of {} ; journal id: {}",
                state.first,
                scan.and_then(|scan| scan.last).map(|last| last.0),
                state.last,
                self.journal
            ))),
        }
    }
}
