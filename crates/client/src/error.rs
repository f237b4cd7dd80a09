//! What can go wrong, and what a caller may do about it.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;
use zerohop_conf::ConfError;
use zerohop_transport::rpc::RpcError;
use zerohop_wire::{JavaException, RemoteException};

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// What a caller may do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such path.
    NotFound,
    /// The user may not do this.
    Denied,
    /// Something is there already.
    Exists,
    /// A directory is not empty.
    NotEmpty,
    /// A directory where a file was needed, or the other way round.
    WrongType,
    /// The file is being written by another client, or its lease is lost.
    Fenced,
    /// A quota does not allow it.
    Quota,
    /// The cluster cannot do it now; later it may.
    Unavailable,
    /// Every replica of a block is missing or corrupt.
    Corrupt,
    /// The arguments of the call are not valid.
    Invalid,
    /// The server or this client does not do that.
    Unsupported,
    /// Something went wrong on the way; the call may have been done or not.
    Io,
}

/// An error; its `Display` is what Hadoop's shell prints. Cheap to clone.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    text: Cow<'static, str>,
    cause: Option<Cause>,
}

enum Cause {
    /// A server threw it.
    Server(RemoteException),
    NoConnection(NoConnection),
    Io(io::Error),
}

/// No connection to a server could be made: nothing was sent.
#[derive(Debug)]
#[non_exhaustive]
pub struct NoConnection {
    /// `host:port`, as the server was named.
    pub address: String,
    /// The system's error.
    pub source: io::Error,
}

impl Error {
    /// An error of this client's own.
    pub fn new(kind: ErrorKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner { kind, text: text.into(), cause: None }))
    }

    /// An input or output error, with what was being done.
    pub(crate) fn io(doing: impl fmt::Display, source: io::Error) -> Self {
        let text = format!("{doing}: {source}");
        let inner =
            Inner { kind: ErrorKind::Io, text: text.into(), cause: Some(Cause::Io(source)) };
        Self(Arc::new(inner))
    }

    /// Adds a line to the text. The first line stays the server's.
    pub(crate) fn with_line(self, line: &str) -> Self {
        let text = format!("{}\n{line}", self.0.text);
        match Arc::try_unwrap(self.0) {
            Ok(inner) => Self(Arc::new(Inner { text: text.into(), ..inner })),
            Err(shared) => Self(shared),
        }
    }

    pub(crate) fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Invalid, text)
    }

    pub(crate) fn plain(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Io, text)
    }

    /// Work that another thread or task was given did not end.
    pub(crate) fn of_thread(error: tokio::task::JoinError) -> Self {
        Self::plain(format!("the thread failed: {error}"))
    }

    /// What a caller may do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The Java class of the exception that a server threw, with its package, if it threw one.
    pub fn java_class(&self) -> Option<&str> {
        self.remote().map(|remote| remote.class.as_ref())
    }

    /// The message of the exception that a server threw. Apache's servers put a stack trace after its first
    /// line.
    pub fn server_message(&self) -> Option<&str> {
        self.remote().map(|remote| remote.message.as_str())
    }

    /// Which server could not be reached, if that was it.
    pub fn no_connection(&self) -> Option<&NoConnection> {
        match &self.0.cause {
            Some(Cause::NoConnection(why)) => Some(why),
            _ => None,
        }
    }

    fn remote(&self) -> Option<&RemoteException> {
        match &self.0.cause {
            Some(Cause::Server(exception)) => Some(exception),
            _ => None,
        }
    }

    /// The server's exception as a class of the table.
    pub(crate) fn remote_kind(&self) -> Option<JavaException> {
        self.remote().and_then(RemoteException::kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.text)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.cause {
            Some(Cause::NoConnection(NoConnection { source, .. }) | Cause::Io(source)) => {
                Some(source)
            }
            Some(Cause::Server(_)) | None => None,
        }
    }
}

