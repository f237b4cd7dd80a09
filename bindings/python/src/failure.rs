//! Errors as Python's own exceptions: an OSError with an errno, of which Python makes FileNotFoundError,
//! PermissionError and the like.

use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::error::Error as _;
use std::io;
use zerohop::{Error, ErrorKind, FileKind, FileSystem};

/// Why an operation failed.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Error,
    path: Option<String>,
    /// True if a file was needed and the path is a directory.
    is_directory: bool,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Says which path a call was about.
pub(crate) trait About<T> {
    /// The failure as one of `path`.
    fn about(self, path: &str) -> Result<T>;
}

impl<T> About<T> for zerohop::Result<T> {
    fn about(self, path: &str) -> Result<T> {
        self.map_err(|error| Failure { error, path: Some(path.to_owned()), is_directory: false })
    }
}

/// Returns the result of an operation that needs a file at `path`. If it failed, a query tells whether `path` is a directory: Java's
/// classes do not tell, and their texts contain the path.
pub(crate) async fn about_file<T>(
    fs: &FileSystem,
    path: &str,
    result: zerohop::Result<T>,
) -> Result<T> {
    let error = match result {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let is_directory = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Exists)
        && fs.status(path).await.is_ok_and(|status| status.kind == FileKind::Directory);
    Err(Failure { error, path: Some(path.to_owned()), is_directory })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, path: None, is_directory: false }
    }
}

impl Failure {
    /// The exception: an OSError of the class that belongs to its errno, with `java_class`, the class of the exception that
    /// a server threw, or None.
    pub(crate) fn exception(self, py: Python<'_>) -> PyErr {
        let errno = if self.is_directory { libc::EISDIR } else { errno_of(&self.error) };
        let made = py.get_type::<PyOSError>().call1((errno, self.error.to_string(), self.path));
        let with_class = made.and_then(|exception| {
            exception.setattr("java_class", self.error.java_class())?;
            Ok(exception)
        });
        with_class.map_or_else(|error| error, PyErr::from_value)
    }
}

/// A file, a listing or an operation of the process before fork().
pub(crate) fn of_parent(what: &str) -> PyErr {
    let text = format!("{what} belongs to the process before fork(): open it again in this one");
    PyOSError::new_err((libc::EBADF, text))
}

/// What Python's files say.
pub(crate) fn closed() -> PyErr {
    PyValueError::new_err("I/O operation on closed file.")
}

/// More bytes than there is memory for.
pub(crate) fn too_large(len: u64) -> PyErr {
    PyMemoryError::new_err(format!("no memory for {len} bytes"))
}

fn errno_of(error: &Error) -> i32 {
    if let Some(errno) = errno_of_system(error) {
        return errno;
    }
    match (error.kind(), error.java_class().unwrap_or_default()) {
        (_, "org.apache.hadoop.hdfs.server.namenode.SafeModeException") => libc::EROFS,
        (_, "org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException") => libc::ESTALE,
        (ErrorKind::NotFound, _) => libc::ENOENT,
        (ErrorKind::Denied, _) => libc::EACCES,
        (ErrorKind::Exists, _) => libc::EEXIST,
        (ErrorKind::NotEmpty, _) => libc::ENOTEMPTY,
        (ErrorKind::WrongType, _) => libc::ENOTDIR,
        (ErrorKind::Fenced | ErrorKind::Unavailable, _) => libc::EBUSY,
        (ErrorKind::Quota, _) => libc::EDQUOT,
        (ErrorKind::Invalid, _) => libc::EINVAL,
        (ErrorKind::Unsupported, _) => libc::ENOTSUP,
        _ => libc::EIO,
    }
}

/// The system's number where the system failed: no connection, a time that ran out.
fn errno_of_system(error: &Error) -> Option<i32> {
    let source = error.source()?.downcast_ref::<io::Error>()?;
    match source.kind() {
        // A socket's time limit is EAGAIN, of which Python would make BlockingIOError.
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Some(libc::ETIMEDOUT),
        io::ErrorKind::ConnectionRefused => Some(libc::ECONNREFUSED),
        io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => Some(libc::ECONNRESET),
        io::ErrorKind::BrokenPipe => Some(libc::EPIPE),
        // A name that has no address has no number of the system.
        _ => source.raw_os_error().or(error.no_connection().map(|_| libc::EHOSTUNREACH)),
    }
}
