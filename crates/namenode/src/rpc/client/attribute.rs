//! Replication, permission, owner, times, access checks.

use crate::audit::Line;
use crate::rpc::answer::Call;
use zerohop_proto::hdfs::{
    CheckAccessRequestProto, CheckAccessResponseProto, SetOwnerRequestProto, SetOwnerResponseProto,
    SetPermissionRequestProto, SetPermissionResponseProto, SetReplicationRequestProto,
    SetReplicationResponseProto, SetTimesRequestProto, SetTimesResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) fn set_replication(call: Call<'_>) -> Reply {
    call.write(
        |q: &SetReplicationRequestProto| Line::path("setReplication", &q.src),
        |namespace, op, q| {
            let replication = q.replication.min(u32::from(u16::MAX)) as u16;
            Ok(SetReplicationResponseProto {
                result: namespace.set_replication(op, &q.src, replication)?,
            })
        },
    )
}

pub(super) fn set_permission(call: Call<'_>) -> Reply {
    call.write(
        |q: &SetPermissionRequestProto| Line::path("setPermission", &q.src),
        |namespace, op, q| {
            namespace.set_permission(op, &q.src, q.permission.perm as u16)?;
            Ok(SetPermissionResponseProto {})
        },
    )
}

pub(super) fn set_owner(call: Call<'_>) -> Reply {
    call.write(
        |q: &SetOwnerRequestProto| Line::path("setOwner", &q.src),
        |namespace, op, q| {
            namespace.set_owner(op, &q.src, q.username.as_deref(), q.groupname.as_deref())?;
            Ok(SetOwnerResponseProto {})
        },
    )
}

pub(super) fn set_times(call: Call<'_>) -> Reply {
    call.write(
        |q: &SetTimesRequestProto| Line::path("setTimes", &q.src),
        |namespace, op, q| {
            namespace.set_times(op, &q.src, q.mtime as i64, q.atime as i64)?;
            Ok(SetTimesResponseProto {})
        },
    )
}

pub(super) fn check_access(call: Call<'_>) -> Reply {
    call.read(
        |q: &CheckAccessRequestProto| Line::path("checkAccess", &q.path),
        |namespace, op, q| {
            namespace.check_access(op, &q.path, (q.mode & 7) as u8)?;
            Ok(CheckAccessResponseProto {})
        },
    )
}
