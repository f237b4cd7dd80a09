//! The segment that a journal's writer is at.

use crate::segments::Segments;
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::segment::{Scan, SegmentWriter, Tail};
use zerohop_wire::TxId;

/// A segment being written.
#[derive(Debug)]
pub(crate) struct OpenSegment {
    pub(crate) first: TxId,
    /// The transaction that comes next.
    pub(crate) next: TxId,
    pub(crate) layout: i32,
    pub(crate) writer: SegmentWriter,
    /// The writer has records that are not synced: a majority had them before.
    pub(crate) is_unsynced: bool,
}

impl OpenSegment {
    /// Its writer is fenced. What was written here and synced is not read again: two million edits took a second, in which no NameNode
    /// was active.
    pub(crate) fn close(mut self, segments: &Segments) {
        if self.next == self.first || (self.is_unsynced && self.writer.sync().is_err()) {
            return;
        }
        let scan = Scan {
            layout: LayoutVersion(self.layout),
            first: Some(self.first),
            last: Some(TxId(self.next.0 - 1)),
            valid_len: self.writer.len(),
            tail: Tail::Clean,
        };
        segments.remember(self.writer.path(), scan);
    }
}
