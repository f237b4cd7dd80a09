//! One edit after the other, across segments and their copies.

use super::source::{EditSource, EditStream, Selection};
use crate::error::JournalError;
use crate::op::Record;
use zerohop_wire::TxId;

/// Reads the edits of a source from a transaction on. Where a copy of a segment cannot be read on, another one takes its
/// place.
pub struct EditCursor<'a> {
    source: &'a dyn EditSource,
    next: TxId,
    in_progress: bool,
    /// The one that is read.
    current: Option<Box<dyn EditStream>>,
    /// Others that may be needed, the best last.
    others: Vec<Box<dyn EditStream>>,
    /// Why the last copy could not be read.
    error: Option<JournalError>,
}

impl<'a> EditCursor<'a> {
    /// The edits from `from` on, those of finalized segments only or also those of segments in progress.
    pub fn new(source: &'a dyn EditSource, from: TxId, in_progress: bool) -> Self {
        Self { source, next: from, in_progress, current: None, others: Vec::new(), error: None }
    }

    /// The transaction of the edit that comes next.
    pub fn next_txid(&self) -> TxId {
        self.next
    }

    /// What the last edit was read from.
    pub fn stream_name(&self) -> String {
        self.current.as_ref().map_or_else(|| self.source.name(), |stream| stream.name())
    }

    /// The next edit; none if there is none yet. It may be asked again later.
    ///
    /// # Errors
    /// If no copy of the segment can be read on.
    #[expect(clippy::should_implement_trait, reason = "a cursor may have more edits after its end")]
    pub fn next(&mut self) -> Result<Option<Record>, JournalError> {
        loop {
            let Some(stream) = &mut self.current else {
                if self.open()? {
                    self.skip();
                    continue;
                }
                return self.error.take().map_or(Ok(None), Err);
            };
            match stream.next() {
                Ok(Some(record)) if record.txid < self.next => {}
                Ok(Some(record)) if record.txid == self.next => {
                    self.next = TxId(self.next.0 + 1);
                    self.error = None;
                    return Ok(Some(record));
                }
                Ok(Some(record)) => {
                    let reason = format!(
                        "it has transaction {} where {} is expected",
                        record.txid, self.next
                    );
                    let path = stream.name().into();
                    self.give_up(JournalError::Inconsistent { path, reason });
                }
                Ok(None) if stream.is_in_progress() => {
                    if !self.is_stale()? {
                        return Ok(None);
                    }
                    self.current = None;
                    self.others.clear();
                }
                Ok(None) => self.end(),
                Err(error) => self.give_up(error),
            }
        }
    }

    /// Moves the stream that was just opened to the next edit: a standby that lacks the last edits of a long segment waits for this.
    fn skip(&mut self) {
        let next = self.next;
        if let Some(Err(error)) = self.current.as_mut().map(|stream| stream.skip_before(next)) {
            self.give_up(error);
        }
    }

    /// Nothing is left in the current stream, which is finalized.
    fn end(&mut self) {
        let Some(stream) = self.current.take() else { return };
        self.error = None;
        if let Some(last) = stream.last()
            && self.next <= last
        {
            let next = self.next;
            let reason = format!("it ends before transaction {next}, its name says {last}");
            self.give_up(JournalError::Inconsistent { path: stream.name().into(), reason });
        }
    }

    /// Continues with another copy, if there is one.
    fn give_up(&mut self, error: JournalError) {
        tracing::error!("{error}");
        self.error = Some(error);
        self.current = None;
    }

    /// Takes the stream that holds the next edit and goes furthest; false if there is none.
    fn open(&mut self) -> Result<bool, JournalError> {
        let next = self.next;
        let holds = |stream: &dyn EditStream| {
            stream.first() <= next && stream.last().is_none_or(|last| next <= last)
        };
        self.others.retain(|stream| stream.last().is_none_or(|last| next <= last));
        // After an error only the copies found with it are left to try.
        if self.error.is_none() && !self.others.iter().any(|stream| holds(&**stream)) {
            self.others = self.select()?;
        }
        let best = self.others.iter().rposition(|stream| holds(&**stream));
        self.current = best.map(|best| self.others.remove(best));
        Ok(self.current.is_some())
    }

    /// What holds the next edit or later ones; those that go furthest last, finalized ones behind those in progress.
    fn select(&self) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        let selection = Selection { from: self.next, in_progress: self.in_progress };
        let mut streams = self.source.streams(selection)?;
        streams.sort_by_key(|stream| (stream.last(), stream.first()));
        Ok(streams)
    }

    /// Whether the next edit, which this segment in progress does not have, is in another segment: the writer has dropped
    /// this copy, and went on elsewhere.
    fn is_stale(&self) -> Result<bool, JournalError> {
        let next = self.next;
        let begins_before = self.current.as_ref().is_some_and(|stream| stream.first() < next);
        let has_next = |stream: &dyn EditStream| match stream.last() {
            Some(last) => stream.first() <= next && next <= last,
            None => begins_before && stream.first() == next,
        };
        Ok(self.select()?.iter().any(|stream| has_next(&**stream)))
    }
}
