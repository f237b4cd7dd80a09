//! What a journal must do that several NameNodes share.

use zerohop_journal::JournalError;
use zerohop_journal::log::{EditStream, Journal, Selection};
use zerohop_quorum::{NodeStatus, QuorumJournal};
use zerohop_wire::TxId;

/// A journal that several NameNodes share.
pub(super) trait SharedJournal: Journal {
    /// Whether it has this transaction.
    fn holds(&self, txid: TxId) -> Result<bool, JournalError>;

    /// As [`EditSource::streams`](zerohop_journal::log::EditSource::streams), with the copy of every member
    /// that answers in time, not of a majority alone.
    fn every_copy(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        self.streams(selection)
    }

    /// How this NameNode stands with each JournalNode; none where there are none.
    fn nodes(&self) -> Vec<NodeStatus> {
        Vec::new()
    }

    /// Takes segments that begin with `first` or later out of use.
    fn discard_segments(&self, first: TxId) -> Result<(), JournalError>;
}

impl SharedJournal for QuorumJournal {
    fn every_copy(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        Self::every_copy(self, selection)
    }

    fn holds(&self, txid: TxId) -> Result<bool, JournalError> {
        Self::holds(self, txid)
    }

    fn discard_segments(&self, first: TxId) -> Result<(), JournalError> {
        Self::discard_segments(self, first)
    }

    fn nodes(&self) -> Vec<NodeStatus> {
        Self::nodes(self)
    }
}
