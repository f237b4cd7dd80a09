//! Small protocols around users: who is in which group, and reloading what is cached.

use super::answer::Call;
use super::service::Protocol;
use crate::message::encode;
use zerohop_proto::common::{
    GetGroupsForUserRequestProto, GetGroupsForUserResponseProto, RefreshServiceAclRequestProto,
    RefreshServiceAclResponseProto, RefreshUserToGroupsMappingsRequestProto,
    RefreshUserToGroupsMappingsResponseProto,
};
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_wire::JavaException;

/// GetUserMappingsProtocol: `hdfs groups`.
pub(super) struct UserMappings;

/// RefreshUserMappingsProtocol: `hdfs dfsadmin -refreshUserToGroupsMappings`.
pub(super) struct RefreshUserMappings;

/// RefreshAuthorizationPolicyProtocol: `hdfs dfsadmin -refreshServiceAcl`. Service-level authorization is off, as by
/// Hadoop's default: the text is Hadoop's for that.
pub(super) struct RefreshAuthorization;

impl Protocol for UserMappings {
    const NAME: &'static str = "org.apache.hadoop.tools.GetUserMappingsProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "getGroupsForUser" => groups_of(call),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

fn groups_of(call: Call<'_>) -> Reply {
    let groups = call.core.groups.clone();
    match call.request::<GetGroupsForUserRequestProto>() {
        Ok(request) => Reply::later(async move {
            let groups = groups.load(&request.user).await.to_vec();
            Ok(encode(&GetGroupsForUserResponseProto { groups }))
        }),
        Err(error) => Reply::exception(error),
    }
}

impl Protocol for RefreshUserMappings {
    const NAME: &'static str = "org.apache.hadoop.security.RefreshUserMappingsProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "refreshUserToGroupsMappings" => {
                call.ask(|core, op, _: RefreshUserToGroupsMappingsRequestProto| {
                    core.check_superuser(op)?;
                    core.groups.refresh();
                    Ok(RefreshUserToGroupsMappingsResponseProto {})
                })
            }
            // The rules are part of the RPC server's options, read at the start.
            "refreshSuperUserGroupsConfiguration" => Reply::exception(
                JavaException::UnsupportedOperation
                    .with("refreshSuperUserGroupsConfiguration needs a restart of this NameNode"),
            ),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

impl Protocol for RefreshAuthorization {
    const NAME: &'static str =
        "org.apache.hadoop.security.authorize.RefreshAuthorizationPolicyProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "refreshServiceAcl" => call.ask::<_, RefreshServiceAclResponseProto>(
                |_, _, _: RefreshServiceAclRequestProto| {
                    Err(JavaException::Authorization
                        .with("Service Level Authorization not enabled!"))
                },
            ),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}
