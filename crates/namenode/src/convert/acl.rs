//! Access control lists.

use zerohop_namespace::{AclEntry, AclStatus};
use zerohop_proto::hdfs::{AclEntryProto, AclStatusProto, FsPermissionProto};

pub(crate) fn acl_entries(entries: Vec<AclEntryProto>) -> Vec<AclEntry> {
    entries.into_iter().map(entry).collect()
}

fn entry(entry: AclEntryProto) -> AclEntry {
    AclEntry {
        scope: entry.scope().into(),
        kind: entry.r#type().into(),
        perm: entry.permissions() as i32 as u8,
        name: entry.name.filter(|name| !name.is_empty()).map(Into::into),
    }
}

fn entry_proto(entry: AclEntry) -> AclEntryProto {
    AclEntryProto {
        r#type: entry.kind as i32,
        scope: entry.scope as i32,
        permissions: i32::from(entry.perm),
        name: entry.name.map(|name| name.to_string()),
    }
}

pub(crate) fn acl_status(status: AclStatus) -> AclStatusProto {
    AclStatusProto {
        owner: status.owner.to_string(),
        group: status.group.to_string(),
        sticky: status.sticky,
        entries: status.entries.into_iter().map(entry_proto).collect(),
        permission: Some(FsPermissionProto { perm: status.mode.into() }),
    }
}
