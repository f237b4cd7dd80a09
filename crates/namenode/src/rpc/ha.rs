//! HAServiceProtocol: there is one NameNode, and it is active. As in Apache's, everybody may ask for
//! the state, and only the superuser for anything else.

use super::answer::Call;
use super::service::Protocol;
use crate::core::Core;
use crate::service::Outcome;
use zerohop_namespace::OpContext;
use zerohop_proto::common::{
    GetServiceStatusRequestProto, GetServiceStatusResponseProto, HaServiceStateProto,
    MonitorHealthRequestProto, MonitorHealthResponseProto, TransitionToActiveRequestProto,
    TransitionToActiveResponseProto, TransitionToObserverRequestProto,
    TransitionToObserverResponseProto, TransitionToStandbyRequestProto,
    TransitionToStandbyResponseProto,
};
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_wire::JavaException;

pub(super) struct HaService;

impl Protocol for HaService {
    const NAME: &'static str = "org.apache.hadoop.ha.HAServiceProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "getServiceStatus" => call.ask(|_, _, _: GetServiceStatusRequestProto| {
                Ok(GetServiceStatusResponseProto {
                    state: HaServiceStateProto::Active.into(),
                    ready_to_become_active: Some(true),
                    not_ready_reason: None,
                })
            }),
            "monitorHealth" => call.ask(|core, op, _: MonitorHealthRequestProto| {
                core.check_superuser(op)?;
                Ok(MonitorHealthResponseProto {})
            }),
            "transitionToActive" => call
                .ask::<TransitionToActiveRequestProto, TransitionToActiveResponseProto>(
                    refuse_transition,
                ),
            "transitionToStandby" => call
                .ask::<TransitionToStandbyRequestProto, TransitionToStandbyResponseProto>(
                    refuse_transition,
                ),
            "transitionToObserver" => call
                .ask::<TransitionToObserverRequestProto, TransitionToObserverResponseProto>(
                    refuse_transition,
                ),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

fn refuse_transition<Q, R>(core: &Core, op: &OpContext, _: Q) -> Outcome<R> {
    core.check_superuser(op)?;
    Err(JavaException::ServiceFailed.with("HA for namenode is not enabled"))
}
