//! Errors of HDFS as those that users of the trait tell apart.

use object_store::Error;
use object_store::path::Path;
use zerohop_client::ErrorKind;

/// Returns true if a server refused the call. After any other error the call may still be carried out, so the state of the
/// file system at a later moment does not show its outcome.
pub(crate) fn is_refusal(error: &zerohop_client::Error) -> bool {
    error.java_class().is_some()
}

/// The store's name in errors.
pub(crate) const STORE: &str = "HDFS";

/// The error of a call that looks an object up or reads it: what cannot be there is not found.
pub(crate) fn reading(location: &Path, error: zerohop_client::Error) -> Error {
    match error.kind() {
        ErrorKind::WrongType | ErrorKind::Invalid => not_found(location, error),
        _ => writing(location, error),
    }
}

/// The error of a call that changes an object.
pub(crate) fn writing(location: &Path, error: zerohop_client::Error) -> Error {
    let path = location.to_string();
    match error.kind() {
        ErrorKind::NotFound => not_found(location, error),
        ErrorKind::Exists => Error::AlreadyExists { path, source: error.into() },
        ErrorKind::Denied => Error::PermissionDenied { path, source: error.into() },
        ErrorKind::Unsupported => Error::NotSupported { source: error.into() },
        _ => generic(error),
    }
}

pub(crate) fn not_found(location: &Path, source: impl Into<Source>) -> Error {
    Error::NotFound { path: location.to_string(), source: source.into() }
}

pub(crate) fn precondition(location: &Path, source: impl Into<Source>) -> Error {
    Error::Precondition { path: location.to_string(), source: source.into() }
}

pub(crate) fn not_supported(source: impl Into<Source>) -> Error {
    Error::NotSupported { source: source.into() }
}

pub(crate) fn generic(source: impl Into<Source>) -> Error {
    Error::Generic { store: STORE, source: source.into() }
}

/// What an error is made of.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;
