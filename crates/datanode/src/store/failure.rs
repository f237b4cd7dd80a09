//! Why something cannot be done with a replica, and the exception Apache throws for it.

use super::volume::DataVolume;
use std::fmt;
use std::sync::Arc;
use zerohop_wire::{Block, JavaException, RemoteException};

const POSSIBLE_CAUSE: &str = ". The block may have been removed recently by the balancer or by \
    intentionally reducing the replication factor. This condition is usually harmless. To be \
    certain, please check the preceding datanode log messages for signs of a more serious issue.";

/// Why something cannot be done with a replica.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request does not fit what is there; an exception as Apache throws it.
    Refused(RemoteException),
    /// The files cannot be used.
    Files(Box<zerohop_replica::Error>),
    /// The data file of a finalized replica is missing: the replica was given up.
    Lost(Box<zerohop_replica::Error>, Box<(Block, Arc<DataVolume>)>),
    /// The data file is there, its checksums are missing or do not fit it.
    Unsummed(Box<zerohop_replica::Error>, Arc<DataVolume>),
}

impl Failure {
    /// An `IOException`.
    pub(crate) fn io(message: impl Into<String>) -> Self {
        Self::Refused(JavaException::Io.with(message))
    }

    /// A `ReplicaNotFoundException`.
    pub(crate) fn not_found(message: impl fmt::Display) -> Self {
        Self::Refused(JavaException::ReplicaNotFound.with(format!("{message}{POSSIBLE_CAUSE}")))
    }

    /// A `ReplicaAlreadyExistsException`.
    pub(crate) fn exists(message: impl Into<String>) -> Self {
        Self::Refused(JavaException::ReplicaAlreadyExists.with(message))
    }

    /// The exception for a remote caller.
    pub(crate) fn to_exception(&self) -> RemoteException {
        match self {
            Self::Refused(exception) => exception.clone(),
            Self::Files(error) | Self::Lost(error, _) | Self::Unsummed(error, _) => {
                JavaException::Io.with(error.to_string())
            }
        }
    }
}

impl fmt::Display for Failure {
    /// As Java prints an exception: class and message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exception = self.to_exception();
        write!(f, "{}: {}", exception.class, exception.message)
    }
}

impl From<zerohop_replica::Error> for Failure {
    fn from(error: zerohop_replica::Error) -> Self {
        Self::Files(Box::new(error))
    }
}

impl From<RemoteException> for Failure {
    fn from(exception: RemoteException) -> Self {
        Self::Refused(exception)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::io(error.to_string())
    }
}
