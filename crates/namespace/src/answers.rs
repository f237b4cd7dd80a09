//! What operations answer: plain data that the NameNode turns into messages.

pub use crate::blocks::{BlockLocations, StorageType};
use std::sync::Arc;
pub use zerohop_journal::types::{AclEntry, AclKind, AclScope, XAttr, XAttrNamespace};
pub use zerohop_wire::FileKind;
use zerohop_wire::{Block, BlockId, CacheDirective, CachePool, InodeId};

/// One file or directory as clients see it; its path is empty where the request named it, and its name in a listing.
pub type FileStatus = zerohop_wire::FileStatus<LocatedBlocks>;

/// One block of a file with its place in the file.
#[derive(Clone, Debug)]
pub struct LocatedBlock {
    /// Offset in the file of its first byte.
    pub offset: u64,
    /// The block, its replicas and whether all of them are corrupt.
    pub locations: BlockLocations,
}

impl LocatedBlock {
    /// The block itself.
    pub fn block(&self) -> Block {
        self.locations.block
    }
}

/// A file's blocks in a range (`LocatedBlocksProto`).
#[derive(Clone, Debug, Default)]
pub struct LocatedBlocks {
    /// Length of all complete blocks (and committed ones).
    pub file_len: u64,
    /// A client writes it.
    pub under_construction: bool,
    /// Blocks in the range asked.
    pub blocks: Vec<LocatedBlock>,
    /// The file's last block, if any.
    pub last: Option<LocatedBlock>,
    /// The last block is complete.
    pub last_complete: bool,
}

/// A page of a directory.
#[derive(Clone, Debug, Default)]
pub struct DirectoryListing {
    /// Entries in name order.
    pub entries: Vec<FileStatus>,
    /// How many come after the last one.
    pub remaining: u32,
}

/// Quota and use of one storage type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeQuota {
    /// The type.
    pub kind: StorageType,
    /// Bytes allowed, -1 for no limit.
    pub quota: i64,
    /// Bytes used.
    pub consumed: i64,
}

/// Sums over a subtree (`ContentSummaryProto`, `QuotaUsageProto`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ContentSummary {
    pub length: u64,
    pub files: u64,
    pub directories: u64,
    /// Names allowed, -1 for no limit.
    pub quota: i64,
    /// Bytes with replication.
    pub space_consumed: u64,
    /// Bytes with replication allowed, -1 for no limit.
    pub space_quota: i64,
    pub types: Vec<TypeQuota>,
    pub erasure_coding_policy: String,
}

/// Quota and use of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct QuotaUsage {
    pub names: i64,
    pub quota: i64,
    pub space_consumed: i64,
    pub space_quota: i64,
    pub types: Vec<TypeQuota>,
}

/// A file being written, for `dfsadmin -listOpenFiles`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct OpenFile {
    pub id: InodeId,
    pub path: String,
    pub client_name: String,
    pub client_machine: String,
}

/// ACL of a path (`AclStatusProto`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AclStatus {
    pub owner: Arc<str>,
    pub group: Arc<str>,
    pub sticky: bool,
    pub mode: u16,
    pub entries: Vec<AclEntry>,
}

/// What the files of a cache directive or pool need, and what of that is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CacheStats {
    pub bytes_needed: i64,
    pub bytes_cached: i64,
    pub files_needed: i64,
    pub files_cached: i64,
}

/// A cache pool in a list; of one that the caller may not read the name only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CachePoolEntry {
    pub info: CachePool,
    pub stats: CacheStats,
    pub bytes_over_limit: i64,
}

/// A cache directive in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CacheDirectiveEntry {
    pub info: CacheDirective,
    pub stats: CacheStats,
    pub has_expired: bool,
}

/// A file with a block that has no good replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptFile {
    /// The block.
    pub block: BlockId,
    /// How many replicas it should have.
    pub replication: u16,
    /// The file.
    pub path: String,
}

/// A line of `fsck -list-corruptfileblocks` (`CorruptFileBlockInfo`).
impl std::fmt::Display for CorruptFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "blk_{}\t{}\t{}", self.block, self.replication, self.path)
    }
}

/// Counts of the namespace for metrics and pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct NamespaceStats {
    pub inodes: u64,
    pub files: u64,
    pub directories: u64,
    pub open_files: u64,
    /// Clients with files open.
    pub lease_holders: u64,
    pub blocks: u64,
}
