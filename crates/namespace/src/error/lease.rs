//! Files that another client writes, or that the caller writes no more.

use std::fmt;
use thiserror::Error;
use zerohop_wire::{Block, InodeId};

/// The caller does not hold the lease that its operation needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum LeaseExpired {
    #[error("INode is not a regular file: {file}")]
    NotAFile { file: LeasedFile },
    #[error("File is not open for writing: {file}")]
    NotOpen { file: LeasedFile },
    #[error("Client (={holder}) is not the lease owner (={owner}: {file}")]
    OtherOwner { holder: String, owner: String, file: LeasedFile },
    #[error("Lease mismatch: {block} is accessed by a non lease holder {client}")]
    OtherOwnerOfBlock { block: Block, client: String },
    /// A repeated append of a file that has another writer by now, or none.
    #[error("{path} was opened for append by {client}, who has it no more")]
    Appended { path: String, client: String },
}

/// The file that a lease is asked for, and what its client has open.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LeasedFile {
    pub path: String,
    pub id: InodeId,
    /// None if no client is named.
    pub holder: Option<String>,
    /// How many files the holder has open; none if it has no lease.
    pub open_files: Option<usize>,
}

impl fmt::Display for LeasedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (inode {}) ", self.path, self.id)?;
        let holder = self.holder.as_deref().unwrap_or("null");
        match self.open_files {
            None => write!(f, "Holder {holder} does not have any open files."),
            Some(count) => write!(f, "[Lease.  Holder: {holder}, pending creates: {count}]"),
        }
    }
}

/// A file cannot be taken from its writer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum LeaseHeld {
    #[error("Failed to {operation} {path} for {client} on {client_host} because {conflict}")]
    Conflict {
        operation: LeaseOperation,
        path: String,
        client: String,
        client_host: String,
        conflict: LeaseConflict,
    },
    #[error(
        "DIR* NameSystem.internalReleaseLease: Failed to release lease for file {path}. Committed blocks are waiting to be \
         minimally replicated."
    )]
    NotReplicated { path: String },
    #[error(
        "DIR* NameSystem.internalReleaseLease: attempt to release a create lock on {path} but file is already closed."
    )]
    Closed { path: String },
}

impl LeaseHeld {
    /// The refusal of an operation on a path; `client` is the client's name and its address.
    pub(crate) fn new(
        operation: LeaseOperation,
        path: &str,
        (client, client_host): (&str, &str),
        conflict: LeaseConflict,
    ) -> Self {
        Self::Conflict {
            operation,
            path: path.to_owned(),
            client: client.to_owned(),
            client_host: client_host.to_owned(),
            conflict,
        }
    }
}

/// The operation that wants a file that a client has open (`FSNamesystem.RecoverLeaseOp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LeaseOperation {
    Create,
    Append,
    Truncate,
    RecoverLease,
}

impl fmt::Display for LeaseOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "CREATE_FILE",
            Self::Append => "APPEND_FILE",
            Self::Truncate => "TRUNCATE_FILE",
            Self::RecoverLease => "RECOVER_LEASE",
        })
    }
}

/// Why a file cannot be taken from its writer now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum LeaseConflict {
    /// The client that asks has the file open itself.
    #[error("{client} is already the current lease holder.")]
    AlreadyHolder { client: String },
    #[error("the file is under construction but no leases found.")]
    NoLease,
    #[error("this file lease is currently owned by {holder} on {holder_host}")]
    Owned { holder: String, holder_host: String },
    #[error("{path} is being truncated.")]
    Truncated { path: String },
    /// The recovery that the call has begun.
    #[error("lease recovery is in progress. Try again later.")]
    RecoveryBegun,
    #[error("another recovery is in progress by {holder} on {holder_host}")]
    Recovered { holder: String, holder_host: String },
}

impl LeaseConflict {
    /// Returns true if the file is free as soon as a recovery under way has ended.
    pub fn is_recovery(&self) -> bool {
        matches!(self, Self::RecoveryBegun | Self::Recovered { .. })
    }
}
