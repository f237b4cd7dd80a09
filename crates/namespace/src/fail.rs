//! Short ways to the exceptions clients get.

use std::borrow::Cow;
use zerohop_wire::{JavaException, RemoteException};

/// What operations answer: the error is the Java exception the client gets.
pub type Result<T> = std::result::Result<T, RemoteException>;

pub(crate) fn fail<T>(kind: JavaException, message: impl Into<String>) -> Result<T> {
    Err(kind.with(message))
}

pub(crate) fn io<T>(message: impl Into<String>) -> Result<T> {
    fail(JavaException::Io, message)
}

pub(crate) fn not_found<T>(message: impl Into<String>) -> Result<T> {
    fail(JavaException::FileNotFound, message)
}

pub(crate) fn denied<T>(message: impl Into<String>) -> Result<T> {
    fail(JavaException::AccessControl, message)
}

pub(crate) fn illegal<T>(message: impl Into<String>) -> Result<T> {
    fail(JavaException::HadoopIllegalArgument, message)
}

/// `InvalidPathException` puts its own words before what it is given.
pub(crate) fn invalid_path<T>(path: &str) -> Result<T> {
    fail(JavaException::InvalidPath, format!("Invalid path name {path}"))
}

pub(crate) fn unsupported<T>(message: impl Into<String>) -> Result<T> {
    fail(JavaException::UnsupportedOperation, message)
}

/// What Java's assertion of an absolute path becomes on the wire.
pub(crate) fn not_absolute(path: &str) -> RemoteException {
    RemoteException {
        class: Cow::Borrowed("java.lang.AssertionError"),
        message: format!("Absolute path required, but got '{path}'"),
    }
}

/// What only a damaged edit log can cause.
pub(crate) fn inconsistent(message: impl Into<String>) -> RemoteException {
    JavaException::IllegalState.with(message.into())
}
