//! The side of a journal that is read.

use crate::error::JournalError;
use crate::op::Record;
use zerohop_wire::TxId;

/// What edits are read from.
pub trait EditSource {
    /// What it is called in messages: its directory or address.
    fn name(&self) -> String;

    /// A stream for each segment that holds one of the selected edits, by first transaction. Several streams may hold the
    /// same edits: each is a copy.
    ///
    /// # Errors
    /// If it cannot be found out what there is.
    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError>;
}

/// Which edits are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The first transaction.
    pub from: TxId,
    /// Whether segments that are still written are wanted too.
    pub in_progress: bool,
}

/// The edits of one segment, in order.
pub trait EditStream: Send {
    /// What it is called in messages.
    fn name(&self) -> String;

    /// The segment's first transaction.
    fn first(&self) -> TxId;

    /// The segment's last transaction; none while it is in progress.
    fn last(&self) -> Option<TxId>;

    /// Whether more edits may be added to the segment.
    fn is_in_progress(&self) -> bool {
        self.last().is_none()
    }

    /// The next edit. None at the end of a finalized segment; of one in progress also when there is no further whole record
    /// yet: asked again later, the stream continues, also when the segment was finalized in between.
    ///
    /// Edits of a segment in progress have been written, which need not mean that they survive a crash of the writer's
    /// machine: of one directory, they may be ahead of its last sync.
    ///
    /// # Errors
    /// If the segment is damaged or cannot be read; there is no next edit then.
    fn next(&mut self) -> Result<Option<Record>, JournalError>;

    /// Passes over edits before `txid` without decoding them; what their checksums vouch for is not looked at. [`Self::next`] says where
    /// it did not get that far, and why.
    ///
    /// # Errors
    /// If the segment cannot be read.
    fn skip_before(&mut self, _txid: TxId) -> Result<(), JournalError> {
        Ok(())
    }

    /// After an error: moves to the first edit behind the damage that can be read, whatever its transaction is. False if there
    /// is none.
    ///
    /// # Errors
    /// If the segment cannot be read at all.
    fn resync(&mut self) -> Result<bool, JournalError> {
        Ok(false)
    }
}
