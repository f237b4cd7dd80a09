//! Replication, permission, owner, times, access checks.

use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_proto::hdfs::{
    CheckAccessRequestProto, CheckAccessResponseProto, SetOwnerRequestProto, SetOwnerResponseProto,
    SetPermissionRequestProto, SetPermissionResponseProto, SetReplicationRequestProto,
    SetReplicationResponseProto, SetTimesRequestProto, SetTimesResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) const METHODS: &[Method] = &[
    ("setReplication", set_replication),
    ("setPermission", set_permission),
    ("setOwner", set_owner),
    ("setTimes", set_times),
    ("checkAccess", check_access),
];

fn set_replication(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetReplicationRequestProto| {
        let replication = q.replication.min(u32::from(u16::MAX)) as u16;
        service
            .attributes()
            .set_replication(&q.src, replication)
            .map(|result| SetReplicationResponseProto { result })
    })
}

fn set_permission(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetPermissionRequestProto| {
        service
            .attributes()
            .set_permission(&q.src, q.permission.perm as u16)
            .map(|()| SetPermissionResponseProto {})
    })
}

fn set_owner(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetOwnerRequestProto| {
        service
            .attributes()
            .set_owner(&q.src, q.username.as_deref(), q.groupname.as_deref())
            .map(|()| SetOwnerResponseProto {})
    })
}

fn set_times(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetTimesRequestProto| {
        service
            .attributes()
            .set_times(&q.src, q.mtime as i64, q.atime as i64)
            .map(|()| SetTimesResponseProto {})
    })
}

fn check_access(call: Call<'_>) -> Reply {
    call.serve(|service, q: CheckAccessRequestProto| {
        service
            .attributes()
            .check_access(&q.path, (q.mode & 7) as u8)
            .map(|()| CheckAccessResponseProto {})
    })
}
