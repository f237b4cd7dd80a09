//! What the file system's calls take and give.

/// Methods that set the fields of what a call is given, one a field.
macro_rules! setters {
    ($options:ident { $($field:ident: $value:ty),* $(,)? }) => {
        impl $options {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$value>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

mod acl;
pub(crate) mod cache;
mod erasure;
mod located;
mod options;
mod report;
mod status;
mod summary;
mod xattr;

pub use acl::{AclEntry, AclKind, AclStatus};
pub use cache::{CacheDirective, CacheDirectiveStats, CacheExpiry, CachePool, CachePoolStats};
pub(crate) use located::with_len;
pub use located::{DatanodeInfo, LocatedBlock, LocatedBlocks, Replica, StorageType};
pub use options::{AppendOptions, CreateOptions, OpenOptions, RenameOptions, SyncOptions, Verify};
pub use report::{
    CorruptFiles, DatanodeReportType, DatanodeStorage, FsStats, OpenFile, RollingUpgrade,
    RollingUpgradeAction, SafeModeAction, ServerDefaults, StoragePolicy, Volume,
};
pub use status::{FileKind, FileStatus};
pub use summary::{ContentSummary, QuotaUsage, TypeUsage};
pub use xattr::{XAttr, XAttrFlags, XAttrNamespace};
