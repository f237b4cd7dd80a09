//! What is known of a path.

use super::erasure::policy_name;
use super::located::LocatedBlocks;
use zerohop_proto::hdfs::HdfsFileStatusProto;
use zerohop_proto::hdfs::hdfs_file_status_proto::Flags;
pub use zerohop_wire::FileKind;

/// What is known of a path (`HdfsFileStatus`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FileStatus {
    /// Absolute, without scheme and host.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// Bytes; 0 for a directory. Of a file being written, what the NameNode knows of.
    pub len: u64,
    /// Replicas each block should have; 0 for a directory.
    pub replication: u32,
    /// Size at which a block is full; 0 for a directory.
    pub block_size: u64,
    /// Milliseconds since 1970.
    pub modified_ms: u64,
    /// Milliseconds since 1970; 0 for a directory.
    pub accessed_ms: u64,
    /// The owner's name.
    pub owner: String,
    /// The group's name.
    pub group: String,
    /// The nine permission bits and the sticky bit (octal 1000).
    pub permission: u16,
    /// Where a symlink leads.
    pub symlink: Option<String>,
    /// The inode's id.
    pub file_id: u64,
    /// Entries of a directory; `None` where the server does not say.
    pub children: Option<u32>,
    /// Id of the storage policy set here; 0 means none.
    pub storage_policy: u8,
    /// Name of the erasure coding policy, where there is one.
    pub erasure_policy: Option<String>,
    /// It has an access control list.
    pub has_acl: bool,
    /// It is encrypted.
    pub is_encrypted: bool,
    /// Snapshots of it may be made.
    pub is_snapshot_enabled: bool,
    /// Where its blocks are, if that was asked.
    pub locations: Option<LocatedBlocks>,
}

impl FileStatus {
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

    /// `directory` is the path that was listed; the message holds the name in it, or nothing where
    /// the path itself was asked.
    pub(crate) fn from_proto(proto: HdfsFileStatusProto, directory: &str) -> Self {
        let flags = proto.flags();
        let has = |flag: Flags| flags & flag as u32 != 0;
        let erasure_policy = proto.ec_policy.as_ref().map(policy_name);
        Self {
            kind: proto.file_type().into(),
            replication: proto.block_replication(),
            block_size: proto.blocksize(),
            file_id: proto.file_id(),
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
            owner: proto.owner,
            group: proto.group,
            erasure_policy,
            has_acl: has(Flags::HasAcl),
            is_encrypted: has(Flags::HasCrypt),
            is_snapshot_enabled: has(Flags::SnapshotEnabled),
            locations: proto.locations.map(LocatedBlocks::from),
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
