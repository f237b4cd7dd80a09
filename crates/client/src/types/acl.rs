//! Access control lists.

use zerohop_proto::hdfs::acl_entry_proto::{AclEntryScopeProto, FsActionProto};
use zerohop_proto::hdfs::{AclEntryProto, AclStatusProto};
pub use zerohop_wire::AclKind;

/// One entry of a list, in Hadoop's notation `default:user:name:rwx`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AclEntry {
    /// Whether it is for children to come (`default:`).
    pub is_default: bool,
    /// Whom it is about.
    pub kind: AclKind,
    /// The user's or group's name; `None` for owner, group, mask and other.
    pub name: Option<String>,
    /// The bits of `rwx`.
    pub permission: u8,
}

impl AclEntry {
    /// An entry without a name, for the path itself.
    pub const fn new(kind: AclKind, permission: u8) -> Self {
        Self { is_default: false, kind, name: None, permission }
    }
}

setters! {
    AclEntry {
        is_default: bool,
        name: Option<String>,
    }
}

/// A path's list with its owner and permission bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AclStatus {
    /// The owner's name.
    pub owner: String,
    /// The group's name.
    pub group: String,
    /// The sticky bit.
    pub is_sticky: bool,
    /// The entries beyond the permission bits; empty where there is no list.
    pub entries: Vec<AclEntry>,
    /// The permission bits, where the server says them.
    pub permission: Option<u16>,
}

impl From<&AclEntry> for AclEntryProto {
    fn from(entry: &AclEntry) -> Self {
        let scope =
            if entry.is_default { AclEntryScopeProto::Default } else { AclEntryScopeProto::Access };
        Self {
            r#type: entry.kind as i32,
            scope: scope.into(),
            permissions: i32::from(entry.permission & 7),
            name: entry.name.clone(),
        }
    }
}

impl From<AclEntryProto> for AclEntry {
    fn from(proto: AclEntryProto) -> Self {
        Self {
            is_default: proto.scope() == AclEntryScopeProto::Default,
            kind: proto.r#type().into(),
            permission: FsActionProto::try_from(proto.permissions).map_or(0, |a| a as u8),
            name: proto.name.filter(|name| !name.is_empty()),
        }
    }
}

impl From<AclStatusProto> for AclStatus {
    fn from(proto: AclStatusProto) -> Self {
        Self {
            owner: proto.owner,
            group: proto.group,
            is_sticky: proto.sticky,
            entries: proto.entries.into_iter().map(Into::into).collect(),
            permission: proto.permission.map(|p| p.perm as u16),
        }
    }
}
