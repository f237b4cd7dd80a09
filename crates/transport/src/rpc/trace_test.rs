//! The span that a client is in comes out at the server, and nothing does where there is none.

use super::*;
use crate::login::User;
use crate::trace::{self, Propagator};
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use tracing::Span;
use zerohop_conf::Conf;
use zerohop_proto::common::UserInformationProto;
use zerohop_wire::TraceContext;

const PROTOCOL: &str = "test.Traced";

thread_local! {
    static CURRENT: Cell<Option<TraceContext>> = const { Cell::new(None) };
    static PARENTS: RefCell<Vec<TraceContext>> = const { RefCell::new(Vec::new()) };
}

/// The current span is what a test says; parents are kept for it. Tests of other threads see none.
struct Fake;

impl Propagator for Fake {
    fn current(&self) -> Option<TraceContext> {
        CURRENT.get()
    }

    fn set_parent(&self, _: &Span, parent: TraceContext) {
        PARENTS.with_borrow_mut(|parents| parents.push(parent));
    }

    fn finish(&self) {}
}

/// Answers with the trace id of the call.
struct Traced;

impl RpcService for Traced {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, _: &str, _: Bytes) -> Reply {
        let effective_user = context.trace_id.map(|id| id.to_string());
        Reply::message(&UserInformationProto { effective_user, real_user: None })
    }
}

#[tokio::test]
async fn a_call_names_the_span_that_its_client_is_in() {
    trace::install(Box::new(Fake));
    let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    server.register(Arc::new(Traced));
    server.start().unwrap();
    let user = User::new("ann");
    let options = ClientOptions::default();
    let client = RpcClient::new(server.local_addr(), PROTOCOL, 1, &user, options);
    let mut serial = client.serial().await.unwrap();
    let request = UserInformationProto::default();

    let context = TraceContext::new([7; 16], [8; 8], 1).unwrap();
    CURRENT.set(Some(context));
    let answer: UserInformationProto = client.call("traced", &request).await.unwrap();
    assert_eq!(answer.effective_user, Some("07".repeat(16)));
    let answer: UserInformationProto = serial.call("traced", &request).await.unwrap();
    assert_eq!(answer.effective_user, Some("07".repeat(16)));
    CURRENT.set(None);
    let answer: UserInformationProto = client.call("untraced", &request).await.unwrap();
    assert_eq!(answer.effective_user, None);
    assert_eq!(PARENTS.take(), [context; 2]);
}
