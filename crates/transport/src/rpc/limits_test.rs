//! Connections that keep a server waiting, take no answers, or are too many.

use super::server::decode_charged;
use super::*;
use crate::login::User;
use bytes::{Bytes, BytesMut};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zerohop_conf::Conf;
use zerohop_proto::common::{
    IpcConnectionContextProto, RequestHeaderProto, RpcRequestHeaderProto, UserInformationProto,
};
use zerohop_proto::hdfs::datanode::{HeartbeatRequestProto, SlowPeerReportProto};
use zerohop_wire::JavaException;

/// Bytes of an answer.
const ANSWER_LEN: usize = 1 << 20;
/// Longer than any wait here should be.
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts its calls; each has a large answer.
#[derive(Default)]
struct Large {
    calls: AtomicUsize,
}

impl RpcService for Large {
    fn protocol(&self) -> &'static str {
        "test.Large"
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        if method == "beat" {
            let beat = decode_charged::<HeartbeatRequestProto>(&context, param);
            let peers = beat.map(|beat| beat.slow_peers.len().to_string());
            return match peers {
                Ok(count) => Reply::message(&UserInformationProto {
                    effective_user: Some(count),
                    real_user: None,
                }),
                Err(exception) => Reply::exception(exception),
            };
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        let text = "x".repeat(ANSWER_LEN);
        Reply::message(&UserInformationProto { effective_user: Some(text), real_user: None })
    }
}

