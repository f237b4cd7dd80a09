//! Quotas and limits.

use super::{check, path};
use crate::error::{Error, LimitError, QuotaError, ReplicationBound};
use zerohop_wire::JavaException;
use zerohop_wire::StorageType;

#[test]
fn quotas_that_are_exceeded() {
    use JavaException as Java;
    check(
        Java::NSQuotaExceeded,
        [(
            QuotaError::Names { path: path(), quota: 1, count: 2 }.into(),
            "The NameSpace quota (directories and files) of directory /d/f is exceeded: quota=1 file count=2",
        )],
    );
    check(
        Java::DSQuotaExceeded,
        [(
            QuotaError::Space { path: path(), quota: 1024, consumed: 1536 }.into(),
            "The DiskSpace quota of /d/f is exceeded: quota = 1024 B = 1 KB but diskspace consumed = 1536 B = 1.50 KB",
        )],
    );
    let storage_type = StorageType::Ssd;
    check(
        Java::QuotaByStorageTypeExceeded,
        [(
            QuotaError::SpaceOfType { storage_type, path: path(), quota: 1, consumed: 2 }.into(),
            "Quota by storage type : SSD on path : /d/f is exceeded. quota = 1 B but space consumed = 2 B",
        )],
    );
    let illegal = QuotaError::IllegalValue { names: -2, space: 3 };
    check(
        Java::IllegalArgument,
        [(illegal.into(), "Illegal value for nsQuota or ssQuota : -2 and 3")],
    );
    check(
        Java::UnsupportedAction,
        [(
            QuotaError::NotByType { enabled: false, names: 3 }.into(),
            "Failed to set quota by storage type because eitherdfs.quota.by.storage.type.enabled is set to false or nsQuota \
             value is illegal 3",
        )],
    );
}

#[test]
fn limits_that_are_exceeded() {
    use JavaException as Java;
    let replication = |bound, client_host: Option<&str>| {
        let client_host = client_host.map(str::to_owned);
        Error::from(LimitError::Replication { replication: 9, bound, path: path(), client_host })
    };
    check(
        Java::Io,
        [
            (
                LimitError::Objects { limit: 5 }.into(),
                "Exceeded the configured number of objects 5 in the filesystem.",
            ),
            (
                LimitError::BlocksPerFile { count: 2, limit: 1 }.into(),
                "File has reached the limit on maximum number of blocks (dfs.namenode.fs-limits.max-blocks-per-file): 2 >= \
                 1",
            ),
            (
                LimitError::BlockTooSmall { size: 1, minimum: 2 }.into(),
                "Specified block size 1 is less than configured minimum value dfs.namenode.fs-limits.min-block-size=2",
            ),
            (
                replication(ReplicationBound::Maximum(8), Some("10.0.0.1")),
                "Requested replication factor of 9 exceeds maximum of 8 for /d/f, clientName=10.0.0.1",
            ),
            (
                replication(ReplicationBound::Minimum(10), None),
                "Requested replication factor of 9 is less than the required minimum of 10 for /d/f",
            ),
            (
                LimitError::Text { what: "The name", len: 70000 }.into(),
                "The name is too long: 70000 bytes",
            ),
            (
                LimitError::Concat { files: 3, edit_len: 9, edit_len_max: 8, files_max: 7 }.into(),
                "Cannot concat 3 files in one call: their names make an edit of up to 9 bytes, more than \
                 dfs.namenode.max.op.size=8, or they are more than 7. Use several calls",
            ),
            (
                LimitError::XAttrs { limit: 32 }.into(),
                "Cannot add additional XAttr to inode, would exceed limit of 32",
            ),
        ],
    );
    check(
        Java::MaxDirectoryItemsExceeded,
        [(
            LimitError::DirectoryItems { path: path(), limit: 1, items: 2 }.into(),
            "The directory item limit of /d/f is exceeded: limit=1 items=2",
        )],
    );
    check(
        Java::IllegalArgument,
        [
            (
                LimitError::BlockTooLarge { size: 2, maximum: 1 }.into(),
                "Illagal value: PREFERRED_BLOCK_SIZE = 2 > MAX = 1",
            ),
            (
                LimitError::ReplicationValue { replication: 2048 }.into(),
                "Invalid replication value 2048",
            ),
            (
                LimitError::ListedPaths { count: 2, limit: 1 }.into(),
                "Too many source paths (2 > 1)",
            ),
        ],
    );
    check(
        Java::HadoopIllegalArgument,
        [(
            LimitError::XAttrSize { limit: 1, size: 2 }.into(),
            "The XAttr is too big. The maximum combined size of the name and value is 1, but the total size is 2",
        )],
    );
}
