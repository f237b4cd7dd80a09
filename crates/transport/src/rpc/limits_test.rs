//! Connections that keep a server waiting, take no answers, or are too many.

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

    fn call(self: Arc<Self>, _: CallContext, _: &str, _: Bytes) -> Reply {
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
