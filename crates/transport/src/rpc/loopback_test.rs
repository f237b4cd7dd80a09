//! Our client against our server, and raw bytes against our server.

use super::server::{decode_param, no_such_method};
use super::*;
use crate::login::User;
use bytes::{Bytes, BytesMut};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use zerohop_conf::Conf;
use zerohop_proto::common::rpc_response_header_proto::{RpcErrorCodeProto, RpcStatusProto};
use zerohop_proto::common::{RpcResponseHeaderProto, RpcSaslProto, UserInformationProto};
use zerohop_proto::decode_delimited;
use zerohop_wire::{JavaException, RemoteException};

const PROTOCOL: &str = "test.Protocol";

/// Answers with what the call says, or with who calls, at once or when the gate opens.
struct Echo {
    gate: Arc<Semaphore>,
}

impl RpcService for Echo {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        match method {
            "echo" => Reply::Now(Ok(param)),
            "gated" => Reply::later(async move {
                let pass = self.gate.acquire().await;
                pass.map(|_| param).map_err(|e| JavaException::Io.with(e.to_string()))
            }),
            "whoami" => Reply::message(&UserInformationProto {
                effective_user: Some(context.identity.user().to_string()),
                real_user: context.identity.real_user().map(|user| user.to_string()),
            }),
            "fail" => Reply::exception(JavaException::FileNotFound.with("no /x")),
            "panic" => panic!("as a bug would"),
            "panic later" => Reply::later(async { panic!("as a bug would, later") }),
            "checked" => Reply::Now(decode_param::<RpcSaslProto>(param).map(|_| Bytes::new())),
            _ => Reply::exception(no_such_method(&context.connection_protocol, method)),
        }
    }
}

