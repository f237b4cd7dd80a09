//! HAServiceProtocol. As in Apache's, everybody may ask for the state, and only the superuser for anything else.

use super::answer::{Call, RpcResult};
use super::service::Protocol;
use crate::call_error::CallError;
use crate::core::Core;
use crate::ha::HaState;
use crate::message::{decode, encode};
use crate::transition::{to_active, to_standby};
use bytes::Bytes;
use std::sync::Arc;
use zerohop_namespace::OpContext;
use zerohop_proto::Checked;
use zerohop_proto::common::{
    GetServiceStatusRequestProto, GetServiceStatusResponseProto, MonitorHealthRequestProto,
    MonitorHealthResponseProto, TransitionToActiveRequestProto, TransitionToActiveResponseProto,
    TransitionToObserverRequestProto, TransitionToObserverResponseProto,
    TransitionToStandbyRequestProto, TransitionToStandbyResponseProto,
};
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_wire::JavaException;

pub(super) struct HaService;

impl Protocol for HaService {
    const NAME: &'static str = "org.apache.hadoop.ha.HAServiceProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "getServiceStatus" => {
                call.ask(|core, _, _: GetServiceStatusRequestProto| Ok(status(core)))
            }
            "monitorHealth" => call.ask(|core, op, _: MonitorHealthRequestProto| {
                core.check_superuser(op)?;
                Ok(MonitorHealthResponseProto {})
            }),
            "transitionToActive" => change(
                call,
                |_: TransitionToActiveRequestProto| {},
                |core| async {
                    to_active(core).await?;
                    Ok(encode(&TransitionToActiveResponseProto {}))
                },
            ),
            "transitionToStandby" => change(
                call,
                |_: TransitionToStandbyRequestProto| {},
                |core| async {
                    to_standby(core).await?;
                    Ok(encode(&TransitionToStandbyResponseProto {}))
                },
            ),
            "transitionToObserver" => call
                .ask::<TransitionToObserverRequestProto, TransitionToObserverResponseProto>(
                    refuse_transition,
                ),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

/// A standby in safe mode knows too few replicas to serve.
fn status(core: &Core) -> GetServiceStatusResponseProto {
    let state = core.ha.state();
    let safe_mode_tip = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        safe_mode.is_on().then(|| safe_mode.tip())
    });
    let tip = safe_mode_tip.filter(|_| state == HaState::Standby);
    GetServiceStatusResponseProto {
        state: state.service_state().into(),
        ready_to_become_active: Some(tip.is_none()),
        not_ready_reason: tip.map(|tip| format!("The NameNode is in safemode. {tip}")),
    }
}

fn change<Q: Checked, F>(
    call: Call<'_>,
    decoded: impl FnOnce(Q),
    transition: impl FnOnce(Arc<Core>) -> F,
) -> Reply
where
    F: Future<Output = RpcResult<Bytes>> + Send + 'static,
{
    let (core, op) = (call.core.clone(), call.op_context());
    let allowed = || -> RpcResult<()> {
        core.check_superuser(&op)?;
        decoded(decode(call.param)?);
        Ok(core.ha.check_enabled().map_err(CallError::from)?)
    };
    match allowed() {
        Ok(()) => Reply::later(transition(core)),
        Err(error) => Reply::exception(error),
    }
}

/// There are no observers yet.
fn refuse_transition<Q, R>(core: &Core, op: &OpContext, _: Q) -> RpcResult<R> {
    core.check_superuser(op)?;
    core.ha.check_enabled().map_err(CallError::from)?;
    Err(JavaException::ServiceFailed.with("this NameNode cannot become an observer"))
}
