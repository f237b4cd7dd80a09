//! Access control lists.

use crate::error::Error;
use zerohop_proto::hdfs::AclStatusProto;
use zerohop_wire::{AclEntry, InvalidAclEntry};

impl From<InvalidAclEntry> for Error {
    fn from(invalid: InvalidAclEntry) -> Self {
        Self::invalid(invalid.to_string())
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
    /// The permission bits, if the server sends them.
    pub permission: Option<u16>,
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
