//! Access control lists.

use zerohop_namespace::{AclEntry, AclStatus};
use zerohop_proto::hdfs::{AclEntryProto, AclStatusProto, FsPermissionProto};

pub(crate) fn acl_entries(entries: Vec<AclEntryProto>) -> Vec<AclEntry> {
    entries.into_iter().map(Into::into).collect()
}

pub(crate) fn acl_status(status: AclStatus) -> AclStatusProto {
    AclStatusProto {
        owner: status.owner.to_string(),
        group: status.group.to_string(),
        sticky: status.sticky,
        entries: status.entries.iter().map(Into::into).collect(),
        permission: Some(FsPermissionProto { perm: status.mode.into() }),
    }
}
