//! What went wrong on the volume: subject, verb, path, source, and what to do.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_daemon::storage::{FileError, LockError};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller may do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The replica, file or directory is not there.
    NotFound,
    /// The replica is there already.
    Exists,
    /// Another process holds the volume.
    Locked,
    /// VERSION files contradict each other, the NameNode or this program.
    Inconsistent,
    /// Data and checksums, or the two files of a replica, do not fit each other.
    Corrupt,
    /// What was asked does not fit the replica's state; the volume is fine.
    Invalid,
    /// No space is left on the volume.
    Full,
    /// An earlier write or sync of this replica failed: nothing on it is trusted any more.
    Poisoned,
    /// The process has no descriptors or no memory left; the volume is fine.
    Exhausted,
    /// The volume failed.
    Io,
}

/// An error on a volume.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    subject: String,
    verb: &'static str,
    path: PathBuf,
    source: Option<Box<dyn StdError + Send + Sync>>,
    advice: Option<String>,
}

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        subject: impl fmt::Display,
        verb: &'static str,
        path: &Path,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        let (subject, path) = (subject.to_string(), path.to_owned());
        Self { kind, subject, verb, path, source: Some(source.into()), advice: None }
    }

    /// An I/O error; its kind follows from the system's.
    pub(crate) fn io(
        subject: impl fmt::Display,
        verb: &'static str,
        path: &Path,
        source: impl Into<io::Error>,
    ) -> Self {
        let source = source.into();
        let kind = match source.kind() {
            _ if is_exhaustion(&source) => ErrorKind::Exhausted,
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::AlreadyExists => ErrorKind::Exists,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
            _ => ErrorKind::Io,
        };
        let advice = match source.kind() {
            _ if kind == ErrorKind::Exhausted => Some("raise `ulimit -n', or give more memory"),
            io::ErrorKind::StorageFull => Some("free space on the volume, or add one"),
            io::ErrorKind::PermissionDenied => {
                Some("the user who runs the DataNode must own the directory")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                Some("the file system went read-only: check the disk")
            }
            _ => None,
        };
        let error = Self::new(kind, subject, verb, path, source);
        match advice {
            Some(advice) => error.advise(advice),
            None => error,
        }
    }

    /// A volume's disk does not return from a system call.
    pub fn no_answer(verb: &'static str, path: &Path, timeout: Duration) -> Self {
        let text = format!("no answer within {} ms", timeout.as_millis());
        let error = Self::new(ErrorKind::Io, "volume", verb, path, text);
        error.advise("check the disk; dfs.datanode.disk.check.timeout limits the wait")
    }

    /// Creates the error of a volume whose storage id another volume has. A NameNode takes both for one storage, and half
    /// of the replicas go missing.
    pub fn same_storage(id: &str, path: &Path, other: &Path) -> Self {
        let text = format!("its storage id {id} is also that of {}", other.display());
        Self::new(ErrorKind::Inconsistent, "volume", "use", path, text).advise(
            "one directory is a copy of the other: take the copy out of dfs.datanode.data.dir, its replicas are in the \
             original too",
        )
    }

    /// Adds what to do about it.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// What the caller may do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file or directory it is about.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the volume itself is at fault and should be checked or taken out of use.
    pub fn is_volume_fault(&self) -> bool {
        matches!(self.kind, ErrorKind::Io | ErrorKind::Poisoned)
    }

    /// Whether a volume that gave this error when it was checked is of no more use: a full one still is.
    pub fn is_end_of_volume(&self) -> bool {
        !matches!(self.kind, ErrorKind::Full | ErrorKind::Exhausted)
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::io("volume", error.verb, &error.path, error.source)
    }
}

impl From<LockError> for Error {
    fn from(error: LockError) -> Self {
        let (directory, owner) = match error {
            LockError::File(error) => return error.into(),
            LockError::Held { directory, owner } => (directory, owner),
        };
        let advice = match owner {
            Some(owner) => {
                format!("{owner} uses this directory: stop that process, or name another directory")
            }
            None => {
                "another process uses this directory: stop it, or name another directory".to_owned()
            }
        };
        let taken = "the lock is taken".to_owned();
        Self::new(ErrorKind::Locked, "volume", "lock", &directory, taken).advise(advice)
    }
}

fn is_exhaustion(source: &io::Error) -> bool {
    use rustix::io::Errno;
    source.kind() == io::ErrorKind::OutOfMemory
        || Errno::from_io_error(source)
            .is_some_and(|errno| matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: cannot {} {}", self.subject, self.verb, self.path.display())?;
        if let Some(source) = &self.source {
            write!(f, ": {source}")?;
        }
        if let Some(advice) = &self.advice {
            write!(f, " ({advice})")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
