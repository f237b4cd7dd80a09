//! File status and listings.

use super::block::{located_block, located_blocks};
use zerohop_namespace::{DirectoryListing, FileStatus, LocatedBlock};
use zerohop_proto::hdfs::{
    AppendResponseProto, DirectoryListingProto, FsPermissionProto, HdfsFileStatusProto,
};

pub(crate) fn file_status(status: FileStatus, pool: &str) -> HdfsFileStatusProto {
    status.into_proto(|blocks| located_blocks(blocks, pool))
}

pub(crate) fn directory_listing(listing: DirectoryListing, pool: &str) -> DirectoryListingProto {
    DirectoryListingProto {
        partial_listing: listing
            .entries
            .into_iter()
            .map(|entry| file_status(entry, pool))
            .collect(),
        remaining_entries: listing.remaining,
    }
}

/// The answer to an append: the last block, if it goes on, and the file.
pub(crate) fn appended(
    (block, status): (Option<LocatedBlock>, FileStatus),
    pool: &str,
) -> AppendResponseProto {
    AppendResponseProto {
        block: block.map(|block| located_block(block, pool)),
        stat: Some(file_status(status, pool)),
    }
}

/// The bits that Hadoop's `FsPermission` keeps: others are never shown, and an image would keep them for ever.
pub(crate) fn mode(permission: &FsPermissionProto) -> u16 {
    (permission.perm & 0o1777) as u16
}
