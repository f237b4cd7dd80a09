//! The caller of an operation, the same for RPC and HTTP.

use crate::audit::Origin;
use crate::core::Core;
use crate::retry::CallKey;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_namespace::OpContext;
use zerohop_transport::groups::GroupList;
use zerohop_transport::rpc::server::{CallContext, CallMemory};
use zerohop_wire::{CallerIdentity, RpcIds};

/// Who calls, from where, and which call it is.
#[derive(Clone)]
pub(crate) struct Caller {
    call: CallContext,
    /// Primary group first.
    groups: GroupList,
    is_superuser: bool,
    /// The protocol's name in the audit log; `None` for the single calls of one of the NameNode's own pages. Like in Apache
    /// Hadoop, the page writes one line for all of them.
    protocol: Option<&'static str>,
}

/// The context of a call that came by HTTP. Such calls have no ids: a repeated one is a new one.
pub(crate) fn http_context(identity: CallerIdentity, remote: SocketAddr) -> CallContext {
    CallContext {
        identity,
        ids: RpcIds::NONE,
        retry_count: -1,
        remote,
        host: remote.ip().to_canonical().to_string().into(),
        caller_context: None,
        trace_id: None,
        connection_protocol: "".into(),
        memory: CallMemory::default(),
    }
}

impl Caller {
    /// The caller of an operation that came by `protocol` (`rpc`, `webhdfs`).
    pub(crate) fn of_call(
        core: &Core,
        call: CallContext,
        groups: GroupList,
        protocol: &'static str,
    ) -> Self {
        let is_superuser = core.is_superuser(call.identity.user(), &groups);
        Self { call, groups, is_superuser, protocol: Some(protocol) }
    }

    /// The user that a request for one of the NameNode's pages names.
    pub(crate) fn of_page(core: &Core, user: &str, remote: SocketAddr) -> Self {
        let groups = core.groups.of(user);
        let call = http_context(CallerIdentity::simple(user, None), remote);
        Self { protocol: None, ..Self::of_call(core, call, groups, "") }
    }

    pub(crate) fn user(&self) -> &Arc<str> {
        self.call.identity.user()
    }

    pub(crate) fn remote(&self) -> SocketAddr {
        self.call.remote
    }

    /// The caller as the namespace sees it, now.
    pub(crate) fn op_context(&self, core: &Core) -> OpContext {
        OpContext {
            identity: self.call.identity.clone(),
            groups: self.groups.clone(),
            superuser: self.is_superuser,
            now: core.clock.now(),
            client_host: self.call.host.clone(),
            client_rack: core.racks.of_client(&self.call.host),
            rpc: self.call.ids,
        }
    }

    /// The call's key in the retry cache; none for callers whose calls cannot be told apart.
    pub(super) fn retry_key(&self) -> Option<CallKey> {
        CallKey::new(self.call.ids)
    }

    /// The caller as the audit log names it. None if this call is not audited.
    pub(super) fn origin(&self) -> Option<Origin<'_>> {
        self.protocol.map(|protocol| self.origin_by(protocol))
    }

    /// Returns the caller as the audit log names it in a page's own line, which has no protocol, as in Apache Hadoop.
    pub(crate) fn page_origin(&self) -> Origin<'_> {
        self.origin_by("null")
    }

    fn origin_by(&self, protocol: &'static str) -> Origin<'_> {
        Origin {
            identity: &self.call.identity,
            address: self.call.remote,
            protocol,
            context: self.call.caller_context.as_ref(),
            trace_id: self.call.trace_id.as_deref(),
        }
    }
}
