//! Access control lists.

use zerohop_proto::hdfs::acl_entry_proto::{AclEntryScopeProto, AclEntryTypeProto, FsActionProto};
use zerohop_proto::hdfs::{AclEntryProto, AclStatusProto};

/// Whom an entry is about; in the order in which entries are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AclKind {
    /// The owner, or the user named.
    User,
    /// The group, or the group named.
    Group,
    /// The most that named entries and the group can have.
    Mask,
    /// Everyone else.
    Other,
}

/// One entry of a list, in Hadoop's notation `default:user:name:rwx`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
        let kind = match entry.kind {
            AclKind::User => AclEntryTypeProto::User,
            AclKind::Group => AclEntryTypeProto::Group,
            AclKind::Mask => AclEntryTypeProto::Mask,
            AclKind::Other => AclEntryTypeProto::Other,
        };
        let scope =
            if entry.is_default { AclEntryScopeProto::Default } else { AclEntryScopeProto::Access };
        Self {
            r#type: kind.into(),
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
            kind: match proto.r#type() {
                AclEntryTypeProto::User => AclKind::User,
                AclEntryTypeProto::Group => AclKind::Group,
                AclEntryTypeProto::Mask => AclKind::Mask,
                AclEntryTypeProto::Other => AclKind::Other,
            },
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
