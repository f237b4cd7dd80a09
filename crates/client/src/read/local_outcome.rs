//! How opening and reading a replica of this machine ends.

use super::plan::NotLocal;
use std::io;

/// Why a range could not be read from a replica of this machine.
#[derive(Debug)]
pub(crate) enum LocalError {
    /// The data does not match its checksums.
    Corrupt(String),
    /// The disk failed, or the file is shorter than it was.
    Failed(io::Error),
    /// The DataNode took the replica back, or it was dropped here.
    Revoked,
}

impl From<io::Error> for LocalError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl std::fmt::Display for LocalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Corrupt(text) => f.write_str(text),
            Self::Failed(error) => write!(f, "the local replica could not be read: {error}"),
            Self::Revoked => f.write_str("the DataNode took the local replica back"),
        }
    }
}

/// Why a replica could not be opened.
pub(crate) enum OpenError {
    NotLocal(NotLocal),
    /// The DataNode does not accept the token.
    Token(String),
    /// Files are opened by their paths, and the DataNode has to be asked for those first.
    NeedsPaths,
}

/// How an open replica was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It was open.
    Open,
    /// The DataNode was asked.
    Asked,
    /// Another reader was asking.
    Waited,
}

/// How often the cache was asked, and with what result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// Opens that found the replica open.
    pub hits: u64,
    /// Opens that asked the DataNode.
    pub misses: u64,
    /// Opens that waited for another reader's request.
    pub waits: u64,
    /// Replicas dropped for being idle or too many.
    pub evictions: u64,
    /// Replicas open now.
    pub open: u64,
}
