//! The server over real sockets: what strangers may do, and what clients are promised.

use super::{HttpOptions, HttpServer, MinimumRate, Page, RemoteAddress};
use axum::Router;
use axum::body::Bytes;
use axum::routing::get;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Longer than any answer takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(options: HttpOptions) -> (SocketAddr, JoinHandle<Infallible>) {
    let server = HttpServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    let address = server.local_addr();
    let router = Router::new()
        .route("/", get(async || Page::text("hello\n")))
        .route(
            "/slow",
            get(async || {
                tokio::time::sleep(Duration::from_millis(300)).await;
                Page::text("slow\n")
            }),
        )
        .route("/me", get(async |RemoteAddress(remote)| Page::text(remote.to_string())));
    (address, tokio::spawn(server.serve(router).unwrap()))
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all));
    // A server that closes with bytes unread resets the connection.
    let _ = read.await.expect("the server neither answers nor closes");
    String::from_utf8_lossy(&all).into_owned()
}

async fn answer(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(request).await;
    rest(&mut stream).await
}

#[tokio::test]
async fn a_client_that_has_closed_its_sending_side_still_got_no_answer() {
    let (address, _server) = start(HttpOptions::default());
    for path in ["/", "/slow"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let page = rest(&mut stream).await;
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {page}");
        assert!(page.contains("x-content-type-options: nosniff\r\n"), "{page}");
    }
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let (address, _server) = start(HttpOptions::default());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let own_address = stream.local_addr().unwrap().to_string();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut page = Vec::new();
    while !page.ends_with(b"hello\n") {
        let read = tokio::time::timeout(PATIENCE, stream.read_buf(&mut page));
        assert_ne!(read.await.unwrap().unwrap(), 0, "closed");
    }
    let request = b"GET /me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    assert!(rest(&mut stream).await.ends_with(&own_address));
}

#[tokio::test]
async fn strangers_are_refused_or_closed() {
    let (address, server) = start(HttpOptions::default());
    let long = [&b"GET / HTTP/1.1\r\nX: "[..], &vec![b'a'; 1 << 20]].concat();
    let long = answer(address, &long).await;
    assert!(long.is_empty() || long.starts_with("HTTP/1.1 431 "), "{long}");
    assert!(answer(address, b"\xde\xad\xbe\xef\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
    assert!(answer(address, b"POST / HTTP/1.0\r\n\r\n").await.starts_with("HTTP/1.0 405 "));
    assert!(answer(address, b"GET /none HTTP/1.0\r\n\r\n").await.starts_with("HTTP/1.0 404 "));
    let head = answer(address, b"HEAD / HTTP/1.0\r\n\r\n").await;
    assert!(head.contains("content-length: 6\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    let mut open = TcpStream::connect(address).await.unwrap();
    open.write_all(b"GET /").await.unwrap();
    server.abort();
    let _ = server.await;
    assert_eq!(rest(&mut open).await, "", "connections end with the server");
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn silent_connections_make_room_for_others() {
    let idle_max = Duration::from_millis(500);
    let options = HttpOptions { connections_max: 2, idle_max, ..HttpOptions::default() };
    let (address, _server) = start(options);
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut slow = TcpStream::connect(address).await.unwrap();
    let trickle = tokio::spawn(async move {
        // A byte now and then; the head as a whole has a limit.
        while slow.write_all(b"G").await.is_ok() {
            tokio::time::sleep(idle_max / 5).await;
        }
    });
    let request = b"GET / HTTP/1.0\r\n\r\n";
    assert!(answer(address, request).await.ends_with("hello\n"), "after one of them was closed");
    assert_eq!(rest(&mut silent).await, "");
    tokio::time::timeout(PATIENCE, trickle).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_address_has_so_many_connections_and_no_more() {
    let options = HttpOptions { connections_per_address_max: 2, ..HttpOptions::default() };
    let (address, _server) = start(options);
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut page = Vec::new();
        while !page.ends_with(b"hello\n") {
            assert_ne!(stream.read_buf(&mut page).await.unwrap(), 0, "closed");
        }
        kept.push(stream);
    }
    let request = b"GET / HTTP/1.0\r\n\r\n";
    assert_eq!(answer(address, request).await, "");
    kept.pop();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !answer(address, request).await.ends_with("hello\n") {
        assert!(tokio::time::Instant::now() < deadline, "one was closed");
    }
}

/// The idle time begins anew with every byte, so that one connection could be held for ever by a byte a minute.
#[tokio::test]
async fn peers_that_send_or_take_too_little_are_cut() {
    let grace = Duration::from_millis(500);
    let rate_min = MinimumRate { bytes_per_s: 1000, grace };
    let options = HttpOptions { rate_min, ..HttpOptions::default() };
    let server = HttpServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    let address = server.local_addr();
    let huge = async || vec![7; 64 << 20];
    let length = async |body: Bytes| body.len().to_string();
    let router = Router::new().route("/", get(huge).put(length));
    let _server = tokio::spawn(server.serve(router).unwrap());

    let mut sends = TcpStream::connect(address).await.unwrap();
    sends.write_all(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n").await.unwrap();
    let (mut receiving, mut sending) = sends.into_split();
    let trickle = tokio::spawn(async move {
        while sending.write_all(b"x").await.is_ok() {
            tokio::time::sleep(grace / 10).await;
        }
    });
    let mut refused = Vec::new();
    let read = tokio::time::timeout(PATIENCE, receiving.read_to_end(&mut refused)).await;
    read.expect("it is cut").ok();
    assert!(!refused.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&refused));
    tokio::time::timeout(PATIENCE, trickle).await.unwrap().unwrap();

    let mut takes = TcpStream::connect(address).await.unwrap();
    takes.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    tokio::time::sleep(4 * grace).await;
    let mut taken = Vec::new();
    let read = tokio::time::timeout(PATIENCE, takes.read_to_end(&mut taken)).await;
    let read = read.expect("it is cut");
    assert!(read.is_err() || taken.len() < 64 << 20, "all of it came");

    let request = b"PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc";
    assert!(answer(address, request).await.ends_with("\r\n\r\n3"), "others are served");
}

#[tokio::test]
async fn requests_under_way_are_answered_before_the_server_ends() {
    let (begun, mut has_begun) = tokio::sync::mpsc::channel::<()>(1);
    let (go_on, gate) = tokio::sync::watch::channel(false);
    let handler = async move || {
        begun.send(()).await.unwrap();
        gate.clone().wait_for(|open| *open).await.unwrap();
        Page::text("answered\n")
    };
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = HttpServer::bind(address, HttpOptions::default()).unwrap();
    let address = server.local_addr();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = server.serve_until(Router::new().route("/", get(handler)), async {
        _ = stopped.await;
    });
    let serving = tokio::spawn(serving.unwrap());
    // Kept for a next request that does not come.
    let mut idle = TcpStream::connect(address).await.unwrap();
    let asking = tokio::spawn(answer(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    tokio::time::timeout(PATIENCE, has_begun.recv()).await.unwrap().unwrap();
    drop(stop);
    assert_eq!(rest(&mut idle).await, "");
    assert!(!serving.is_finished());
    assert!(TcpStream::connect(address).await.is_err(), "the port is closed");
    go_on.send(true).unwrap();
    let page = tokio::time::timeout(PATIENCE, asking).await.unwrap().unwrap();
    assert!(page.ends_with("answered\n"), "{page}");
    tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap();
}