fn server_with(settings: &[(&str, &str)]) -> (RpcServer, Arc<Semaphore>) {
    let mut conf = Conf::new();
    for (key, value) in settings {
        conf.set(key, *value);
    }
    let options = ServerOptions::from_conf(&conf, 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    let gate = Arc::new(Semaphore::new(0));
    server.register(Arc::new(Echo { gate: Arc::clone(&gate) }));
    server.start().unwrap();
    (server, gate)
}

fn client_as(server: &RpcServer, protocol: &'static str, version: u64, user: &User) -> RpcClient {
    let options = ClientOptions { connect_retries: 0, ..ClientOptions::default() };
    RpcClient::new(server.local_addr(), protocol, version, user, options)
}

fn client(server: &RpcServer) -> RpcClient {
    client_as(server, PROTOCOL, 1, &User::new("ann"))
}

async fn echo(client: &RpcClient, text: &str) -> Result<String, RpcError> {
    let sent = UserInformationProto { effective_user: Some(text.to_owned()), real_user: None };
    let back: UserInformationProto = client.call("echo", &sent).await?;
    Ok(back.effective_user.unwrap_or_default())
}

fn exception(result: Result<impl Sized, RpcError>) -> RemoteException {
    match result {
        Err(RpcError::Remote(exception)) => exception,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("an answer"),
    }
}

#[tokio::test]
async fn calls_are_answered_by_name() {
    let (server, _) = server_with(&[]);
    let client = client(&server);
    assert_eq!(echo(&client, "hello").await.unwrap(), "hello");
    let me: UserInformationProto =
        client.call("whoami", &UserInformationProto::default()).await.unwrap();
    assert_eq!(me.effective_user(), "ann");
    let nothing = UserInformationProto::default();
    let failed = exception(client.call::<_, UserInformationProto>("fail", &nothing).await);
    assert_eq!(failed, JavaException::FileNotFound.with("no /x"));
    let failed = exception(client.call::<_, UserInformationProto>("none", &nothing).await);
    assert_eq!(failed.kind(), Some(JavaException::RpcNoSuchMethod));
    let failed = exception(client.call::<_, UserInformationProto>("checked", &nothing).await);
    assert!(failed.message.contains("missing required fields: state"), "{failed}");
    server.stop().await;
    assert!(matches!(
        echo(&client, "gone").await,
        Err(RpcError::Io { .. } | RpcError::Connect { .. })
    ));
}

/// The connection's other calls go on.
#[tokio::test]
async fn a_panic_in_a_call_is_an_error_of_that_call() {
    let (server, gate) = server_with(&[]);
    let client = client(&server);
    let waiting = tokio::spawn({
        let client = client.clone();
        async move {
            client.call::<_, UserInformationProto>("gated", &UserInformationProto::default()).await
        }
    });
    for method in ["panic", "panic later"] {
        let nothing = UserInformationProto::default();
        let failed = exception(client.call::<_, UserInformationProto>(method, &nothing).await);
        assert!(failed.message.contains("a panic"), "{failed}");
    }
    assert_eq!(echo(&client, "hello").await.unwrap(), "hello");
    gate.add_permits(1);
    assert!(waiting.await.unwrap().is_ok());
    server.stop().await;
}

#[tokio::test]
async fn unknown_protocols_and_versions_are_told_apart() {
    let (server, _) = server_with(&[]);
    let user = User::new("ann");
    let failed = exception(echo(&client_as(&server, "no.Such", 1, &user), "x").await);
    assert_eq!(failed.kind(), Some(JavaException::RpcNoSuchProtocol));
    let failed = exception(echo(&client_as(&server, PROTOCOL, 2, &user), "x").await);
    assert_eq!(failed.message, "Protocol test.Protocol version mismatch. (client = 2, server = 1)");
}

#[tokio::test]
async fn a_waiting_call_holds_up_no_other() {
    let (server, gate) = server_with(&[]);
    let client = client(&server);
    let gated: Vec<_> = (0..50)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                let sent =
                    UserInformationProto { effective_user: Some(n.to_string()), real_user: None };
                let back: UserInformationProto = client.call("gated", &sent).await.unwrap();
                back.effective_user.unwrap()
            })
        })
        .collect();
    while server.waiting_calls() < 50 {
        tokio::task::yield_now().await;
    }
    assert_eq!(echo(&client, "through").await.unwrap(), "through");
    assert_eq!(server.connections(), 1);
    gate.add_permits(1);
    let mut answers = HashSet::new();
    for call in gated {
        answers.insert(call.await.unwrap());
    }
    assert_eq!(answers.len(), 50);
    assert_eq!(server.waiting_calls(), 0);
}

/// An answer that nobody waits for any more is not taken for the next call's.
#[tokio::test]
async fn a_serial_connection_passes_over_answers_of_dropped_calls() {
    let (server, gate) = server_with(&[]);
    let client = client_as(&server, PROTOCOL, 1, &User::new("alice"));
    let mut serial = client.serial().await.unwrap();
    let who: UserInformationProto = serial.call("whoami", &asked("")).await.unwrap();
    assert_eq!(who.effective_user(), "alice");
    let waits = async {
        while server.waiting_calls() == 0 {
            tokio::task::yield_now().await;
        }
    };
    let gated = asked("lost");
    tokio::select! {
        lost = serial.call::<_, UserInformationProto>("gated", &gated) => panic!("{lost:?}"),
        () = waits => {}
    }
    gate.add_permits(1);
    for text in ["one", "two"] {
        let answer: UserInformationProto = serial.call("echo", &asked(text)).await.unwrap();
        assert_eq!(answer.effective_user(), text);
    }
    let refused = serial.call::<_, UserInformationProto>("fail", &asked("")).await;
    assert_eq!(refused.unwrap_err().remote_kind(), Some(JavaException::FileNotFound));
    server.stop().await;
    let broken = serial.call::<_, UserInformationProto>("echo", &asked("")).await;
    assert!(matches!(broken, Err(RpcError::Io { .. })), "{broken:?}");
}

fn asked(text: &str) -> UserInformationProto {
    UserInformationProto { effective_user: Some(text.to_owned()), real_user: None }
}

