//! Java's exceptions for refusals, by which clients tell them apart. For the edge of the NameNode: code within it looks at
//! the kind.

use super::{
    ArgumentError, CacheError, ConcatError, DatanodeError, Error, LeaseHeld, LimitError,
    NotADirectory, PathError, PolicyError, QuotaError, XAttrError,
};
use zerohop_wire::{JavaException, RemoteException};

impl From<Error> for RemoteException {
    fn from(error: Error) -> Self {
        exception(&error).with(error.to_string())
    }
}

/// The exception that Apache's NameNode throws.
fn exception(error: &Error) -> JavaException {
    match error {
        Error::NotFound(_) => JavaException::FileNotFound,
        Error::AlreadyExists(_) => JavaException::FileAlreadyExists,
        Error::NotADirectory(why) => of_not_a_directory(why),
        Error::Path(why) => of_path(why),
        Error::Rename(_) => JavaException::Io,
        Error::Denied(_) => JavaException::AccessControl,
        Error::LeaseExpired(_) => JavaException::LeaseExpired,
        Error::LeaseHeld(why) => of_lease_held(why),
        Error::Quota(why) => of_quota(why),
        Error::Limit(why) => of_limit(why),
        Error::NotReplicatedYet(_) => JavaException::NotReplicatedYet,
        Error::Block(_) => JavaException::Io,
        Error::Datanode(why) => of_datanode(why),
        Error::Acl(_) => JavaException::AclException,
        Error::XAttr(why) => of_xattr(why),
        Error::Policy(why) => of_policy(why),
        Error::Cache(why) => of_cache(why),
        Error::Concat(why) => of_concat(why),
        Error::Argument(why) => of_argument(why),
        Error::Unsupported(_) => JavaException::UnsupportedOperation,
        Error::Inconsistent(_) => JavaException::IllegalState,
        Error::SafeMode(_) => JavaException::SafeMode,
        Error::TryAgain(_) => JavaException::Retriable,
    }
}

fn of_not_a_directory(why: &NotADirectory) -> JavaException {
    match why {
        NotADirectory::Path { .. } => JavaException::PathIsNotDirectory,
        NotADirectory::Ancestor { .. }
        | NotADirectory::Parent { .. }
        | NotADirectory::RenameParent { .. } => JavaException::ParentNotDirectory,
    }
}

fn of_path(why: &PathError) -> JavaException {
    match why {
        PathError::Invalid { .. }
        | PathError::InvalidFileName { .. }
        | PathError::RenameOfReserved => JavaException::InvalidPath,
        PathError::ReservedName { .. } | PathError::SnapshotName => {
            JavaException::HadoopIllegalArgument
        }
        PathError::ComponentTooLong { .. } => JavaException::PathComponentTooLong,
        PathError::NotEmpty { .. } => JavaException::PathIsNotEmptyDirectory,
        PathError::Symlink { .. } => JavaException::UnresolvedPath,
        PathError::StartAfter { .. } => JavaException::DirectoryListingStartAfterNotFound,
        PathError::NotAbsolute { .. } => JavaException::Assertion,
        PathError::TooLong { .. } | PathError::NotASymlink { .. } => JavaException::Io,
    }
}

fn of_lease_held(why: &LeaseHeld) -> JavaException {
    match why {
        LeaseHeld::Conflict { conflict, .. } if conflict.is_recovery() => {
            JavaException::RecoveryInProgress
        }
        LeaseHeld::Conflict { .. } | LeaseHeld::NotReplicated { .. } => {
            JavaException::AlreadyBeingCreated
        }
        LeaseHeld::Closed { .. } => JavaException::Io,
    }
}

fn of_quota(why: &QuotaError) -> JavaException {
    match why {
        QuotaError::Names { .. } => JavaException::NSQuotaExceeded,
        QuotaError::Space { .. } => JavaException::DSQuotaExceeded,
        QuotaError::SpaceOfType { .. } => JavaException::QuotaByStorageTypeExceeded,
        QuotaError::IllegalValue { .. } => JavaException::IllegalArgument,
        QuotaError::NotByType { .. } => JavaException::UnsupportedAction,
    }
}

fn of_limit(why: &LimitError) -> JavaException {
    match why {
        LimitError::DirectoryItems { .. } => JavaException::MaxDirectoryItemsExceeded,
        LimitError::BlockTooLarge { .. }
        | LimitError::ReplicationValue { .. }
        | LimitError::ListedPaths { .. } => JavaException::IllegalArgument,
        LimitError::XAttrSize { .. } => JavaException::HadoopIllegalArgument,
        LimitError::Objects { .. }
        | LimitError::BlocksPerFile { .. }
        | LimitError::BlockTooSmall { .. }
        | LimitError::Replication { .. }
        | LimitError::Text { .. }
        | LimitError::Concat { .. }
        | LimitError::XAttrs { .. } => JavaException::Io,
    }
}

fn of_datanode(why: &DatanodeError) -> JavaException {
    match why {
        DatanodeError::UuidOfAnother { .. } | DatanodeError::Unknown { .. } => {
            JavaException::UnregisteredNode
        }
        DatanodeError::DeadOrUnregistered { .. } | DatanodeError::ReportOutOfDate { .. } => {
            JavaException::Io
        }
    }
}

fn of_xattr(why: &XAttrError) -> JavaException {
    match why {
        XAttrError::NotFound => JavaException::XAttrNotFound,
        XAttrError::NoFlag => JavaException::HadoopIllegalArgument,
        XAttrError::Disabled
        | XAttrError::OnlyOnFiles { .. }
        | XAttrError::NothingToRemove
        | XAttrError::AlreadyExists { .. }
        | XAttrError::DoesNotExist { .. } => JavaException::Io,
    }
}

fn of_policy(why: &PolicyError) -> JavaException {
    match why {
        PolicyError::Disabled { .. } => JavaException::Io,
        PolicyError::Unknown { .. }
        | PolicyError::OnlyAtCreation { .. }
        | PolicyError::Fixed { .. } => JavaException::HadoopIllegalArgument,
    }
}

fn of_cache(why: &CacheError) -> JavaException {
    match why {
        CacheError::EmptyPoolName | CacheError::IdGiven | CacheError::NoIdsLeft => {
            JavaException::Io
        }
        _ => JavaException::InvalidRequest,
    }
}

fn of_argument(why: &ArgumentError) -> JavaException {
    match why {
        ArgumentError::NegativeBandwidth => JavaException::IllegalArgument,
        ArgumentError::ReplicateAndErasureCode
        | ArgumentError::ErasureCodingPolicy { .. }
        | ArgumentError::NegativeLen { .. }
        | ArgumentError::LargerLen { .. } => JavaException::HadoopIllegalArgument,
    }
}

fn of_concat(why: &ConcatError) -> JavaException {
    match why {
        ConcatError::NoTarget | ConcatError::NoSources => JavaException::IllegalArgument,
        ConcatError::ReservedPath { .. } => JavaException::Io,
        _ => JavaException::HadoopIllegalArgument,
    }
}
