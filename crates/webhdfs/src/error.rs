//! The reasons a call fails, with Java's exceptions as kinds.

use std::io;

use zerohop_wire::{JavaException, RemoteException};

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason a call fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An exception of the server; shown without its class, as Hadoop's shell shows exceptions.
    #[error("{}", .0.first_line())]
    Remote(RemoteException),
    /// The server does not accept the caller (status 401).
    #[error("{0}")]
    Unauthorized(String),
    /// Connecting failed; nothing was sent.
    #[error("{address}: {source}; is a WebHDFS or HttpFS server running there?")]
    Connect {
        /// The server, as `host:port`.
        address: String,
        /// The error of the last address tried.
        source: io::Error,
    },
    /// The connection failed after the request was sent, so that the call may have been executed.
    #[error(
        "{address}: {source}; the outcome of {operation} is unknown: check before repeating it"
    )]
    Unknown {
        /// The server, as `host:port`.
        address: String,
        /// The operation, as in `op=RENAME`.
        operation: &'static str,
        /// The error of the connection.
        source: io::Error,
    },
    /// The connection failed during a call that changes nothing, or that can be repeated.
    #[error("{address}: {source}")]
    Connection {
        /// The server, as `host:port`.
        address: String,
        /// The error of the connection.
        source: io::Error,
    },
    /// An answer that WebHDFS does not give.
    #[error("{0}")]
    Protocol(String),
    /// A configuration or URI that cannot be used.
    #[error("{0}")]
    Invalid(String),
}

/// The kind of an error, which tells a caller what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The path does not exist.
    NotFound,
    /// A permission is missing.
    Denied,
    /// The path already exists.
    Exists,
    /// The server does not have the operation.
    Unsupported,
    /// All other errors.
    Other,
}

impl Error {
    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unauthorized(_) => ErrorKind::Denied,
            Self::Remote(exception) => match exception.kind() {
                Some(JavaException::FileNotFound) => ErrorKind::NotFound,
                Some(JavaException::AccessControl | JavaException::Authorization) => {
                    ErrorKind::Denied
                }
                Some(JavaException::FileAlreadyExists) => ErrorKind::Exists,
                Some(JavaException::UnsupportedOperation) => ErrorKind::Unsupported,
                _ => ErrorKind::Other,
            },
            _ => ErrorKind::Other,
        }
    }

    /// Returns `true` if the server is a standby, so that the call must go to another NameNode.
    pub(crate) fn is_standby(&self) -> bool {
        self.has_class(JavaException::Standby)
    }

    /// Returns `true` if the server asks for a repetition, as in safe mode.
    pub(crate) fn is_retriable(&self) -> bool {
        self.has_class(JavaException::Retriable)
    }

    fn has_class(&self, class: JavaException) -> bool {
        matches!(self, Self::Remote(exception) if exception.kind() == Some(class))
    }
}

impl From<zerohop_conf::ConfError> for Error {
    fn from(error: zerohop_conf::ConfError) -> Self {
        Self::Invalid(error.to_string())
    }
}
