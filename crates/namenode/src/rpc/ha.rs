//! HAServiceProtocol: there is one NameNode, and it is active.

use super::answer::Call;
use crate::core::Core;
use bytes::Bytes;
use std::sync::Arc;
use zerohop_proto::common::{
    GetServiceStatusRequestProto, GetServiceStatusResponseProto, HaServiceStateProto,
    MonitorHealthRequestProto, MonitorHealthResponseProto,
};
use zerohop_transport::rpc::server::{CallContext, Reply, RpcService, no_such_method};
use zerohop_wire::JavaException;

const NAME: &str = "org.apache.hadoop.ha.HAServiceProtocol";

pub(super) struct HaService {
    core: Arc<Core>,
}

impl HaService {
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

impl RpcService for HaService {
    fn protocol(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        let call = Call { core: &self.core, context, param };
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
            other => Reply::exception(no_such_method(NAME, other)),
        }
    }
}
