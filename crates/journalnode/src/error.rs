//! Why a call is refused, and what Java calls it.

use std::path::PathBuf;
use zerohop_daemon::storage::{FileError, LockError};
use zerohop_journal::JournalError;
use zerohop_quorum::DownloadError;
use zerohop_transport::rpc::RpcError;
use zerohop_wire::{JavaException, RemoteException};

/// The result of what a JournalNode does.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a JournalNode does not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No NameNode has formatted the journal.
    #[error(
        "Journal {journal} not formatted; if this JournalNode lost its disk, stop it and run `journalnode -format' there; \
         a new name service is formatted by `namenode -format', or by `namenode -initializeSharedEdits' if it had one NameNode"
    )]
    NotFormatted {
        /// The journal's id.
        journal: String,
    },
    /// The name is no journal id: empty, hidden, or a path.
    #[error("bad journal id: {0:?}")]
    BadJournalId(String),
    /// The call belongs to a writer that another has taken over from.
    #[error(
        "IPC's epoch {epoch} is less than the last promised epoch {promised} ; journal id: {journal}"
    )]
    Fenced {
        /// The caller's epoch.
        epoch: u64,
        /// The epoch of the writer that took over.
        promised: u64,
        /// The journal's id.
        journal: String,
    },
    /// A writer wants an epoch that is not above all others.
    #[error("Proposed epoch {epoch} <= last promise {promised} ; journal id: {journal}")]
    EpochNotNew {
        /// What the writer proposed.
        epoch: u64,
        /// What was promised.
        promised: u64,
        /// The journal's id.
        journal: String,
    },
    /// The caller has not begun a segment in its epoch.
    #[error(
        "IPC's epoch {epoch} is not the current writer epoch  {writer} ; journal id: {journal}"
    )]
    NotTheWriter {
        /// The caller's epoch.
        epoch: u64,
        /// The epoch of the last writer that began a segment.
        writer: u64,
        /// The journal's id.
        journal: String,
    },
    /// The writer and this journal do not agree on what was written: the writer leaves this journal aside until its next
    /// segment.
    #[error("{0}")]
    OutOfSync(String),
    /// What was asked for would lose or change transactions that a majority may have accepted.
    #[error("{0}")]
    WouldLose(String),
    /// The request contradicts itself or what is here.
    #[error("{0}")]
    BadRequest(String),
    /// The NameNode belongs to another name space or cluster.
    #[error("{0}")]
    OtherNamespace(String),
    /// The directory holds what formatting would destroy.
    #[error("Directory {} is in an inconsistent state: Can't format the storage directory because the current directory is not empty.", .0.display())]
    NotEmpty(PathBuf),
    /// The journal has edits, and the operator of this JournalNode has not allowed to format it.
    #[error(
        "{} has edits, and this JournalNode does not let a NameNode format them away: to destroy them, start it with \
         zerohop.journalnode.format.over.data=true, or stop it and move the directory elsewhere",
        .0.display()
    )]
    HoldsEdits(PathBuf),
    /// There are as many journals as the configuration allows.
    #[error(
        "there are {max} journals already: raise zerohop.journalnode.journals.max for more, or remove directories of journals that are not used"
    )]
    TooManyJournals {
        /// `zerohop.journalnode.journals.max`
        max: usize,
    },
    /// A call without an epoch comes from another process than the one that was promised an epoch.
    #[error(
        "discardSegments comes from another process than the one that was promised an epoch ; journal id: {journal}"
    )]
    NotThePromised {
        /// The journal's id.
        journal: String,
    },
    /// The caller's host is none of the configured NameNodes and JournalNodes.
    #[error("{0}")]
    ForeignHost(String),
    /// Transactions are asked for that this journal has not seen.
    #[error(
        "Highest txn ID available in the journal is {highest}, but requested txns starting at {since}."
    )]
    TooNew {
        /// The last transaction here.
        highest: u64,
        /// The first one that was asked for.
        since: u64,
    },
    /// Transactions are asked for that are not in memory; they are in the segments.
    #[error("{0}")]
    NotCached(String),
    /// `VERSION` or a recovery record cannot be understood.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another JournalNode did not give a segment.
    #[error(transparent)]
    Download(DownloadError),
    /// Another JournalNode did not tell which segments it has.
    #[error(transparent)]
    Compare(RpcError),
    /// The journal's thread has ended.
    #[error("the JournalNode is stopping")]
    Stopping,
    /// Files cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Segments cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Another process has the directory.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl Error {
    /// The exception that Apache's JournalNode throws in this case.
    pub fn to_exception(&self) -> RemoteException {
        let class = match self {
            Self::NotFormatted { .. } => JavaException::JournalNotFormatted,
            Self::OutOfSync(_) => JavaException::JournalOutOfSync,
            Self::TooNew { .. } => JavaException::NewerTxnId,
            Self::NotCached(_) => JavaException::CacheMiss,
            Self::WouldLose(_) => JavaException::Assertion,
            Self::BadJournalId(_) | Self::BadRequest(_) => JavaException::IllegalArgument,
            Self::NotEmpty(_) | Self::HoldsEdits(_) => JavaException::InconsistentFsState,
            Self::ForeignHost(_) => JavaException::AccessControl,
            _ => JavaException::Io,
        };
        class.with(self.to_string())
    }
}
