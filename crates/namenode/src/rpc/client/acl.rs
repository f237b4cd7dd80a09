//! Access control lists.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_proto::hdfs::{
    GetAclStatusRequestProto, GetAclStatusResponseProto, ModifyAclEntriesRequestProto,
    ModifyAclEntriesResponseProto, RemoveAclEntriesRequestProto, RemoveAclEntriesResponseProto,
    RemoveAclRequestProto, RemoveAclResponseProto, RemoveDefaultAclRequestProto,
    RemoveDefaultAclResponseProto, SetAclRequestProto, SetAclResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) fn modify(call: Call<'_>) -> Reply {
    call.write(
        |q: &ModifyAclEntriesRequestProto| Line::path("modifyAclEntries", &q.src),
        |namespace, op, q| {
            namespace.modify_acl_entries(op, &q.src, &convert::acl_entries(q.acl_spec.clone()))?;
            Ok(ModifyAclEntriesResponseProto {})
        },
    )
}

pub(super) fn remove_entries(call: Call<'_>) -> Reply {
    call.write(
        |q: &RemoveAclEntriesRequestProto| Line::path("removeAclEntries", &q.src),
        |namespace, op, q| {
            namespace.remove_acl_entries(op, &q.src, &convert::acl_entries(q.acl_spec.clone()))?;
            Ok(RemoveAclEntriesResponseProto {})
        },
    )
}

pub(super) fn remove_default(call: Call<'_>) -> Reply {
    call.write(
        |q: &RemoveDefaultAclRequestProto| Line::path("removeDefaultAcl", &q.src),
        |namespace, op, q| {
            namespace.remove_default_acl(op, &q.src)?;
            Ok(RemoveDefaultAclResponseProto {})
        },
    )
}

pub(super) fn remove(call: Call<'_>) -> Reply {
    call.write(
        |q: &RemoveAclRequestProto| Line::path("removeAcl", &q.src),
        |namespace, op, q| {
            namespace.remove_acl(op, &q.src)?;
            Ok(RemoveAclResponseProto {})
        },
    )
}

pub(super) fn set(call: Call<'_>) -> Reply {
    call.write(
        |q: &SetAclRequestProto| Line::path("setAcl", &q.src),
        |namespace, op, q| {
            namespace.set_acl(op, &q.src, &convert::acl_entries(q.acl_spec.clone()))?;
            Ok(SetAclResponseProto {})
        },
    )
}

pub(super) fn status(call: Call<'_>) -> Reply {
    call.read(
        |q: &GetAclStatusRequestProto| Line::path("getAclStatus", &q.src),
        |namespace, op, q| {
            Ok(GetAclStatusResponseProto {
                result: convert::acl_status(namespace.acl_status(op, &q.src)?),
            })
        },
    )
}