#[tokio::test]
async fn large_messages_cross_in_both_directions() {
    let (server, _) = server_with(&[]);
    let text = "x".repeat(5 << 20);
    assert_eq!(echo(&client(&server), &text).await.unwrap(), text);
}

/// A call that fills the server's queue until the gate opens; gives whether it was answered.
async fn waiting_call(server: &RpcServer, client: &RpcClient) -> tokio::task::JoinHandle<bool> {
    let (client, request) = (client.clone(), UserInformationProto::default());
    let call = async move { client.call::<_, UserInformationProto>("gated", &request).await };
    let call = tokio::spawn(async { call.await.is_ok() });
    while server.waiting_calls() < 1 {
        tokio::task::yield_now().await;
    }
    call
}

#[tokio::test]
async fn a_full_server_tells_clients_to_come_back() {
    let (server, gate) =
        server_with(&[("ipc.backoff.enable", "true"), ("ipc.server.handler.queue.size", "1")]);
    let client = client(&server);
    let waits = waiting_call(&server, &client).await;
    let refused = exception(echo(&client, "x").await);
    assert_eq!(refused.kind(), Some(JavaException::Retriable));
    gate.add_permits(1);
    assert!(waits.await.unwrap());
    assert!(echo(&client, "x").await.is_ok());
}

/// The key was obeyed by fair queues only.
#[tokio::test]
async fn a_full_server_sends_clients_to_another_one_if_it_is_told_to() {
    let (server, gate) = server_with(&[
        ("ipc.backoff.enable", "true"),
        ("ipc.callqueue.overflow.trigger.failover", "true"),
        ("ipc.server.handler.queue.size", "1"),
    ]);
    let client = client(&server);
    let waits = waiting_call(&server, &client).await;
    let refused = echo(&client, "x").await.unwrap_err();
    assert!(refused.to_string().contains("disconnect and failover"), "{refused}");
    gate.add_permits(1);
    // As by Apache's server, the connection is closed with all that waits on it.
    assert!(!waits.await.unwrap());
}

#[test]
fn a_backoff_that_is_neither_on_nor_off_is_refused() {
    for key in ["ipc.backoff.enable", "ipc.8020.backoff.enable"] {
        let mut conf = Conf::new();
        conf.set(key, "yes");
        let refused = ServerOptions::from_conf(&conf, 8020, 1).unwrap_err();
        assert!(refused.to_string().contains(key), "{refused}");
        conf.set(key, "true");
        assert!(ServerOptions::from_conf(&conf, 8020, 1).unwrap().backoff);
        assert_eq!(
            ServerOptions::from_conf(&conf, 9000, 1).unwrap().backoff,
            !key.contains("8020")
        );
    }
}

#[tokio::test]
async fn a_full_server_without_back_off_answers_in_the_end() {
    let (server, gate) = server_with(&[("ipc.server.handler.queue.size", "1")]);
    let client = client(&server);
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let nothing = UserInformationProto::default();
                client.call::<_, UserInformationProto>("gated", &nothing).await
            })
        })
        .collect();
    while server.waiting_calls() < 1 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn proxies_act_for_others_only_where_allowed() {
    let (server, _) = server_with(&[
        ("hadoop.proxyuser.hue.users", "ann"),
        ("hadoop.proxyuser.hue.hosts", "127.0.0.1"),
    ]);
    let allowed = client_as(&server, PROTOCOL, 1, &User::proxied("ann", "hue"));
    let me: UserInformationProto =
        allowed.call("whoami", &UserInformationProto::default()).await.unwrap();
    assert_eq!((me.effective_user(), me.real_user()), ("ann", "hue"));
    let refused = client_as(&server, PROTOCOL, 1, &User::proxied("root", "hue"));
    let refused = exception(echo(&refused, "x").await);
    assert_eq!(refused.message, "User: hue is not allowed to impersonate root");
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let (server, _) = server_with(&[]);
    let client = client(&server);
    assert!(echo(&client, "a").await.is_ok());
    client.disconnect();
    assert!(echo(&client, "b").await.is_ok());
}

