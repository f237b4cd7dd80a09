//! Why an operation is refused: kinds with fields.
//!
//! Code in here tells one refusal from another by its kind. The text that people read is made from the fields when it is
//! shown. Java's exception class is added where a refusal leaves the NameNode (`java`).

mod access;
mod attribute;
mod block;
mod cache;
mod edit;
mod java;
#[cfg(test)]
mod java_test;
mod lease;
mod path;
mod quota;

pub use access::{Denied, InodeAccess};
pub use attribute::{AclError, AclProblem, PolicyError, XAttrError};
pub use block::{BlockError, DatanodeError, NotReplicatedYet};
pub use cache::CacheError;
pub(crate) use edit::ADVICE;
pub use edit::{ArgumentError, ConcatError, Inconsistent, SafeMode, TryAgain, Unsupported};
pub use lease::{LeaseConflict, LeaseExpired, LeaseHeld, LeaseOperation, LeasedFile};
pub use path::{AlreadyExists, NotADirectory, NotFound, PathError, RenameError};
pub use quota::{LimitError, QuotaError, ReplicationBound};

/// What operations answer.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses an operation.
pub(crate) fn refuse<T>(why: impl Into<Error>) -> Result<T> {
    Err(why.into())
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($fields:ty)),* $(,)?) => {
        /// Why an operation is refused. The fields are boxed: errors are rare, and results are passed by every function.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error {
            $(
                $(#[$doc])*
                #[error(transparent)]
                $kind(Box<$fields>),
            )*
        }

        $(
            impl From<$fields> for Error {
                fn from(fields: $fields) -> Self {
                    Self::$kind(Box::new(fields))
                }
            }
        )*
    };
}

kinds! {
    /// Nothing is at a path.
    NotFound(NotFound),
    /// Something is at a path already.
    AlreadyExists(AlreadyExists),
    /// A file is where a directory is needed.
    NotADirectory(NotADirectory),
    /// A path is refused.
    Path(PathError),
    /// A rename is refused.
    Rename(RenameError),
    /// The caller lacks a permission.
    Denied(Denied),
    /// The caller does not hold the lease.
    LeaseExpired(LeaseExpired),
    /// Another client holds the lease.
    LeaseHeld(LeaseHeld),
    /// A quota is exceeded.
    Quota(QuotaError),
    /// Another limit is exceeded.
    Limit(LimitError),
    /// The block before the last one of a file lacks replicas.
    NotReplicatedYet(NotReplicatedYet),
    /// A block is not as the caller supposes.
    Block(BlockError),
    /// A DataNode is not known.
    Datanode(DatanodeError),
    /// An ACL is refused.
    Acl(AclError),
    /// An extended attribute is refused.
    XAttr(XAttrError),
    /// A storage policy is refused.
    Policy(PolicyError),
    /// A cache pool or directive is refused.
    Cache(CacheError),
    /// Files cannot be joined.
    Concat(ConcatError),
    /// A request makes no sense.
    Argument(ArgumentError),
    /// This NameNode does not support what is asked.
    Unsupported(Unsupported),
    /// An edit does not fit the state.
    Inconsistent(Inconsistent),
    /// The NameNode is in safe mode.
    SafeMode(SafeMode),
    /// The same call succeeds later.
    TryAgain(TryAgain),
}
