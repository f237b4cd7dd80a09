//! Access control lists.

use crate::convert;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_proto::hdfs::{
    GetAclStatusRequestProto, GetAclStatusResponseProto, ModifyAclEntriesRequestProto,
    ModifyAclEntriesResponseProto, RemoveAclEntriesRequestProto, RemoveAclEntriesResponseProto,
    RemoveAclRequestProto, RemoveAclResponseProto, RemoveDefaultAclRequestProto,
    RemoveDefaultAclResponseProto, SetAclRequestProto, SetAclResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) const METHODS: &[Method] = &[
    ("modifyAclEntries", modify),
    ("removeAclEntries", remove_entries),
    ("removeDefaultAcl", remove_default),
    ("removeAcl", remove),
    ("setAcl", set),
    ("getAclStatus", status),
];

fn modify(call: Call<'_>) -> Reply {
    call.serve(|service, q: ModifyAclEntriesRequestProto| {
        service
            .acls()
            .modify_acl_entries(&q.src, &convert::acl_entries(q.acl_spec))
            .map(|()| ModifyAclEntriesResponseProto {})
    })
}

fn remove_entries(call: Call<'_>) -> Reply {
    call.serve(|service, q: RemoveAclEntriesRequestProto| {
        service
            .acls()
            .remove_acl_entries(&q.src, &convert::acl_entries(q.acl_spec))
            .map(|()| RemoveAclEntriesResponseProto {})
    })
}

fn remove_default(call: Call<'_>) -> Reply {
    call.serve(|service, q: RemoveDefaultAclRequestProto| {
        service.acls().remove_default_acl(&q.src).map(|()| RemoveDefaultAclResponseProto {})
    })
}

fn remove(call: Call<'_>) -> Reply {
    call.serve(|service, q: RemoveAclRequestProto| {
        service.acls().remove_acl(&q.src).map(|()| RemoveAclResponseProto {})
    })
}

fn set(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetAclRequestProto| {
        service
            .acls()
            .set_acl(&q.src, &convert::acl_entries(q.acl_spec))
            .map(|()| SetAclResponseProto {})
    })
}

fn status(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetAclStatusRequestProto| {
        service
            .acls()
            .acl_status(&q.src)
            .map(|status| GetAclStatusResponseProto { result: convert::acl_status(status) })
    })
}
