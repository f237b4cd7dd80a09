//! Errors of the local file system, with the path.

use std::fmt;
use std::io;

/// An error of a call about a local path.
#[derive(Debug)]
pub struct LocalError {
    /// The path that the system refused, which may be a directory above the caller's.
    pub path: String,
    /// The error of the system.
    pub source: io::Error,
}

/// The result of a call about a local path.
pub type Result<T> = std::result::Result<T, LocalError>;

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.source)
    }
}

impl std::error::Error for LocalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Adds a path to an error of the system.
pub(crate) fn at(path: &str) -> impl Fn(io::Error) -> LocalError {
    move |source| LocalError { path: path.to_owned(), source }
}
