//! What a writer that takes over asks a journal to do with the segments of the writer before.

use super::Journal;
use crate::calls::{Prepared, RequestInfo};
use crate::error::{Error, Result};
use crate::segments::SegmentState;
use std::path::{Path, PathBuf};
use zerohop_wire::TxId;

impl Journal {
    /// Ends the segment being written and tells what is here of the segment that begins with `first`.
    pub(crate) fn prepare_recovery(
        &mut self,
        request: RequestInfo,
        first: TxId,
    ) -> Result<Prepared> {
        self.check(request)?;
        self.close_segment();
        let (accepted, state) = self.recovery()?.prepare(first)?;
        let epochs = self.epochs()?;
        Ok(Prepared {
            state: accepted.map(|accepted| accepted.state).or(state),
            accepted_in: accepted.map(|accepted| accepted.epoch),
            last_writer: epochs.writer.get(),
            committed: epochs.committed.get(),
        })
    }

    /// Begins to accept the state of a segment that a recovery decided. Returns the file to fetch the segment to, or `None` if this
    /// journal has it already. [`Self::finish_accept`] follows; other calls may come in between.
    pub(crate) fn begin_accept(
        &mut self,
        request: RequestInfo,
        state: SegmentState,
    ) -> Result<Option<PathBuf>> {
        self.check(request)?;
        self.close_segment();
        let differs = self.recovery()?.must_fetch(request.epoch, state)?;
        differs.then(|| self.storage.fetched_for(state.first, request)).transpose()
    }

    /// Accepts the state; `fetched` is the segment if it had to be fetched.
    ///
    /// # Errors
    /// [`Error::Fenced`] if another writer was promised an epoch since the beginning.
    pub(crate) fn finish_accept(
        &mut self,
        epoch: u64,
        state: SegmentState,
        fetched: Option<&Path>,
    ) -> Result<()> {
        let promised = self.promised()?;
        if epoch != promised {
            return Err(Error::Fenced { epoch, promised, journal: self.id.clone() });
        }
        if self.open.as_ref().is_some_and(|open| open.first == state.first) {
            let first = state.first;
            return Err(Error::OutOfSync(format!(
                "segment {first} is being written, so its recovery is over ; journal id: {}",
                self.id
            )));
        }
        if let Some(replaced) = self.recovery()?.accept(epoch, state, fetched)? {
            self.set_highest_after(replaced.before, state);
        }
        self.report();
        Ok(())
    }

    /// Takes transactions from `first` on out of use for the writer of `request`.
    pub(crate) fn discard_from(&mut self, request: RequestInfo, first: TxId) -> Result<()> {
        self.check(request)?;
        self.discard(first)
    }

    /// Like [`Self::discard_from`], but for an Apache NameNode, whose call carries no epoch: the process that was promised the last
    /// epoch must send it.
    pub(crate) fn discard_for(&mut self, client: Option<[u8; 16]>, first: TxId) -> Result<()> {
        self.epochs()?;
        if client.is_none() || client != self.promised_to {
            return Err(Error::NotThePromised { journal: self.id.clone() });
        }
        self.discard(first)
    }

    fn discard(&mut self, first: TxId) -> Result<()> {
        self.open = None;
        // Else a standby would read there what is given up.
        self.clear_cache();
        // Before the segments: what was accepted must not be waited for where a crash took its segment out of use.
        self.storage.discard_paxos_from(first)?;
        self.segments.discard_from(first)?;
        self.epochs_mut()?.committed.set((first.0 - 1).max(0) as u64)?;
        self.load()
    }

    /// Notes which process was promised the current epoch.
    pub(crate) fn promised_to(&mut self, client: Option<[u8; 16]>) {
        self.promised_to = client;
    }

    fn set_highest_after(&mut self, replaced: Option<SegmentState>, new: SegmentState) {
        let last = new.last.0 as u64;
        match replaced {
            Some(replaced) if replaced.contains(self.highest) => self.highest = last,
            _ => self.highest = self.highest.max(last),
        }
        self.clear_cache();
    }
}
