//! What is known of a path.

use crate::erasure::ErasureCodingPolicy;
use crate::file_types::FileKind;
use crate::ids::InodeId;
use std::sync::Arc;
use zerohop_proto::hdfs::hdfs_file_status_proto::{FileType, Flags};
use zerohop_proto::hdfs::{FsPermissionProto, HdfsFileStatusProto, LocatedBlocksProto};

/// What is known of a path (`HdfsFileStatus`). `L` is what holds the locations of a file's blocks: to a NameNode
/// they are places in its block map, to a client DataNodes with their addresses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FileStatus<L> {
    /// For clients the absolute path without scheme and host. A NameNode names the file in its directory, and leaves it
    /// empty where the request named the path.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// Bytes; 0 for a directory. Of a file being written, what the NameNode knows of.
    pub len: u64,
    /// Replicas each block should have; 0 for a directory.
    pub replication: u16,
    /// Size at which a block is full; 0 for a directory.
    pub block_size: u64,
    /// Milliseconds since 1970.
    pub modified_ms: u64,
    /// Milliseconds since 1970; 0 for a directory.
    pub accessed_ms: u64,
    /// The owner's name.
    pub owner: Arc<str>,
    /// The group's name.
    pub group: Arc<str>,
    /// The nine permission bits and the sticky bit (octal 1000).
    pub permission: u16,
    /// Where a symlink leads.
    pub symlink: Option<String>,
    /// The inode's id.
    pub file_id: InodeId,
    /// Entries of a directory, 0 of a file; `None` where the server does not say.
    pub children: Option<u32>,
    /// Id of the storage policy in force; 0 means none.
    pub storage_policy: u8,
    /// The erasure coding policy, where there is one.
    pub erasure_policy: Option<Box<ErasureCodingPolicy>>,
    /// It has an access control list.
    pub has_acl: bool,
    /// It is encrypted.
    pub is_encrypted: bool,
    /// Snapshots of it may be made.
    pub is_snapshot_enabled: bool,
    /// Where its blocks are, if that was asked.
    pub locations: Option<L>,
}

impl<L> FileStatus<L> {
    /// The status of an inode, with nothing else known yet.
    pub fn new(kind: FileKind, file_id: InodeId, owner: Arc<str>, group: Arc<str>) -> Self {
        Self {
            path: String::new(),
            kind,
            len: 0,
            replication: 0,
            block_size: 0,
            modified_ms: 0,
            accessed_ms: 0,
            owner,
            group,
            permission: 0,
            symlink: None,
            file_id,
            children: None,
            storage_policy: 0,
            erasure_policy: None,
            has_acl: false,
            is_encrypted: false,
            is_snapshot_enabled: false,
            locations: None,
        }
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == FileKind::Directory
    }

    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// The last name of the path; empty for the root.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Reads a message. `directory` is the path that was listed; the message holds the name in it, or nothing where
    /// the path itself was asked.
    pub fn from_proto(proto: HdfsFileStatusProto, directory: &str) -> Self
    where
        L: From<LocatedBlocksProto>,
    {
        let flags = proto.flags();
        let has = |flag: Flags| flags & flag as u32 != 0;
        Self {
            kind: proto.file_type().into(),
            replication: u16::try_from(proto.block_replication()).unwrap_or(u16::MAX),
            block_size: proto.blocksize(),
            file_id: InodeId(proto.file_id()),
            children: u32::try_from(proto.children_num()).ok(),
            storage_policy: proto.storage_policy() as u8,
            path: join(directory, &String::from_utf8_lossy(&proto.path)),
            len: proto.length,
            modified_ms: proto.modification_time,
            accessed_ms: proto.access_time,
            permission: proto.permission.perm as u16,
            symlink: proto
                .symlink
                .filter(|link| !link.is_empty())
                .map(|link| String::from_utf8_lossy(&link).into_owned()),
            owner: proto.owner.into(),
            group: proto.group.into(),
            erasure_policy: proto.ec_policy.map(|policy| Box::new(policy.into())),
            has_acl: has(Flags::HasAcl),
            is_encrypted: has(Flags::HasCrypt),
            is_snapshot_enabled: has(Flags::SnapshotEnabled),
            locations: proto.locations.map(L::from),
        }
    }

    /// The message, with the path as it is here; of erasure coding it says nothing.
    pub fn into_proto(
        self,
        locations: impl FnOnce(L) -> LocatedBlocksProto,
    ) -> HdfsFileStatusProto {
        let flags = [
            (self.has_acl, Flags::HasAcl),
            (self.is_encrypted, Flags::HasCrypt),
            (self.is_snapshot_enabled, Flags::SnapshotEnabled),
        ];
        let flags = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag as u32).sum();
        HdfsFileStatusProto {
            file_type: FileType::from(self.kind).into(),
            path: self.path.into_bytes().into(),
            length: self.len,
            permission: FsPermissionProto { perm: self.permission.into() },
            owner: self.owner.to_string(),
            group: self.group.to_string(),
            modification_time: self.modified_ms,
            access_time: self.accessed_ms,
            symlink: self.symlink.map(|link| link.into_bytes().into()),
            block_replication: Some(self.replication.into()),
            blocksize: Some(self.block_size),
            locations: self.locations.map(locations),
            file_id: Some(self.file_id.0),
            children_num: self.children.map(|count| count as i32),
            file_encryption_info: None,
            storage_policy: Some(self.storage_policy.into()),
            ec_policy: None,
            flags: Some(flags),
            namespace: None,
        }
    }
}

fn join(directory: &str, name: &str) -> String {
    if name.is_empty() {
        directory.to_owned()
    } else if directory.ends_with('/') {
        format!("{directory}{name}")
    } else {
        format!("{directory}/{name}")
    }
}
