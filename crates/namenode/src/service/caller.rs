//! The identity of a caller, the same for RPC and HTTP.

use crate::audit::Origin;
use crate::core::Core;
use crate::retry::CallKey;
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_namespace::{INVALID_CALL_ID, OpContext};
use zerohop_transport::groups::GroupList;
use zerohop_transport::rpc::server::{CallContext, CallerContext};

/// Who calls, from where, and which call it is.
#[derive(Clone)]
pub(crate) struct Caller {
    user: Arc<str>,
    /// The user who sent the call, where that is a proxy for `user`.
    real_user: Option<Arc<str>>,
    /// Primary group first.
    groups: GroupList,
    is_superuser: bool,
    remote: SocketAddr,
    /// The address of `remote` as text.
    host: Arc<str>,
    /// 16 bytes, or none.
    client_id: Bytes,
    call_id: i32,
    caller_context: Option<CallerContext>,
    /// The protocol's name in the audit log. None for work of the NameNode's own pages, which Apache does not audit.
    protocol: Option<&'static str>,
}

impl Caller {
    /// The caller of an RPC.
    pub(crate) fn of_rpc(core: &Core, context: CallContext, groups: GroupList) -> Self {
        Self {
            is_superuser: core.is_superuser(&context.user, &groups),
            user: context.user,
            real_user: context.real_user,
            groups,
            remote: context.remote,
            host: context.host,
            client_id: context.client_id,
            call_id: context.call_id,
            caller_context: context.caller_context,
            protocol: Some("rpc"),
        }
    }

    /// The user that a request for one of the NameNode's pages names.
    pub(crate) fn of_page(core: &Core, user: &str, remote: SocketAddr) -> Self {
        let groups = core.groups.of(user);
        Self {
            is_superuser: core.is_superuser(user, &groups),
            user: user.into(),
            real_user: None,
            groups,
            remote,
            host: remote.ip().to_string().into(),
            client_id: Bytes::new(),
            call_id: INVALID_CALL_ID,
            caller_context: None,
            protocol: None,
        }
    }

    pub(crate) fn user(&self) -> &Arc<str> {
        &self.user
    }

    pub(crate) fn remote(&self) -> SocketAddr {
        self.remote
    }

    /// The caller as the namespace sees it, now.
    pub(crate) fn op_context(&self, core: &Core) -> OpContext {
        OpContext {
            user: self.user.clone(),
            groups: self.groups.clone(),
            superuser: self.is_superuser,
            now: core.clock.now(),
            client_host: self.host.clone(),
            client_id: self.client_id.as_ref().try_into().unwrap_or_default(),
            call_id: self.call_id,
        }
    }

    /// The call's key in the retry cache; none for callers whose calls cannot be told apart.
    pub(super) fn retry_key(&self) -> Option<CallKey> {
        CallKey::new(&self.client_id, self.call_id)
    }

    /// The caller as the audit log names it. None if this call is not audited.
    pub(super) fn origin(&self) -> Option<Origin<'_>> {
        Some(Origin {
            user: &self.user,
            real_user: self.real_user.as_deref(),
            address: self.remote.ip(),
            protocol: self.protocol?,
            context: self.caller_context.as_ref(),
        })
    }
}