/// Calls that waited while another one tried to connect tried all of it again, one after another.
#[tokio::test]
async fn calls_that_wait_for_a_connection_share_its_failure() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let options = ClientOptions {
        connect_retries: 3,
        connect_retry_interval: Duration::from_millis(100),
        ..ClientOptions::default()
    };
    let client = RpcClient::new(nobody, PROTOCOL, 1, &User::new("ann"), options);
    let start = std::time::Instant::now();
    let calls: Vec<_> = (0..30)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { echo(&client, "x").await })
        })
        .collect();
    for call in calls {
        let refused = call.await.unwrap();
        let Err(RpcError::Connect { source, .. }) = &refused else { panic!("{refused:?}") };
        assert_eq!(source.kind(), std::io::ErrorKind::ConnectionRefused);
    }
    // 300 ms each, 9 s one after another.
    let together = start.elapsed();
    assert!(together < Duration::from_secs(4), "{together:?}");
    // A call that comes after that tries for itself.
    let before = std::time::Instant::now();
    assert!(echo(&client, "x").await.is_err());
    assert!(before.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_connect_time_out_of_zero_is_none() {
    let (server, _) = server_with(&[]);
    let options = ClientOptions { connect_timeout: Duration::ZERO, ..ClientOptions::default() };
    let client = RpcClient::new(server.local_addr(), PROTOCOL, 1, &User::new("ann"), options);
    assert_eq!(echo(&client, "x").await.unwrap(), "x");
}

fn impatient(addr: SocketAddr, rpc_timeout: Duration) -> RpcClient {
    let options = ClientOptions { connect_retries: 0, rpc_timeout, ..ClientOptions::default() };
    RpcClient::new(addr, PROTOCOL, 1, &User::new("ann"), options)
}

/// The server's machine is gone without a word: every later call waited for nothing, too.
#[tokio::test]
async fn a_connection_that_is_silent_is_not_used_after_a_time_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = impatient(listener.local_addr().unwrap(), Duration::from_millis(200));
    let mut silent = Vec::new();
    for _ in 0..2 {
        let call = echo(&client, "x");
        let accepted = tokio::time::timeout(Duration::from_secs(5), listener.accept());
        let (answer, accepted) = tokio::join!(call, accepted);
        assert!(matches!(answer, Err(RpcError::Timeout { .. })), "{answer:?}");
        silent.push(accepted.expect("a connection of its own").unwrap());
    }
}

/// A call that waits on the same connection gets its answer after another one's time-out.
#[tokio::test]
async fn a_connection_that_answers_other_calls_outlives_a_time_out() {
    const LIMIT: Duration = Duration::from_secs(6);
    let (server, gate) = server_with(&[]);
    let client = impatient(server.local_addr(), LIMIT);
    let wait = |text| {
        let client = client.clone();
        tokio::spawn(
            async move { client.call::<_, UserInformationProto>("gated", &asked(text)).await },
        )
    };
    let (start, first) = (std::time::Instant::now(), wait("first"));
    while start.elapsed() < LIMIT / 2 {
        assert!(echo(&client, "x").await.is_ok());
    }
    let second = wait("second");
    while !first.is_finished() {
        assert!(echo(&client, "x").await.is_ok());
    }
    gate.add_permits(2);
    let first = first.await.unwrap();
    assert!(matches!(first, Err(RpcError::Timeout { .. })), "{first:?}");
    assert_eq!(second.await.unwrap().unwrap(), asked("second"));
}

