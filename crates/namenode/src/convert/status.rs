//! File status and listings.

use super::block::{located_block, located_blocks};
use zerohop_namespace::{DirectoryListing, FileStatus, LocatedBlock};
use zerohop_proto::hdfs::{
    AppendResponseProto, DirectoryListingProto, FsPermissionProto, HdfsFileStatusProto,
    hdfs_file_status_proto as proto,
};

pub(crate) fn file_status(status: FileStatus, pool: &str) -> HdfsFileStatusProto {
    let kind = proto::FileType::from(status.kind);
    HdfsFileStatusProto {
        file_type: kind.into(),
        path: status.name.into_bytes().into(),
        length: status.len,
        permission: FsPermissionProto { perm: status.mode.into() },
        owner: status.owner.to_string(),
        group: status.group.to_string(),
        modification_time: status.mtime,
        access_time: status.atime,
        symlink: status.symlink.map(Into::into),
        block_replication: Some(status.replication.into()),
        blocksize: Some(status.block_size),
        locations: status.locations.map(|blocks| located_blocks(blocks, pool)),
        file_id: Some(status.id.0),
        children_num: Some(status.children as i32),
        file_encryption_info: None,
        storage_policy: Some(status.storage_policy.into()),
        ec_policy: None,
        flags: Some(if status.has_acl { proto::Flags::HasAcl as u32 } else { 0 }),
        namespace: None,
    }
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
