//! What the file system's calls take and give.

mod acl;
pub(crate) mod cache;
mod java;
mod located;
mod options;
mod report;
mod snapshot;
mod status;
mod summary;
mod xattr;

pub use acl::AclStatus;
pub use cache::{CacheDirectiveStats, CachePoolStats};
pub(crate) use located::with_len;
pub use located::{DatanodeInfo, LocatedBlock, LocatedBlocks, Replica};
pub use options::{AppendOptions, CreateOptions, OpenOptions, RenameOptions, SyncOptions, Verify};
pub use report::{
    CorruptFiles, DatanodeReportType, DatanodeStorage, FsStats, OpenFile, RollingUpgrade,
    RollingUpgradeAction, SafeModeAction, ServerDefaults, StoragePolicy, Volume,
};
pub use snapshot::{
    Snapshot, SnapshotChange, SnapshotChangeKind, SnapshotDiff, SnapshotDiffCursor,
    SnapshotDiffEntry, SnapshotDiffPage, SnapshottableDirectory,
};
pub use status::FileStatus;
pub use summary::{ContentSummary, QuotaUsage, TypeUsage};
pub use xattr::XAttrFlags;
pub use zerohop_wire::{
    AclEntry, AclKind, AclScope, CacheDirective, CacheExpiry, CachePool, ErasureCodingPolicy,
    ErasureCodingPolicyState, FileKind, InodeId, StorageType, XAttr, XAttrNamespace,
};
