//! A protocol as the RPC server knows it.

use super::answer::Call;
use crate::core::Core;
use bytes::Bytes;
use std::marker::PhantomData;
use std::sync::Arc;
use zerohop_transport::rpc::server::{CallContext, Reply, RpcServer, RpcService};

/// As the audit log has it.
const BY_RPC: &str = "rpc";

/// A function that answers calls of one method.
pub(super) type Answering = fn(Call<'_>) -> Reply;

/// A method's name, and the function that answers it.
pub(super) type Method = (&'static str, Answering);

/// A protocol: a name and its methods.
pub(super) trait Protocol: Send + Sync + 'static {
    /// Java's interface, by which clients ask for it.
    const NAME: &'static str;

    /// Methods that metrics show before their first call, too.
    fn methods() -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns `true` if the answer of a method depends on the caller's rack.
    fn needs_rack(_method: &str) -> bool {
        false
    }

    /// Answers a call of one of its methods.
    fn call(call: Call<'_>, method: &str) -> Reply;
}

/// Has `server` answer calls of a protocol.
pub(super) fn serve<P: Protocol>(server: &RpcServer, core: &Arc<Core>) {
    server.register(Arc::new(Service::<P> { core: core.clone(), protocol: PhantomData }));
}

struct Service<P> {
    core: Arc<Core>,
    protocol: PhantomData<P>,
}

impl<P: Protocol> RpcService for Service<P> {
    fn protocol(&self) -> &'static str {
        P::NAME
    }

    fn version(&self) -> u64 {
        1
    }

    fn methods(&self) -> Vec<&'static str> {
        P::methods()
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        let asks_for_rack = P::needs_rack(method) && self.core.racks.must_ask(&context.host);
        if let Some(groups) = self.core.groups.known(context.identity.user())
            && !asks_for_rack
        {
            let core = &self.core;
            return P::call(Call { core, context, groups, param, audited_as: BY_RPC }, method);
        }
        // A look-up may take seconds, and this thread serves other connections.
        let method = method.to_owned();
        Reply::later(async move {
            let groups = self.core.groups.load(context.identity.user()).await;
            if asks_for_rack {
                self.core.racks.ask_for_client(&context.host).await;
            }
            let core = &self.core;
            let call = Call { core, context, groups, param, audited_as: BY_RPC };
            P::call(call, &method).answer().await
        })
    }
}
