//! The side of a journal that is written.

use super::completion::Completion;
use super::source::EditSource;
use crate::error::JournalError;
use std::ops::RangeInclusive;
use zerohop_wire::TxId;

/// A place that keeps a copy of the edit log.
///
/// One process writes it at a time; how that is ensured (a lock, an epoch) is the journal's own affair.
pub trait Journal: EditSource + Send + Sync {
    /// Whether it holds segments, which formatting would destroy.
    ///
    /// # Errors
    /// If it cannot be looked at; it must not count as empty then.
    fn has_data(&self) -> Result<bool, JournalError>;

    /// Makes it empty and ready for a new namespace.
    ///
    /// # Errors
    /// If what it holds cannot be removed.
    fn format(&self) -> Result<(), JournalError>;

    /// Finalizes the segments that a writer left in progress. From then on no earlier writer may add to them.
    fn recover_unfinalized_segments(&self) -> Recovery;

    /// Begins a segment; there must be none in progress.
    ///
    /// # Errors
    /// If it cannot be made: nothing may be written to this journal then.
    fn start_segment(&self, first: TxId) -> Result<Box<dyn OpenSegment>, JournalError>;

    /// Removes finalized segments that end before a transaction, except those that hold a transaction of `kept`. A journal
    /// that can only remove all segments up to one removes those before `kept`. Problems are logged: they cost space, not
    /// data.
    fn purge(&self, before: TxId, kept: Option<RangeInclusive<i64>>);

    /// Gives up connections and threads; nothing may be called after.
    fn close(&self);
}

/// A segment being written. Dropped without [`OpenSegment::finalize`], it stays in progress, as after a crash.
pub trait OpenSegment: Send {
    /// Writes records behind those written before. They are durable when this returns, or when the completion it returns
    /// says so; batches become durable in their order. A journal may take the next batch while earlier ones are on their
    /// way. After an error, the segment must not be used any more.
    ///
    /// # Errors
    /// If the records cannot be written.
    fn append(&mut self, batch: &Batch<'_>) -> Result<Completion, JournalError>;

    /// Ends the segment with the transaction `last`, all of its appends being durable.
    ///
    /// # Errors
    /// If it stays in progress, or may do so.
    fn finalize(self: Box<Self>, last: TxId) -> Result<(), JournalError>;
}

/// Whole records with consecutive transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch<'a> {
    /// The first record's transaction.
    pub first: TxId,
    /// How many records there are.
    pub count: u32,
    /// The records, encoded.
    pub records: &'a [u8],
}

/// What was found in segments left in progress.
#[derive(Debug)]
pub struct Recovery {
    /// The last transaction in any of them, those that could not be recovered included; 0 if there is none.
    pub reached: TxId,
    /// Whether all of them are finalized now.
    pub outcome: Result<(), JournalError>,
}
