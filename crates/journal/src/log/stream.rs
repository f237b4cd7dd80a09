//! The edits of one segment file.

use super::source::EditStream;
use crate::error::JournalError;
use crate::op::Record;
use crate::segment::{self, SegmentFile, SegmentKind, SegmentReader};
use std::io::ErrorKind;
use zerohop_wire::TxId;

/// Reads a segment, which may be finalized meanwhile. The file is opened when the first edit is asked for.
pub(super) struct SegmentStream {
    file: SegmentFile,
    op_size_max: usize,
    reader: Option<SegmentReader>,
}

impl SegmentStream {
    pub(super) fn new(file: SegmentFile, op_size_max: usize) -> Self {
        Self { file, op_size_max, reader: None }
    }

    /// Opens the file if that is not done yet. None: it is so new that there is no header.
    fn reader(&mut self) -> Result<Option<&mut SegmentReader>, JournalError> {
        if self.reader.is_none() {
            let mut reader = match SegmentReader::open(&self.file.path, self.op_size_max) {
                Err(JournalError::Header { .. }) if self.is_in_progress() => return Ok(None),
                Err(error) if self.is_in_progress() && is_not_found(&error) => return Ok(None),
                opened => opened?,
            };
            reader.set_in_progress(self.is_in_progress());
            self.reader = Some(reader);
        }
        Ok(self.reader.as_mut())
    }

    fn read(&mut self) -> Result<Option<Record>, JournalError> {
        let last = self.last();
        match self.reader()? {
            // What a name does not speak of is not part of the segment.
            Some(reader) if last.is_some() && reader.last() >= last => Ok(None),
            Some(reader) => reader.next(),
            None => Ok(None),
        }
    }

    /// Takes note if the segment has been finalized; true if it has.
    fn look_for_end(&mut self) -> Result<bool, JournalError> {
        let path = &self.file.path;
        if path.try_exists().map_err(JournalError::io("look at", path))? {
            return Ok(false);
        }
        let files = segment::list(path.parent().unwrap_or(path))?;
        let finalized = files.into_iter().find(|file| {
            file.first == self.file.first && matches!(file.kind, SegmentKind::Finalized(_))
        });
        let Some(finalized) = finalized else {
            // A recovery moves a segment without a record aside, and its writer begins it anew.
            if self.reader.as_ref().is_none_or(|reader| reader.last().is_none()) {
                self.reader = None;
                return Ok(false);
            }
            let reason = "it is gone, and no finalized segment took its place".to_owned();
            return Err(JournalError::Inconsistent { path: path.clone(), reason });
        };
        self.file = finalized;
        if let Some(reader) = &mut self.reader {
            reader.set_in_progress(false);
        }
        Ok(true)
    }
}

impl EditStream for SegmentStream {
    fn name(&self) -> String {
        self.file.path.display().to_string()
    }

    fn first(&self) -> TxId {
        self.file.first
    }

    fn last(&self) -> Option<TxId> {
        match self.file.kind {
            SegmentKind::Finalized(last) => Some(last),
            SegmentKind::InProgress => None,
        }
    }

    fn next(&mut self) -> Result<Option<Record>, JournalError> {
        match self.read()? {
            // Its last records may have come between the read and the end.
            None if self.is_in_progress() && self.look_for_end()? => self.read(),
            read => Ok(read),
        }
    }

    fn skip_before(&mut self, txid: TxId) -> Result<(), JournalError> {
        self.reader()?.map_or(Ok(()), |reader| reader.skip_before(txid))
    }

    fn resync(&mut self) -> Result<bool, JournalError> {
        self.reader()?.map_or(Ok(false), SegmentReader::resync)
    }
}

fn is_not_found(error: &JournalError) -> bool {
    matches!(error, JournalError::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}