/// Sends raw bytes and reads until the server closes.
async fn raw(server: &RpcServer, bytes: &[u8]) -> BytesMut {
    let mut stream = TcpStream::connect(server.local_addr()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = BytesMut::new();
    let read_all = async { while stream.read_buf(&mut answer).await.unwrap_or(0) > 0 {} };
    tokio::time::timeout(Duration::from_secs(10), read_all).await.unwrap();
    answer
}

fn fatal(mut answer: BytesMut) -> RpcResponseHeaderProto {
    let mut frame = frame::take(&mut answer, 10_000).unwrap().unwrap();
    let header: RpcResponseHeaderProto = decode_delimited(&mut frame).unwrap();
    assert_eq!(header.status(), RpcStatusProto::Fatal);
    header
}

#[tokio::test]
async fn bad_bytes_get_a_clear_answer_and_a_closed_connection() {
    let (server, _) = server_with(&[]);
    let healthy = client(&server);
    assert!(echo(&healthy, "before").await.is_ok());

    let http = raw(&server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(http.starts_with(b"HTTP/1.1 404 Not Found\r\n"));

    let header = fatal(raw(&server, b"hrpc\x0a\x00\x00").await);
    assert_eq!(header.error_detail(), RpcErrorCodeProto::FatalVersionMismatch);

    let header = fatal(raw(&server, b"hrpc\x09\x00\x00\x00\x00\x00\x02\x01\xff").await);
    assert_eq!(header.error_detail(), RpcErrorCodeProto::FatalDeserializingRequest);
    let header = fatal(raw(&server, b"hrpc\x09\x00\x00\x00\x00\x00\x00").await);
    assert_eq!(header.error_detail(), RpcErrorCodeProto::FatalDeserializingRequest);

    assert!(raw(&server, b"hrpc\x09\x00\x00\x7f\xff\xff\xff").await.is_empty());
    assert!(raw(&server, b"hrpc\x09\x00\x00\xff\xff\xff\xff").await.is_empty());

    assert!(echo(&healthy, "after").await.is_ok());
}

/// A name goes into caches, logs and files; one of a megabyte is none.
#[tokio::test]
async fn user_names_have_a_longest_length() {
    let (server, _) = server_with(&[]);
    for (len, is_good) in [(1024, true), (1025, false)] {
        let client = client_as(&server, PROTOCOL, 1, &User::new("u".repeat(len)));
        assert_eq!(echo(&client, "x").await.is_ok(), is_good, "{len}");
    }
    let real = client_as(&server, PROTOCOL, 1, &User::proxied("ann", "r".repeat(1025)));
    let refused = exception(echo(&real, "x").await);
    assert!(refused.message.contains("at most 1024"), "{refused}");
}

#[tokio::test]
async fn a_call_before_the_context_is_refused() {
    let (server, _) = server_with(&[]);
    let header = zerohop_proto::common::RpcRequestHeaderProto {
        rpc_kind: Some(2),
        rpc_op: Some(0),
        call_id: 7,
        ..Default::default()
    };
    let mut bytes = BytesMut::from(&preamble::SIMPLE[..]);
    frame::put(&mut bytes, &header, Some(b""));
    let answer = fatal(raw(&server, &bytes).await);
    assert_eq!(answer.error_msg(), "Connection context not established");
    assert_eq!(answer.call_id, 7);
}

#[tokio::test]
async fn sasl_ends_in_simple() {
    let (server, _) = server_with(&[]);
    let negotiate = RpcSaslProto { state: 1, ..Default::default() };
    let header = zerohop_proto::common::RpcRequestHeaderProto {
        rpc_kind: Some(2),
        rpc_op: Some(0),
        call_id: special_call::SASL,
        ..Default::default()
    };
    let mut bytes = BytesMut::from(&b"hrpc\x09\x00\xdf"[..]);
    frame::put(&mut bytes, &header, Some(&prost::Message::encode_to_vec(&negotiate)));
    let mut stream = TcpStream::connect(server.local_addr()).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let mut answer = BytesMut::new();
    let mut frame = loop {
        stream.read_buf(&mut answer).await.unwrap();
        if let Some(frame) = frame::take(&mut answer, 1000).unwrap() {
            break frame;
        }
    };
    let header: RpcResponseHeaderProto = decode_delimited(&mut frame).unwrap();
    assert_eq!(header.call_id as i32, special_call::SASL);
    let message: RpcSaslProto = decode_delimited(&mut frame).unwrap();
    assert_eq!(message.state, 0);
}
