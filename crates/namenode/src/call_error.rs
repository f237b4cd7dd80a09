//! Why a call is refused or fails: kinds with fields. Java's exceptions are made of them where answers leave this NameNode.

use crate::ha::{NotAllowed, NotEnabled};
use crate::storage::JournalFailed;
use std::fmt::Display;
use std::path::PathBuf;
use thiserror::Error;
use zerohop_namespace::Error as NamespaceError;
use zerohop_wire::{JavaException, RemoteException};

/// Why a call is refused or fails.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    /// The namespace refuses the operation.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// Another NameNode must be asked.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error(transparent)]
    HaNotEnabled(#[from] NotEnabled),
    /// An observer knows of a block by its edit, and of no replica of it yet.
    #[error("Zero blocklocations for {path}")]
    NoLocationsYet { path: String },
    /// The caller does not know of observers. The words are Hadoop's.
    #[error(
        "Observer Node received request without stateId. This mostly likely is because client is not configured with \
         ObserverReadProxyProvider"
    )]
    NoStateId,
    /// An observer lacks edits that the caller has seen.
    #[error("Observer Node is too far behind: serverStateId = {ours} clientStateId = {seen}")]
    TooFarBehind { ours: i64, seen: i64 },
    /// From one state to another.
    #[error("{0}")]
    Transition(String),
    /// The words are Hadoop's.
    #[error("Safe mode should be turned ON in order to create namespace image.")]
    NeedsSafeMode,
    #[error(
        "Safe mode was turned off while the image to roll back to was saved: turn it on and prepare the rolling upgrade again"
    )]
    SafeModeLeft,
    #[error("a call with this client id and call id was another method's")]
    CallIdOfAnotherMethod,
    #[error("{name:?} is not the name of a file")]
    NotAFileName { name: String },
    #[error(
        "the NameNode has no log directory: set HADOOP_LOG_DIR in its environment and start it again"
    )]
    NoLogDirectory,
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    /// Nobody knows whether the edits of the call are in the log.
    #[error(transparent)]
    NotLogged(#[from] JournalFailed),
    /// The directories of images or a thread failed.
    #[error("{0}")]
    Failed(String),
    /// The code that decodes the request refuses it.
    #[error("{}", .0.message)]
    Request(RemoteException),
}

impl CallError {
    /// What a call needs has failed.
    pub(crate) fn failed(reason: impl Display) -> Self {
        Self::Failed(reason.to_string())
    }

    /// Returns true if the caller lacks a permission.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Namespace(NamespaceError::Denied(_)))
    }
}

impl From<CallError> for RemoteException {
    fn from(error: CallError) -> Self {
        let exception = match error {
            CallError::Namespace(error) => return error.into(),
            CallError::Request(exception) => return exception,
            CallError::NotAllowed(refused) if refused.is_for_active() => {
                JavaException::ObserverRetryOnActive
            }
            CallError::NotAllowed(_) | CallError::NoStateId => JavaException::Standby,
            CallError::TooFarBehind { .. } => JavaException::Retriable,
            CallError::NoLocationsYet { .. } => JavaException::ObserverRetryOnActive,
            // The one that took this one's place knows whether the call was carried out, and answers it.
            CallError::NotLogged(ref failed) if failed.is_shared() => JavaException::Standby,
            CallError::HaNotEnabled(_) | CallError::Transition(_) => JavaException::ServiceFailed,
            CallError::NotLogged(_)
            | CallError::NeedsSafeMode
            | CallError::SafeModeLeft
            | CallError::CallIdOfAnotherMethod
            | CallError::NotAFileName { .. }
            | CallError::NoLogDirectory
            | CallError::Write { .. }
            | CallError::Failed(_) => JavaException::Io,
        };
        exception.with(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ha::{HaState, OperationCategory};
    use zerohop_namespace::error::{Denied, NotFound};

    #[test]
    fn calls_are_refused_with_hadoops_classes_and_words() {
        let (category, state) = (OperationCategory::Read, HaState::Standby);
        let path = "/f".to_owned();
        let write = std::io::Error::other("disk full");
        let text = "extended attribute";
        let write_at_observer =
            NotAllowed { category: OperationCategory::Write, state: HaState::Observer };
        let cases: [(CallError, JavaException, &str); 12] = [
            (
                NamespaceError::from(NotFound::File { path }).into(),
                JavaException::FileNotFound,
                "File does not exist: /f",
            ),
            (
                NotAllowed { category, state }.into(),
                JavaException::Standby,
                "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error",
            ),
            (
                write_at_observer.into(),
                JavaException::ObserverRetryOnActive,
                "Operation category WRITE is not supported in state observer. Visit https://s.apache.org/sbnn-error",
            ),
            (
                CallError::NoLocationsYet { path: "/f".to_owned() },
                JavaException::ObserverRetryOnActive,
                "Zero blocklocations for /f",
            ),
            (NotEnabled.into(), JavaException::ServiceFailed, "HA for namenode is not enabled"),
            (CallError::Transition("x".to_owned()), JavaException::ServiceFailed, "x"),
            (
                CallError::NeedsSafeMode,
                JavaException::Io,
                "Safe mode should be turned ON in order to create namespace image.",
            ),
            (
                CallError::CallIdOfAnotherMethod,
                JavaException::Io,
                "a call with this client id and call id was another method's",
            ),
            (
                CallError::NotAFileName { name: "../x".to_owned() },
                JavaException::Io,
                "\"../x\" is not the name of a file",
            ),
            (
                CallError::Write { path: "/l/m".into(), source: write },
                JavaException::Io,
                "cannot write /l/m: disk full",
            ),
            (CallError::failed("no journal is left"), JavaException::Io, "no journal is left"),
            (
                CallError::Request(JavaException::HadoopIllegalArgument.with(text)),
                JavaException::HadoopIllegalArgument,
                text,
            ),
        ];
        for (error, exception, text) in cases {
            assert_eq!(error.to_string(), text);
            assert_eq!(RemoteException::from(error), exception.with(text));
        }
    }

    #[test]
    fn only_a_missing_permission_is_a_denial() {
        let denied = NamespaceError::from(Denied::NotSuperuser { user: "bob".into() });
        assert!(CallError::from(denied).is_denied());
        assert!(!CallError::NeedsSafeMode.is_denied());
    }
}
