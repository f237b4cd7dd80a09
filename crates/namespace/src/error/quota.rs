//! Quotas and limits that are exceeded.

use std::fmt;
use thiserror::Error;
use zerohop_wire::StorageType;

/// A directory's quota would be exceeded, or cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum QuotaError {
    #[error(
        "The NameSpace quota (directories and files) of directory {path} is exceeded: quota={quota} file count={count}"
    )]
    Names { path: String, quota: i64, count: i64 },
    /// Bytes, all replicas counted.
    #[error(
        "The DiskSpace quota of {path} is exceeded: quota = {quota} B = {} but diskspace consumed = {consumed} B = {}",
        Size(*quota),
        Size(*consumed)
    )]
    Space { path: String, quota: i64, consumed: i64 },
    #[error(
        "Quota by storage type : {} on path : {path} is exceeded. quota = {} but space consumed = {}",
        storage_type.as_str_name(),
        Size(*quota),
        Size(*consumed)
    )]
    SpaceOfType { storage_type: StorageType, path: String, quota: i64, consumed: i64 },
    #[error("Illegal value for nsQuota or ssQuota : {names} and {space}")]
    IllegalValue { names: i64, space: i64 },
    #[error(
        "Failed to set quota by storage type because eitherdfs.quota.by.storage.type.enabled is set to {enabled} or nsQuota \
         value is illegal {names}"
    )]
    NotByType { enabled: bool, names: i64 },
}

/// A number of bytes as `StringUtils.TraditionalBinaryPrefix.long2String(n, "B", 2)` shows it.
struct Size(i64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        if size < 1024 {
            return write!(f, "{sign}{size} B");
        }
        let power = (size.ilog2() / 10).min(6);
        let unit = ["", "K", "M", "G", "T", "P", "E"][power as usize];
        let whole = 1u64 << (10 * power);
        if size.is_multiple_of(whole) {
            return write!(f, "{sign}{} {unit}B", size / whole);
        }
        write!(f, "{sign}{:.2} {unit}B", size as f64 / whole as f64)
    }
}

/// A limit of the configuration, or of what an inode or edit can hold, would be exceeded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum LimitError {
    #[error("The directory item limit of {path} is exceeded: limit={limit} items={items}")]
    DirectoryItems { path: String, limit: usize, items: usize },
    #[error("Exceeded the configured number of objects {limit} in the filesystem.")]
    Objects { limit: u64 },
    #[error(
        "File has reached the limit on maximum number of blocks (dfs.namenode.fs-limits.max-blocks-per-file): {count} >= \
         {limit}"
    )]
    BlocksPerFile { count: usize, limit: usize },
    #[error(
        "Specified block size {size} is less than configured minimum value \
         dfs.namenode.fs-limits.min-block-size={minimum}"
    )]
    BlockTooSmall { size: u64, minimum: u64 },
    #[error("Illagal value: PREFERRED_BLOCK_SIZE = {size} > MAX = {maximum}")]
    BlockTooLarge { size: u64, maximum: u64 },
    #[error(
        "Requested replication factor of {replication}{bound} for {path}{}",
        ClientName(client_host.as_deref())
    )]
    Replication {
        replication: u16,
        bound: ReplicationBound,
        path: String,
        /// The client that creates the file; none if the file is there.
        client_host: Option<String>,
    },
    /// More than an inode can hold.
    #[error("Invalid replication value {replication}")]
    ReplicationValue { replication: u16 },
    /// The directories of one batched listing.
    #[error("Too many source paths ({count} > {limit})")]
    ListedPaths { count: usize, limit: usize },
    /// A string that no edit could carry.
    #[error("{what} is too long: {len} bytes")]
    Text { what: &'static str, len: usize },
    #[error(
        "Cannot concat {files} files in one call: their names make an edit of up to {edit_len} bytes, more than \
         dfs.namenode.max.op.size={edit_len_max}, or they are more than {files_max}. Use several calls"
    )]
    Concat { files: usize, edit_len: usize, edit_len_max: usize, files_max: usize },
    #[error("Cannot add additional XAttr to inode, would exceed limit of {limit}")]
    XAttrs { limit: usize },
    #[error(
        "The XAttr is too big. The maximum combined size of the name and value is {limit}, but the total size is {size}"
    )]
    XAttrSize { limit: usize, size: usize },
}

/// The bound that a replication factor breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReplicationBound {
    Maximum(u16),
    Minimum(u16),
}

impl fmt::Display for ReplicationBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Maximum(maximum) => write!(f, " exceeds maximum of {maximum}"),
            Self::Minimum(minimum) => write!(f, " is less than the required minimum of {minimum}"),
        }
    }
}

struct ClientName<'a>(Option<&'a str>);

impl fmt::Display for ClientName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |name| write!(f, ", clientName={name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_hadoop_shows_them() {
        let shown = [0, 1023, 1024, 1536, 128 << 20, -2048].map(|size| Size(size).to_string());
        assert_eq!(shown, ["0 B", "1023 B", "1 KB", "1.50 KB", "128 MB", "-2 KB"]);
    }
}