fn server_with(settings: &[(&str, &str)]) -> (RpcServer, Arc<Large>) {
    let mut conf = Conf::new();
    for (key, value) in settings {
        conf.set(key, *value);
    }
    let options = ServerOptions::from_conf(&conf, 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    let service = Arc::new(Large::default());
    server.register(Arc::clone(&service) as Arc<dyn RpcService>);
    server.start().unwrap();
    (server, service)
}

async fn connect(server: &RpcServer, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.local_addr()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// Waits until the server closes.
async fn closed(mut stream: TcpStream) {
    let mut rest = Vec::new();
    // What was unread makes the close a reset.
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(read.is_ok(), "the connection is still open");
}

fn header(call_id: i32) -> RpcRequestHeaderProto {
    RpcRequestHeaderProto {
        rpc_kind: Some(2),
        rpc_op: Some(0),
        call_id,
        client_id: Bytes::from_static(&[7; 16]),
        ..Default::default()
    }
}

/// What a client sends first.
fn introduction() -> BytesMut {
    let mut out = BytesMut::from(&preamble::SIMPLE[..]);
    let context = IpcConnectionContextProto {
        user_info: Some(UserInformationProto {
            effective_user: Some("ann".into()),
            real_user: None,
        }),
        protocol: Some("test.Large".into()),
    };
    let body = prost::Message::encode_to_vec(&context);
    frame::put(&mut out, &header(special_call::CONNECTION_CONTEXT), Some(&body));
    out
}

fn request(call_id: i32) -> BytesMut {
    let method = RequestHeaderProto {
        method_name: "large".into(),
        declaring_class_protocol_name: "test.Large".into(),
        client_protocol_version: 1,
    };
    let mut out = BytesMut::new();
    frame::put(&mut out, &header(call_id), Some(&prost::Message::encode_to_vec(&method)));
    out
}

const SHORT: (&str, &str) = ("zerohop.ipc.server.handshake.timeout.ms", "200");

/// Connections without a preamble stayed for ever.
#[tokio::test]
async fn a_connection_that_never_speaks_stayed_open() {
    let (server, _) = server_with(&[SHORT]);
    let mut begun = introduction();
    begun.truncate(preamble::LEN + 3);
    let mut part = introduction();
    part.extend_from_slice(&request(1)[..5]);
    for sent in [&b""[..], b"hrp", &preamble::SIMPLE, &begun, &part] {
        closed(connect(&server, sent).await).await;
    }
    // Who has said who he is, and owes nothing, stays.
    let mut idle = connect(&server, &introduction()).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    idle.write_all(&request(1)).await.unwrap();
    let mut answer = vec![0; ANSWER_LEN];
    tokio::time::timeout(PATIENCE, idle.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(server.connections(), 1);
}

/// The answers of a client that does not read waited for ever.
#[tokio::test]
async fn answers_that_nobody_reads_were_kept_for_ever() {
    const CALLS: i32 = 2000;
    let (server, service) = server_with(&[("ipc.server.purge.interval", "500ms")]);
    let mut sent = introduction();
    (0..CALLS).for_each(|id| sent.extend_from_slice(&request(id)));
    let stream = connect(&server, &sent).await;
    let gone = async {
        while server.connections() > 0 || service.calls.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, gone).await.is_ok(), "the connection is still open");
    // The sockets' buffers hold some answers, and one is on its way.
    let calls = service.calls.load(Ordering::Relaxed);
    assert!(calls < 200, "{calls} answers of a megabyte were made");
    drop(stream);
}

/// Nothing but the system limited them: others had no descriptors left for edits and blocks.
#[tokio::test]
async fn connections_were_not_limited() {
    let (server, _) = server_with(&[("ipc.server.max.connections", "2")]);
    let first = connect(&server, &introduction()).await;
    let _second = connect(&server, &introduction()).await;
    let until = async |count| {
        while server.connections() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, until(2)).await.unwrap();
    closed(connect(&server, b"").await).await;
    assert_eq!(server.connections(), 2);
    drop(first);
    tokio::time::timeout(PATIENCE, until(1)).await.unwrap();
    let client = RpcClient::new(
        server.local_addr(),
        "test.Large",
        1,
        &User::new("ann"),
        ClientOptions::default(),
    );
    let nothing = UserInformationProto::default();
    let answer: UserInformationProto = client.call("large", &nothing).await.unwrap();
    assert_eq!(answer.effective_user().len(), ANSWER_LEN);
    let limit = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap().connections_max;
    assert!(limit > 0 && limit < usize::MAX, "{limit}");
}

/// Frames of at most 4 MB; one address may have two of them, and a third one while others wait. Connections may be silent as
/// long as they like.
const SMALL: [(&str, &str); 4] = [
    ("ipc.maximum.data.length", "4194304"),
    ("zerohop.ipc.server.request.memory.max", "16m"),
    ("zerohop.ipc.server.handshake.timeout.ms", "0"),
    ("ipc.client.connection.idle-scan-interval.ms", "20"),
];
const SHARE: usize = 12 << 20;

fn client(server: &RpcServer) -> RpcClient {
    let (user, options) = (User::new("ann"), ClientOptions::default());
    RpcClient::new(server.local_addr(), "test.Large", 1, &user, options)
}

/// Returns the introduction and a frame of `len` bytes without its last one.
fn unfinished(len: usize) -> Vec<u8> {
    let mut sent = introduction().to_vec();
    sent.extend_from_slice(&(len as u32).to_be_bytes());
    sent.resize(sent.len() + len - 1, 0);
    sent
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while !is_so() {
        assert!(std::time::Instant::now() < end, "no {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Twelve silent connections held 1.2 GB: a frame as large as any was buffered before it was known whose it is.
#[tokio::test]
async fn large_frames_were_buffered_before_the_connection_context() {
    let (server, _) = server_with(&SMALL);
    let mut sent = preamble::SIMPLE.to_vec();
    sent.extend_from_slice(&(100_000_u32).to_be_bytes());
    for _ in 0..12 {
        closed(connect(&server, &sent).await).await;
    }
    assert_eq!(server.request_memory(), 0);
    let mut context = introduction();
    frame::put(&mut context, &header(special_call::SASL), Some(&vec![0; 100_000]));
    closed(connect(&server, &context).await).await;
}

/// Each connection buffered a frame of its own, without a sum.
#[tokio::test]
async fn frames_of_many_connections_had_no_bound_together() {
    let (server, service) = server_with(&SMALL);
    let mut silent = Vec::new();
    for _ in 0..12 {
        let mut stream = TcpStream::connect(server.local_addr()).await.unwrap();
        silent.push(tokio::spawn(async move {
            // The server does not read connections without room.
            _ = stream.write_all(&unfinished(4 << 20)).await;
            std::future::pending::<()>().await;
        }));
    }
    until("full share", || server.request_memory() >= 8 << 20).await;
    assert!(server.request_memory() <= SHARE, "{}", server.request_memory());

    // Small calls are served. A large one waits for room.
    let client = client(&server);
    let nothing = UserInformationProto::default();
    let _: UserInformationProto = client.call("large", &nothing).await.unwrap();
    let large = UserInformationProto { effective_user: Some("x".repeat(3 << 20)), real_user: None };
    let waits = tokio::spawn(async move {
        client.call::<_, UserInformationProto>("large", &large).await.is_ok()
    });
    assert!(server.request_memory() <= SHARE);
    assert_eq!(service.calls.load(Ordering::Relaxed), 1);
    silent.iter().for_each(|task| task.abort());
    assert!(tokio::time::timeout(PATIENCE, waits).await.unwrap().unwrap());
    until("room", || server.request_memory() == 0).await;
}

/// A byte every few seconds used to keep the charge of a frame.
#[tokio::test]
async fn a_byte_now_and_then_held_the_room_for_a_frame() {
    let (server, _) = server_with(&[SMALL[0], SMALL[1], SHORT]);
    let mut stream = connect(&server, &unfinished(3 << 20)[..2 << 20]).await;
    until("charge", || server.request_memory() > 0).await;
    let (mut receiving, mut sending) = stream.split();
    let trickle = async {
        while sending.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let mut rest = Vec::new();
    tokio::select! {
        () = trickle => {}
        _ = receiving.read_to_end(&mut rest) => {}
        () = tokio::time::sleep(PATIENCE) => panic!("it is still open"),
    }
    until("room", || server.request_memory() == 0).await;
}

/// Sends most of a frame, and then 64 KB each 200 ms. Returns `true` if the server closed the connection before the end.
async fn is_too_slow(server: &RpcServer) -> bool {
    // Two of them are an address's share of the room.
    let all = unfinished((4 << 20) - 64);
    let (begin, rest) = all.split_at(3 << 20);
    let mut stream = connect(server, begin).await;
    for piece in rest.chunks(64 << 10) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        if stream.write_all(piece).await.is_err() {
            return true;
        }
    }
    false
}

/// Four connections with 64 KB a minute kept the large requests of all others away for a day.
#[tokio::test]
async fn slow_frames_held_the_room_that_others_waited_for() {
    let limit = (SHORT.0, "1000");
    let (server, _) = server_with(&[SMALL[0], SMALL[1], limit, SMALL[3]]);
    let others = async {
        until("share", || server.request_memory() >= (8 << 20) - 200).await;
        // The first has the room that is kept in reserve.
        let mut wait = std::collections::VecDeque::new();
        loop {
            wait.push_back(connect(&server, &unfinished(4 << 20)[..100_000]).await);
            tokio::time::sleep(Duration::from_millis(100)).await;
            if wait.len() > 3 {
                wait.pop_front();
            }
        }
    };
    let slow = async { tokio::join!(is_too_slow(&server), is_too_slow(&server)) };
    tokio::select! {
        // When one was closed, there may be room for all that wait.
        closed = slow => assert!(closed.0 || closed.1),
        () = others => unreachable!(),
    }
}

/// 60 MB of empty messages decoded to 2.7 GB.
#[tokio::test]
async fn requests_were_decoded_whatever_memory_that_took() {
    let (server, _) = server_with(&SMALL);
    let beat = |count| HeartbeatRequestProto {
        slow_peers: vec![SlowPeerReportProto::default(); count],
        ..HeartbeatRequestProto::default()
    };
    let client = client(&server);
    let decoded: UserInformationProto = client.call("beat", &beat(30_000)).await.unwrap();
    assert_eq!(decoded.effective_user(), "30000");
    let refused = client.call::<_, UserInformationProto>("beat", &beat(60_000)).await.unwrap_err();
    assert_eq!(refused.remote_kind(), Some(JavaException::RpcServer), "{refused}");
    assert!(refused.to_string().contains("zerohop.ipc.server.request.memory.max"), "{refused}");

    let silent = connect(&server, &unfinished(4 << 20)).await;
    until("charge", || server.request_memory() >= 4 << 20).await;
    let later = client.call::<_, UserInformationProto>("beat", &beat(30_000)).await.unwrap_err();
    assert_eq!(later.remote_kind(), Some(JavaException::Retriable), "{later}");
    drop(silent);
    until("room", || server.request_memory() == 0).await;
    let _: UserInformationProto = client.call("beat", &beat(30_000)).await.unwrap();
}

#[test]
fn room_for_less_than_two_frames_is_refused() {
    let mut conf = Conf::new();
    let max = |conf: &Conf| ServerOptions::from_conf(conf, 0, 1).map(|it| it.request_memory_max);
    assert_eq!(max(&conf).unwrap(), 512 << 20);
    conf.set("zerohop.ipc.server.request.memory.max", "256m");
    assert_eq!(max(&conf).unwrap(), 256 << 20);
    conf.set("zerohop.ipc.server.request.memory.max", "255m");
    let refused = max(&conf).unwrap_err().to_string();
    assert!(refused.contains("zerohop.ipc.server.request.memory.max"), "{refused}");
}
