//! A client's calls on other runtimes than its own, and on none.

use super::*;
use crate::login::User;
use bytes::Bytes;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use zerohop_conf::Conf;
use zerohop_proto::common::UserInformationProto;

/// Answers with what the call says, or never.
struct Echo;

impl RpcService for Echo {
    fn protocol(&self) -> &'static str {
        "test.Protocol"
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, _: CallContext, method: &str, param: Bytes) -> Reply {
        match method {
            "echo" => Reply::Now(Ok(param)),
            _ => Reply::later(std::future::pending()),
        }
    }
}

/// A runtime with a thread of its own.
fn running() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A runtime that polls only during `block_on`.
fn standing() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn server(runtime: &Runtime) -> RpcServer {
    let _within = runtime.enter();
    let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    server.register(Arc::new(Echo));
    server.start().unwrap();
    server
}

fn client(server: &RpcServer, runtime: Option<&Runtime>) -> RpcClient {
    let options = ClientOptions {
        connect_retries: 0,
        rpc_timeout: Duration::from_secs(20),
        runtime: runtime.map(|runtime| runtime.handle().clone()),
        ..ClientOptions::default()
    };
    RpcClient::new(server.local_addr(), "test.Protocol", 1, &User::new("ann"), options)
}

fn message(text: &str) -> UserInformationProto {
    UserInformationProto { effective_user: Some(text.to_owned()), real_user: None }
}

async fn echo(client: &RpcClient) -> Result<String, RpcError> {
    let back: UserInformationProto = client.call("echo", &message("x")).await?;
    Ok(back.effective_user.unwrap_or_default())
}

async fn never(client: RpcClient) -> Result<UserInformationProto, RpcError> {
    client.call("never", &message("x")).await
}

/// Waits on a thread that knows no runtime.
fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// The connection's task was one of the runtime that made the first call: later calls waited for their time limit.
#[test]
fn a_connection_outlives_the_runtime_that_awaited_it_first() {
    let own = running();
    let server = server(&own);
    let client = client(&server, Some(&own));
    let first = standing();
    assert_eq!(first.block_on(echo(&client)).unwrap(), "x");
    // It stands still now.
    assert_eq!(standing().block_on(echo(&client)).unwrap(), "x");
    drop(first);
    assert_eq!(running().block_on(echo(&client)).unwrap(), "x");
}

/// A runtime that stood still in the middle of a connect held the lock for which all other calls wait.
#[test]
fn a_call_that_is_never_polled_again_holds_up_no_other() {
    let own = running();
    let server = server(&own);
    let client = client(&server, Some(&own));
    let first = standing();
    let mut call = Box::pin(echo(&client));
    let polled = first.block_on(async {
        std::future::poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await
    });
    assert!(polled, "the call has to wait for its connection");
    assert_eq!(standing().block_on(echo(&client)).unwrap(), "x");
    assert_eq!(first.block_on(call).unwrap(), "x");
}

#[test]
fn a_call_awaited_outside_a_runtime_is_answered() {
    let own = running();
    let server = server(&own);
    assert_eq!(wait(echo(&client(&server, Some(&own)))).unwrap(), "x");
    let made_on = {
        let _within = own.enter();
        client(&server, None)
    };
    assert_eq!(wait(echo(&made_on)).unwrap(), "x");
    let error = wait(echo(&client(&server, None))).unwrap_err().to_string();
    assert!(error.contains("no tokio runtime"), "{error}");
}

#[test]
fn calls_end_with_the_runtime_of_their_client() {
    let (serving, own) = (running(), running());
    let server = server(&serving);
    let client = client(&server, Some(&own));
    assert_eq!(wait(echo(&client)).unwrap(), "x");
    let call = thread::spawn({
        let client = client.clone();
        move || wait(never(client))
    });
    let began = Instant::now();
    own.shutdown_background();
    assert!(matches!(call.join().unwrap(), Err(RpcError::Io { .. } | RpcError::Connect { .. })));
    let error = wait(echo(&client)).unwrap_err().to_string();
    assert!(error.contains("runtime has ended"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(15), "it waited for the time limit");
}

/// The next call used to send the whole request again, after the part that the server had already read.
#[tokio::test]
async fn a_serial_call_dropped_while_it_is_sent_leaves_the_connection_whole() {
    let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    server.register(Arc::new(Echo));
    server.start().unwrap();
    let mut serial = client(&server, None).serial().await.unwrap();
    let large = message(&"x".repeat(16 << 20));
    {
        let call = serial.call::<_, UserInformationProto>("echo", &large);
        let is_sending = pin!(call).poll(&mut Context::from_waker(Waker::noop())).is_pending();
        assert!(is_sending);
    }
    let back: UserInformationProto = serial.call("echo", &message("next")).await.unwrap();
    assert_eq!(back.effective_user(), "next");
}
