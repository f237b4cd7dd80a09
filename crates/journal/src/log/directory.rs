//! A local directory that keeps the edit log.

use super::completion::Completion;
use super::purge::purge;
use super::recover::{finalize_damaged, recover};
use super::source::{EditSource, EditStream, Selection};
use super::stream::SegmentStream;
use super::writer::{Batch, Journal, OpenSegment, Recovery};
use crate::error::JournalError;
use crate::layout::LayoutVersion;
use crate::segment::{
    self, SegmentFile, SegmentKind, SegmentWriter, finalized_name, in_progress_name, rename,
    sync_dir,
};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use zerohop_wire::TxId;

/// The directory `current` of a storage directory; who has locked that may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryJournal {
    current: PathBuf,
    op_size_max: usize,
}

impl DirectoryJournal {
    /// Segments in `current`; larger records than `op_size_max` bytes are taken for damage.
    pub fn new(current: PathBuf, op_size_max: usize) -> Self {
        Self { current, op_size_max }
    }

    /// Renames the segments in progress, so that they count no more: they end with `.stale` then.
    ///
    /// # Errors
    /// If one cannot be renamed.
    pub fn set_aside_unfinalized_segments(&self) -> Result<(), JournalError> {
        let segments = self.segments()?.into_iter();
        for file in segments.filter(|file| file.kind == SegmentKind::InProgress) {
            let mut to = file.path.as_os_str().to_owned();
            to.push(".stale");
            std::fs::rename(&file.path, to).map_err(JournalError::io("rename", file.path))?;
        }
        sync_dir(&self.current)
    }

    /// Finishes segments that are left in progress because they are damaged: each up to its last whole record, which need not
    /// follow on the ones before.
    ///
    /// # Errors
    /// If one cannot be renamed.
    pub fn finalize_damaged_segments(&self) -> Result<(), JournalError> {
        finalize_damaged(&self.current, self.op_size_max)
    }

    /// All segments, by first transaction.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn segments(&self) -> Result<Vec<SegmentFile>, JournalError> {
        segment::list(&self.current)
    }
}

impl EditSource for DirectoryJournal {
    fn name(&self) -> String {
        self.current.parent().unwrap_or(&self.current).display().to_string()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        let mut files = self.segments()?;
        files.retain(|file| match file.kind {
            SegmentKind::Finalized(last) => selection.from <= last,
            SegmentKind::InProgress => selection.in_progress,
        });
        let stream =
            |file| -> Box<dyn EditStream> { Box::new(SegmentStream::new(file, self.op_size_max)) };
        Ok(files.into_iter().map(stream).collect())
    }
}

impl Journal for DirectoryJournal {
    fn has_data(&self) -> Result<bool, JournalError> {
        match self.current.try_exists().map_err(JournalError::io("look at", &self.current))? {
            true => self.segments().map(|segments| !segments.is_empty()),
            false => Ok(false),
        }
    }

    fn format(&self) -> Result<(), JournalError> {
        let current = &self.current;
        std::fs::create_dir_all(current).map_err(JournalError::io("create", current))?;
        for file in self.segments()? {
            std::fs::remove_file(&file.path).map_err(JournalError::io("remove", file.path))?;
        }
        sync_dir(current)
    }

    fn recover_unfinalized_segments(&self) -> Recovery {
        recover(&self.current, self.op_size_max)
    }

    fn start_segment(&self, first: TxId) -> Result<Box<dyn OpenSegment>, JournalError> {
        let path = self.current.join(in_progress_name(first));
        let mut writer = SegmentWriter::create(&path, LayoutVersion::CURRENT)?;
        writer.sync()?;
        sync_dir(&self.current)?;
        Ok(Box::new(DirectorySegment { first, writer }))
    }

    fn purge(&self, before: TxId, kept: Option<RangeInclusive<i64>>) {
        purge(&self.current, before, kept);
    }

    fn close(&self) {}
}

/// The file in which a directory's copy of the segment is written.
struct DirectorySegment {
    first: TxId,
    writer: SegmentWriter,
}

impl OpenSegment for DirectorySegment {
    fn append(&mut self, batch: &Batch<'_>) -> Result<Completion, JournalError> {
        self.writer.append(batch.records)?;
        self.writer.sync()?;
        Ok(Completion::done())
    }

    fn finalize(self: Box<Self>, last: TxId) -> Result<(), JournalError> {
        let path = self.writer.path().to_owned();
        self.writer.finish()?;
        rename(&path, &finalized(&path, self.first, last))
    }
}

fn finalized(path: &Path, first: TxId, last: TxId) -> PathBuf {
    path.with_file_name(finalized_name(first, last))
}
