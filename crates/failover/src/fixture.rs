//! A NameNode that only knows its state, for tests.

use crate::service::ServiceState;
use crate::target::Target;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_proto::common::{
    GetServiceStatusResponseProto, HaServiceStateProto, MonitorHealthResponseProto,
    TransitionToActiveResponseProto, TransitionToStandbyResponseProto,
};
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_transport::rpc::{CallContext, RpcServer, RpcService, ServerOptions};
use zerohop_wire::JavaException;

/// A pair `ns` of `nn1` and `nn2` on these ports.
pub(crate) fn pair(one: u16, two: u16) -> Conf {
    let mut conf = Conf::new();
    conf.set("dfs.nameservices", "ns");
    conf.set("dfs.ha.namenodes.ns", "nn1,nn2");
    conf.set("dfs.namenode.rpc-address.ns.nn1", format!("127.0.0.1:{one}"));
    conf.set("dfs.namenode.rpc-address.ns.nn2", format!("127.0.0.1:{two}"));
    conf
}

/// A NameNode that does not run.
pub(crate) fn target(namenode: &str) -> Target {
    Target::find(&pair(1, 2), None, namenode).unwrap()
}

#[derive(Debug)]
struct State {
    state: ServiceState,
    not_ready: Option<String>,
    refuses: bool,
    is_well: bool,
}

struct Answers(Arc<Mutex<State>>);

/// A server of HAServiceProtocol.
pub(crate) struct FakeNameNode {
    server: RpcServer,
    state: Arc<Mutex<State>>,
}

impl FakeNameNode {
    pub(crate) async fn start() -> Self {
        let address = "127.0.0.1:0".parse().unwrap();
        let server =
            RpcServer::bind(address, ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap())
                .unwrap();
        let state = Arc::new(Mutex::new(State {
            state: ServiceState::Standby,
            not_ready: None,
            refuses: false,
            is_well: true,
        }));
        server.register(Arc::new(Answers(Arc::clone(&state))));
        server.start().unwrap();
        Self { server, state }
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.local_addr().port()
    }

    pub(crate) fn state(&self) -> ServiceState {
        self.state.lock().state
    }

    pub(crate) fn become_active(&self) {
        self.state.lock().state = ServiceState::Active;
    }

    pub(crate) fn say_not_ready(&self, reason: &str) {
        self.state.lock().not_ready = Some(reason.to_owned());
    }

    pub(crate) fn refuse_to_become_active(&self) {
        self.state.lock().refuses = true;
    }

    pub(crate) fn be_well(&self, is_well: bool) {
        self.state.lock().is_well = is_well;
    }
}

impl RpcService for Answers {
    fn protocol(&self) -> &'static str {
        "org.apache.hadoop.ha.HAServiceProtocol"
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, _: CallContext, method: &str, _: Bytes) -> Reply {
        let mut state = self.0.lock();
        match method {
            "getServiceStatus" => {
                let proto = match state.state {
                    ServiceState::Active => HaServiceStateProto::Active,
                    _ => HaServiceStateProto::Standby,
                };
                Reply::message(&GetServiceStatusResponseProto {
                    state: proto.into(),
                    ready_to_become_active: Some(state.not_ready.is_none()),
                    not_ready_reason: state.not_ready.clone(),
                })
            }
            "monitorHealth" if state.is_well => Reply::message(&MonitorHealthResponseProto {}),
            "monitorHealth" => Reply::exception(JavaException::HealthCheckFailed.with("no space")),
            "transitionToActive" if state.refuses => {
                Reply::exception(JavaException::ServiceFailed.with("cannot"))
            }
            "transitionToActive" => {
                state.state = ServiceState::Active;
                Reply::message(&TransitionToActiveResponseProto {})
            }
            "transitionToStandby" => {
                state.state = ServiceState::Standby;
                Reply::message(&TransitionToStandbyResponseProto {})
            }
            other => Reply::exception(no_such_method(self.protocol(), other)),
        }
    }
}
