//! The edits of a segment that a JournalNode has.

use crate::download::fetch_segment;
use crate::failed_fetches::FailedFetches;
use std::io::Seek;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use zerohop_journal::JournalError;
use zerohop_journal::log::EditStream;
use zerohop_journal::op::Record;
use zerohop_journal::segment::SegmentReader;
use zerohop_wire::TxId;

/// The address of a JournalNode's copy of a segment.
pub(crate) struct SegmentCopy {
    /// The JournalNode, `http://host:port`.
    pub(crate) base: String,
    pub(crate) url: String,
}

/// A segment by HTTP. It is fetched whole, when the first edit is asked for, into a file without a name.
pub(crate) struct RemoteSegment {
    copy: SegmentCopy,
    first: TxId,
    /// The last transaction that may be read.
    last: TxId,
    in_progress: bool,
    op_size_max: usize,
    patience: Duration,
    failed: Arc<FailedFetches>,
    reader: Option<SegmentReader>,
}

impl RemoteSegment {
    pub(crate) fn new(
        copy: SegmentCopy,
        (first, last): (TxId, TxId),
        in_progress: bool,
        op_size_max: usize,
        (patience, failed): (Duration, Arc<FailedFetches>),
    ) -> Self {
        Self { copy, first, last, in_progress, op_size_max, patience, failed, reader: None }
    }

    fn reader(&mut self) -> Result<&mut SegmentReader, JournalError> {
        let fetched = match self.reader.take() {
            Some(reader) => reader,
            None => self.fetch()?,
        };
        Ok(self.reader.insert(fetched))
    }

    fn fetch(&self) -> Result<SegmentReader, JournalError> {
        let failed =
            |error: &dyn std::fmt::Display| JournalError::NoQuorum { reason: error.to_string() };
        let mut to = tempfile::tempfile().map_err(|error| failed(&error))?;
        fetch_segment(&self.copy.url, &mut to, self.patience).map_err(|error| {
            self.failed.note(&self.copy.base);
            failed(&error)
        })?;
        to.rewind().map_err(|error| failed(&error))?;
        let mut reader = SegmentReader::of_file(to, Path::new(&self.copy.url), self.op_size_max)?;
        // Behind the last transaction may be half a record.
        reader.set_in_progress(self.in_progress);
        Ok(reader)
    }
}

impl EditStream for RemoteSegment {
    fn name(&self) -> String {
        self.copy.url.clone()
    }

    fn first(&self) -> TxId {
        self.first
    }

    /// Also of a segment in progress: this copy of it does not grow.
    fn last(&self) -> Option<TxId> {
        Some(self.last)
    }

    fn is_in_progress(&self) -> bool {
        self.in_progress
    }

    fn next(&mut self) -> Result<Option<Record>, JournalError> {
        let last = self.last;
        let reader = self.reader()?;
        if reader.last() < Some(last) { reader.next() } else { Ok(None) }
    }

    fn skip_before(&mut self, txid: TxId) -> Result<(), JournalError> {
        self.reader()?.skip_before(txid)
    }

    fn resync(&mut self) -> Result<bool, JournalError> {
        self.reader.as_mut().map_or(Ok(false), SegmentReader::resync)
    }
}
