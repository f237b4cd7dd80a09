//! From request bytes to an answer's bytes.

use crate::call_error::CallError;
use crate::core::Core;
use crate::ha::OperationCategory;
use crate::message::{decode_request, encode};
use crate::service::{Answer, Caller, ClientService, Outcome};
use crate::storage::PendingSync;
use bytes::Bytes;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use zerohop_namespace::OpContext;
use zerohop_proto::Checked;
use zerohop_transport::groups::GroupList;
use zerohop_transport::rpc::server::{CallContext, Gate, Reply};
use zerohop_wire::RemoteException;

/// What goes to the client: a value, or Java's exception.
pub(crate) type RpcResult<R> = Result<R, RemoteException>;

/// One call: who calls, and the request still encoded.
pub(crate) struct Call<'a> {
    pub(crate) core: &'a Arc<Core>,
    pub(crate) context: CallContext,
    /// The caller's groups.
    pub(crate) groups: GroupList,
    pub(crate) param: Bytes,
    /// How the call came, for the audit log.
    pub(crate) audited_as: &'static str,
}

/// Opens when the edits of an answer are on disk.
struct Synced(PendingSync);

impl Gate for Synced {
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<RpcResult<()>> {
        let synced = Pin::new(&mut self.0).poll(context);
        synced.map_err(|error| CallError::from(error).into())
    }
}

impl<R: prost::Message + 'static> From<Answer<R>> for Reply {
    fn from(answer: Answer<R>) -> Self {
        let encoded = |outcome: Outcome<R>| Ok(encode(&outcome?));
        match answer {
            Answer::Ready(outcome) => Self::Now(encoded(outcome)),
            Answer::AfterSync(outcome, sync) => {
                Self::Gated(encoded(outcome), Box::new(Synced(sync)))
            }
            Answer::Later(future) => Self::later(async move { encoded(future.await) }),
        }
    }
}

impl Call<'_> {
    /// Decodes the request.
    pub(crate) fn request<Q: Checked>(&self) -> RpcResult<Q> {
        decode_request(&self.context, self.param.clone())
    }

    fn caller(&self) -> Caller {
        Caller::of_call(self.core, self.context.clone(), self.groups.clone(), self.audited_as)
    }

    /// The caller as the namespace sees it.
    pub(crate) fn op_context(&self) -> OpContext {
        self.caller().op_context(self.core)
    }

    /// Answers by ClientProtocol's typed calls.
    pub(crate) fn serve<Q: Checked, R: prost::Message + 'static>(
        self,
        call: impl FnOnce(&ClientService<'_>, Q) -> Answer<R>,
    ) -> Reply {
        match self.request() {
            Err(error) => Reply::exception(error),
            Ok(request) => {
                let caller = Caller::of_call(self.core, self.context, self.groups, self.audited_as);
                call(&ClientService::new(self.core, caller), request).into()
            }
        }
    }

    /// As [`Call::ask`], refused where the state does not allow the category.
    pub(crate) fn ask_as<Q: Checked, R: prost::Message>(
        self,
        category: OperationCategory,
        answer: impl FnOnce(&Core, &OpContext, Q) -> RpcResult<R>,
    ) -> Reply {
        self.ask(|core, op, request| {
            core.ha.check(category).map_err(CallError::from)?;
            answer(core, op, request)
        })
    }

    /// A question that needs only the caller.
    pub(crate) fn ask<Q: Checked, R: prost::Message>(
        self,
        answer: impl FnOnce(&Core, &OpContext, Q) -> RpcResult<R>,
    ) -> Reply {
        let op = self.op_context();
        let result = self.request().and_then(|request| answer(self.core, &op, request));
        Reply::Now(result.map(|message| encode(&message)))
    }
}
