//! What can go wrong with the directories; each is one line that says what to do.

use std::io;
use std::path::{Path, PathBuf};
use zerohop_daemon::storage::{FileError, LockError};
use zerohop_journal::JournalError;
use zerohop_journal::error::advice;
use zerohop_journal::layout::LayoutVersion;

/// Why the applied state refused an image or an edit.
pub type ReplayError = Box<dyn std::error::Error + Send + Sync>;

/// A directory, an image or a segment that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// A setting makes no sense.
    #[error("{0}")]
    Config(String),
    /// A system call failed.
    #[error("cannot {verb} {}: {source}{}", path.display(), advice(source))]
    Io {
        /// What was tried.
        verb: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// None of the directories holds a namespace.
    #[error("NameNode is not formatted. Format {} first (namenode -format)", path.display())]
    NotFormatted {
        /// The first directory.
        path: PathBuf,
    },
    /// A directory is not there.
    #[error(
        "Directory {} is in an inconsistent state: storage directory does not exist or is not \
         accessible. Create it, or take it out of dfs.namenode.name.dir and dfs.namenode.edits.dir",
        path.display()
    )]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Another process has the directory.
    #[error("{0}")]
    Locked(LockError),
    /// Directories that do not belong together, or a directory that is half there.
    #[error("Directory {} is in an inconsistent state: {reason}", path.display())]
    Inconsistent {
        /// The directory.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Written by a newer release.
    #[error(
        "Unexpected version of storage directory {}. Reported: {found}. Expecting = {}. \
         Use a release that knows this layout",
        path.display(),
        LayoutVersion::CURRENT
    )]
    Newer {
        /// The directory.
        path: PathBuf,
        /// Its layout.
        found: LayoutVersion,
    },
    /// Written by an older release.
    #[error(
        "Directory {}: File system image contains an old layout version {found}. An upgrade to version {} is \
         required, which this NameNode cannot make. If it is part of a rolling upgrade that Apache's NameNode prepared, start \
         this one with -rollingUpgrade started. Otherwise start Apache's NameNode of a release with that layout (3.4) once with \
         -upgrade, run `hdfs dfsadmin -finalizeUpgrade`, stop it, then start this NameNode",
        path.display(),
        LayoutVersion::CURRENT
    )]
    Older {
        /// The first directory.
        path: PathBuf,
        /// The layout found.
        found: LayoutVersion,
    },
    /// Formatting would destroy something.
    #[error("data exists in storage directory {}; format with -force to destroy it", path.display())]
    HoldsData {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the journal or an image.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No image in any directory.
    #[error(
        "No valid image files found in {}; put fsimage_N and fsimage_N.md5 of a copy there",
        path.display()
    )]
    NoImage {
        /// The first image directory.
        path: PathBuf,
    },
    /// Written by an older release, and the rolling upgrade that was spoken of is not there.
    #[error(
        "File system image contains an old layout version {found}, and no rolling upgrade is in progress: prepare one with \
         the NameNode that wrote it (hdfs dfsadmin -rollingUpgrade prepare), stop it, then start this one with \
         -rollingUpgrade started"
    )]
    NoRollingUpgrade {
        /// The layout found.
        found: LayoutVersion,
    },
    /// There is no image to roll back to.
    #[error(
        "No fsimage_rollback_N is in {}: no rolling upgrade was prepared (dfsadmin -rollingUpgrade prepare), or it is \
         finalized or rolled back. Start the NameNode without -rollingUpgrade rollback",
        path.display()
    )]
    NoRollbackImage {
        /// The first image directory.
        path: PathBuf,
    },
    /// Edits are missing.
    #[error(
        "Gap in transactions. Expected to be able to read up until at least txid {until} but \
         unable to find any edit logs containing txid {missing}{dropped}"
    )]
    Gap {
        /// Up to where edits must reach.
        until: i64,
        /// The first that is not there.
        missing: i64,
        /// The directories that are not used and may have them, each with its reason and `; ` in front.
        dropped: String,
    },
    /// The namespace refused an image or an edit.
    #[error("cannot apply {what}: {source}")]
    Replay {
        /// The image, or the edit with its transaction id.
        what: String,
        /// Why.
        source: ReplayError,
    },
    /// The journal that other NameNodes go on from.
    #[error("{what} failed for required journal ({journal}): {reason}")]
    SharedJournal {
        /// `flush`, or what else was done.
        what: &'static str,
        /// Its address.
        journal: String,
        /// What the JournalNodes said.
        reason: String,
    },
    /// The received image is not newer than the directories' newest one.
    #[error(
        "the image of transaction {txid} is not newer than the newest one, of transaction {newer}"
    )]
    Superseded {
        /// Transaction of the received image.
        txid: i64,
        /// Transaction of the newest image.
        newer: i64,
    },
    /// Every directory failed.
    #[error("no storage directory is left for {what}: {reason}")]
    NoneLeft {
        /// `images` or `edits`.
        what: &'static str,
        /// Why the first of them failed.
        reason: String,
    },
}

impl StorageError {
    pub(super) fn io(
        verb: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { verb, path, source }
    }
}

/// A directory or file that does not fit the others.
pub(super) fn inconsistent(path: &Path, reason: String) -> StorageError {
    StorageError::Inconsistent { path: path.to_owned(), reason }
}

impl From<FileError> for StorageError {
    fn from(FileError { verb, path, source }: FileError) -> Self {
        Self::Io { verb, path, source }
    }
}

impl From<LockError> for StorageError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::File(error) => error.into(),
            held @ LockError::Held { .. } => Self::Locked(held),
        }
    }
}