impl From<RpcError> for Error {
    fn from(error: RpcError) -> Self {
        let text = error.to_string();
        let (kind, text, cause) = match error {
            RpcError::Remote(exception) => {
                let (kind, text) = (kind_of(&exception), exception.first_line().to_owned());
                (kind, text, Some(Cause::Server(exception)))
            }
            RpcError::Connect { addr, source } => {
                let why = NoConnection { address: addr, source };
                (ErrorKind::Unavailable, text, Some(Cause::NoConnection(why)))
            }
            RpcError::Io { source, .. } => (ErrorKind::Io, text, Some(Cause::Io(source))),
            RpcError::Timeout { .. } => {
                (ErrorKind::Io, text, Some(Cause::Io(io::ErrorKind::TimedOut.into())))
            }
            RpcError::Protocol { .. } => (ErrorKind::Io, text, None),
        };
        Self(Arc::new(Inner { kind, text: text.into(), cause }))
    }
}

impl From<ConfError> for Error {
    fn from(error: ConfError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::Denied => io::ErrorKind::PermissionDenied,
            ErrorKind::Exists => io::ErrorKind::AlreadyExists,
            ErrorKind::NotEmpty => io::ErrorKind::DirectoryNotEmpty,
            ErrorKind::Corrupt => io::ErrorKind::InvalidData,
            ErrorKind::Invalid | ErrorKind::WrongType => io::ErrorKind::InvalidInput,
            ErrorKind::Unsupported => io::ErrorKind::Unsupported,
            ErrorKind::Quota => io::ErrorKind::QuotaExceeded,
            ErrorKind::Unavailable | ErrorKind::Fenced | ErrorKind::Io => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

fn kind_of(exception: &RemoteException) -> ErrorKind {
    use JavaException as J;
    match exception.kind() {
        Some(J::FileNotFound | J::XAttrNotFound) => ErrorKind::NotFound,
        Some(J::AccessControl | J::Authorization | J::InvalidToken | J::SnapshotAccessControl) => {
            ErrorKind::Denied
        }
        Some(J::FileAlreadyExists) => ErrorKind::Exists,
        Some(J::PathIsNotEmptyDirectory) => ErrorKind::NotEmpty,
        Some(J::ParentNotDirectory | J::PathIsNotDirectory) => ErrorKind::WrongType,
        Some(J::AlreadyBeingCreated | J::RecoveryInProgress | J::LeaseExpired) => ErrorKind::Fenced,
        Some(J::NSQuotaExceeded | J::DSQuotaExceeded | J::QuotaByStorageTypeExceeded) => {
            ErrorKind::Quota
        }
        Some(
            J::SafeMode
            | J::Standby
            | J::ObserverRetryOnActive
            | J::Retriable
            | J::NotReplicatedYet,
        ) => ErrorKind::Unavailable,
        Some(
            J::IllegalArgument
            | J::IllegalState
            | J::HadoopIllegalArgument
            | J::InvalidPath
            | J::AclException
            | J::MaxDirectoryItemsExceeded
            | J::PathComponentTooLong
            | J::SnapshotException,
        ) => ErrorKind::Invalid,
        Some(
            J::UnsupportedOperation
            | J::UnknownCryptoProtocolVersion
            | J::RpcNoSuchMethod
            | J::RpcNoSuchProtocol,
        ) => ErrorKind::Unsupported,
        _ => ErrorKind::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_s_exception_keeps_class_and_first_line() {
        let remote = JavaException::FileNotFound.with("File does not exist: /x\n\tat java");
        let error = Error::from(RpcError::Remote(remote));
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.to_string(), "File does not exist: /x");
        assert_eq!(error.java_class(), Some("java.io.FileNotFoundException"));
        assert_eq!(error.server_message(), Some("File does not exist: /x\n\tat java"));
        assert!(error.no_connection().is_none());
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_server_that_cannot_be_reached_is_named() {
        let source = io::ErrorKind::ConnectionRefused.into();
        let error = Error::from(RpcError::Connect { addr: "nn:8020".to_owned(), source });
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        let why = error.no_connection().unwrap();
        assert_eq!(
            (why.address.as_str(), why.source.kind()),
            ("nn:8020", io::ErrorKind::ConnectionRefused)
        );
        let source = std::error::Error::source(&error).unwrap();
        assert!(source.is::<io::Error>(), "no type of the transport");
    }
}
