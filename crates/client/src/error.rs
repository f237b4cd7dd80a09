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
pub enum Kind {
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
    /// The call makes no sense.
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
    kind: Kind,
    text: Cow<'static, str>,
    cause: Option<Cause>,
}

enum Cause {
    Rpc(RpcError),
    Io(io::Error),
}

impl Error {
    /// An error of this client's own.
    pub fn new(kind: Kind, text: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner { kind, text: text.into(), cause: None }))
    }

    /// An input or output error, with what was being done.
    pub(crate) fn io(doing: impl fmt::Display, source: io::Error) -> Self {
        let text = format!("{doing}: {source}");
        let inner = Inner { kind: Kind::Io, text: text.into(), cause: Some(Cause::Io(source)) };
        Self(Arc::new(inner))
    }

    pub(crate) fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Invalid, text)
    }

    pub(crate) fn plain(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Io, text)
    }

    /// Work that another thread or task was given did not end.
    pub(crate) fn of_thread(error: tokio::task::JoinError) -> Self {
        Self::plain(format!("the thread failed: {error}"))
    }

    /// What a caller may do about it.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The exception that a server sent, if it sent one.
    pub fn remote(&self) -> Option<&RemoteException> {
        match &self.0.cause {
            Some(Cause::Rpc(error)) => error.remote(),
            _ => None,
        }
    }

    /// The server's exception as a class of the table.
    pub fn remote_kind(&self) -> Option<JavaException> {
        self.remote().and_then(RemoteException::kind)
    }

    /// What the call ended with, where it was an RPC.
    pub fn rpc(&self) -> Option<&RpcError> {
        match &self.0.cause {
            Some(Cause::Rpc(error)) => Some(error),
            _ => None,
        }
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
            Some(Cause::Rpc(error)) => Some(error),
            Some(Cause::Io(error)) => Some(error),
            None => None,
        }
    }
}

impl From<RpcError> for Error {
    fn from(error: RpcError) -> Self {
        let (kind, text) = match &error {
            RpcError::Remote(exception) => (kind_of(exception), exception.first_line().to_owned()),
            RpcError::Connect { .. } => (Kind::Unavailable, error.to_string()),
            other => (Kind::Io, other.to_string()),
        };
        Self(Arc::new(Inner { kind, text: text.into(), cause: Some(Cause::Rpc(error)) }))
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
            Kind::NotFound => io::ErrorKind::NotFound,
            Kind::Denied => io::ErrorKind::PermissionDenied,
            Kind::Exists => io::ErrorKind::AlreadyExists,
            Kind::NotEmpty => io::ErrorKind::DirectoryNotEmpty,
            Kind::Corrupt => io::ErrorKind::InvalidData,
            Kind::Invalid | Kind::WrongType => io::ErrorKind::InvalidInput,
            Kind::Unsupported => io::ErrorKind::Unsupported,
            Kind::Quota => io::ErrorKind::QuotaExceeded,
            Kind::Unavailable | Kind::Fenced | Kind::Io => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

fn kind_of(exception: &RemoteException) -> Kind {
    use JavaException as J;
    match exception.kind() {
        Some(J::FileNotFound | J::XAttrNotFound) => Kind::NotFound,
        Some(J::AccessControl | J::Authorization | J::InvalidToken | J::SnapshotAccessControl) => {
            Kind::Denied
        }
        Some(J::FileAlreadyExists) => Kind::Exists,
        Some(J::PathIsNotEmptyDirectory) => Kind::NotEmpty,
        Some(J::ParentNotDirectory | J::PathIsNotDirectory) => Kind::WrongType,
        Some(J::AlreadyBeingCreated | J::RecoveryInProgress | J::LeaseExpired) => Kind::Fenced,
        Some(J::NSQuotaExceeded | J::DSQuotaExceeded | J::QuotaByStorageTypeExceeded) => {
            Kind::Quota
        }
        Some(J::SafeMode | J::Standby | J::Retriable | J::NotReplicatedYet) => Kind::Unavailable,
        Some(
            J::IllegalArgument
            | J::IllegalState
            | J::HadoopIllegalArgument
            | J::InvalidPath
            | J::AclException
            | J::MaxDirectoryItemsExceeded
            | J::PathComponentTooLong
            | J::SnapshotException,
        ) => Kind::Invalid,
        Some(
            J::UnsupportedOperation
            | J::UnknownCryptoProtocolVersion
            | J::RpcNoSuchMethod
            | J::RpcNoSuchProtocol,
        ) => Kind::Unsupported,
        _ => Kind::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_s_exception_keeps_class_and_first_line() {
        let remote = JavaException::FileNotFound.with("File does not exist: /x\n\tat java");
        let error = Error::from(RpcError::Remote(remote.clone()));
        assert_eq!(error.kind(), Kind::NotFound);
        assert_eq!(error.to_string(), "File does not exist: /x");
        assert_eq!(error.remote(), Some(&remote));
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    }
}
