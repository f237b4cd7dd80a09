//! Small protocols around users: who is in which group, and reloading what is cached.

use super::answer::Call;
use crate::core::Core;
use bytes::Bytes;
use std::sync::Arc;
use zerohop_proto::common::{
    GetGroupsForUserRequestProto, GetGroupsForUserResponseProto, RefreshServiceAclRequestProto,
    RefreshServiceAclResponseProto, RefreshUserToGroupsMappingsRequestProto,
    RefreshUserToGroupsMappingsResponseProto,
};
use zerohop_transport::rpc::server::{CallContext, Reply, RpcService, no_such_method};
use zerohop_wire::JavaException;

macro_rules! service {
    ($(#[$doc:meta])* $name:ident, $protocol:literal, $dispatch:path) => {
        $(#[$doc])*
        pub(super) struct $name {
            core: Arc<Core>,
        }

        impl $name {
            pub(super) fn new(core: Arc<Core>) -> Self {
                Self { core }
            }
        }

        impl RpcService for $name {
            fn protocol(&self) -> &'static str {
                $protocol
            }

            fn version(&self) -> u64 {
                1
            }

            fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
                let call = Call { core: &self.core, context, param };
                $dispatch(call, method).unwrap_or_else(|| Reply::exception(no_such_method($protocol, method)))
            }
        }
    };
}

service!(
    /// GetUserMappingsProtocol: `hdfs groups`.
    UserMappings,
    "org.apache.hadoop.tools.GetUserMappingsProtocol",
    user_mappings
);
service!(
    /// RefreshUserMappingsProtocol: `hdfs dfsadmin -refreshUserToGroupsMappings`.
    RefreshUserMappings,
    "org.apache.hadoop.security.RefreshUserMappingsProtocol",
    refresh_user_mappings
);
service!(
    /// RefreshAuthorizationPolicyProtocol: `hdfs dfsadmin -refreshServiceAcl`.
    RefreshAuthorization,
    "org.apache.hadoop.security.authorize.RefreshAuthorizationPolicyProtocol",
    refresh_authorization
);

fn user_mappings(call: Call<'_>, method: &str) -> Option<Reply> {
    (method == "getGroupsForUser").then(|| {
        call.ask(|core, _, q: GetGroupsForUserRequestProto| {
            Ok(GetGroupsForUserResponseProto { groups: core.groups.of(&q.user).to_vec() })
        })
    })
}

fn refresh_user_mappings(call: Call<'_>, method: &str) -> Option<Reply> {
    match method {
        "refreshUserToGroupsMappings" => {
            Some(call.ask(|core, op, _: RefreshUserToGroupsMappingsRequestProto| {
                core.check_superuser(op)?;
                core.groups.refresh();
                Ok(RefreshUserToGroupsMappingsResponseProto {})
            }))
        }
        // The rules are part of the RPC server's options, read at the start.
        "refreshSuperUserGroupsConfiguration" => Some(Reply::exception(
            JavaException::UnsupportedOperation
                .with("refreshSuperUserGroupsConfiguration needs a restart of this NameNode"),
        )),
        _ => None,
    }
}

/// Service-level authorization is off, as by Hadoop's default: the text is Hadoop's for that.
fn refresh_authorization(call: Call<'_>, method: &str) -> Option<Reply> {
    (method == "refreshServiceAcl").then(|| {
        call.ask::<_, RefreshServiceAclResponseProto>(|_, _, _: RefreshServiceAclRequestProto| {
            Err(JavaException::Authorization.with("Service Level Authorization not enabled!"))
        })
    })
}
