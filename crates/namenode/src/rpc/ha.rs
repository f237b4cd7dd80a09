//! HAServiceProtocol: there is one NameNode, and it is active.

use super::answer::Call;
use super::service::Protocol;
use zerohop_proto::common::{
    GetServiceStatusRequestProto, GetServiceStatusResponseProto, HaServiceStateProto,
    MonitorHealthRequestProto, MonitorHealthResponseProto,
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
            "monitorHealth" => {
                call.ask(|_, _, _: MonitorHealthRequestProto| Ok(MonitorHealthResponseProto {}))
            }
            "transitionToActive" | "transitionToStandby" | "transitionToObserver" => {
                Reply::exception(
                    JavaException::UnsupportedOperation.with("HA for namenode is not enabled"),
                )
            }
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}
