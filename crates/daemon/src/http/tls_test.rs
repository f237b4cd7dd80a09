//! The server with TLS, over real sockets.

use super::tls::tests::{SECOND, of_first_with, replace};
use super::{Encrypted, HttpOptions, HttpServer, Page, RemoteAddress, TlsVersions};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::routing::any;
use http_body::Frame;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Answers with what it was asked, and whether by TLS; sends bodies back.
async fn echo(RemoteAddress(remote): RemoteAddress, request: Request) -> axum::response::Response {
    use axum::response::IntoResponse;
    let (parts, body) = request.into_parts();
    if parts.method == "PUT" {
        return body.into_response();
    }
    let encrypted = parts.extensions.get::<Encrypted>().is_some();
    let address = remote.ip();
    Page::text(format!("{:?} {encrypted} {address}\n", parts.version)).into_response()
}

fn start(directory: &Path) -> SocketAddr {
    start_with(
        directory,
        TlsVersions::ALL,
        HttpOptions::default(),
        Router::new().fallback(any(echo)),
    )
}

fn start_with(
    directory: &Path,
    versions: TlsVersions,
    options: HttpOptions,
    router: Router,
) -> SocketAddr {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = HttpServer::bind(address, options).unwrap();
    let server = server.with_tls(of_first_with(directory, versions));
    let address = server.local_addr();
    tokio::spawn(server.serve(router).unwrap());
    address
}

type Http2 = hyper::client::conn::http2::SendRequest<Body>;

/// Connects a client that accepts `window` bytes of an answer unread. Returns also the task that ends with its connection.
async fn connect_by_http_2(
    directory: &Path,
    address: SocketAddr,
    window: u32,
) -> (Http2, JoinHandle<hyper::Result<()>>) {
    let stream = connect(directory, address, b"h2").await.unwrap();
    let mut http_2 = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    http_2.initial_stream_window_size(window);
    let (requests, connection) = http_2.handshake(TokioIo::new(stream)).await.unwrap();
    (requests, tokio::spawn(connection))
}

fn get(path: &str) -> hyper::Request<Body> {
    let uri = format!("https://localhost{path}");
    hyper::Request::builder().uri(uri).body(Body::empty()).unwrap()
}

/// Clients answer pings without being asked: the server's own kept each connection for ever.
#[tokio::test]
async fn the_pings_of_the_server_kept_an_idle_http_2_connection() {
    let directory = tempfile::tempdir().unwrap();
    let idle_max = Duration::from_millis(300);
    let options = HttpOptions { idle_max, ..HttpOptions::default() };
    let slow = async move || {
        tokio::time::sleep(3 * idle_max).await;
        "slow"
    };
    let large = async || vec![7; 4 << 20];
    let length = async |body: Bytes| body.len().to_string();
    let router = Router::new()
        .route("/slow", any(slow))
        .route("/large", any(large))
        .route("/length", any(length));
    let address = start_with(directory.path(), TlsVersions::ALL, options, router);
    let patience = Duration::from_secs(60);

    // The pings may keep a connection whose request takes longer than silence may.
    let (mut requests, connection) = connect_by_http_2(directory.path(), address, 1 << 16).await;
    let answer = requests.send_request(get("/slow")).await.unwrap();
    assert_eq!(to_bytes(Body::new(answer.into_body()), 100).await.unwrap(), "slow");
    let ended = tokio::time::timeout(patience, connection).await;
    ended.expect("an idle connection is closed").unwrap().ok();
    drop(requests);

    // A client that does not take its answer, and one that does not send its body.
    let (mut takes_none, connection) = connect_by_http_2(directory.path(), address, 1 << 16).await;
    let answer = takes_none.send_request(get("/large")).await.unwrap();
    let ended = tokio::time::timeout(patience, connection).await;
    ended.expect("a stalled answer is given up").unwrap().ok();
    drop((answer, takes_none));

    let (mut sends_none, connection) = connect_by_http_2(directory.path(), address, 1 << 16).await;
    let request = hyper::Request::put("https://localhost/length").body(Body::new(Never)).unwrap();
    let answer = tokio::spawn(sends_none.send_request(request));
    let ended = tokio::time::timeout(patience, connection).await;
    ended.expect("a stalled request is given up").unwrap().ok();
    assert!(answer.await.unwrap().is_err());
}

/// The body of a client that sends nothing more.
struct Never;

impl HttpBody for Never {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

/// Connects as a client that trusts the certificate in `directory`.
async fn connect(
    directory: &Path,
    address: SocketAddr,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    let trusted = CertificateDer::from_pem_file(directory.join("certificate.pem")).unwrap();
    roots.add(trusted).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

async fn get_by_http_1(stream: &mut TlsStream<TcpStream>) -> String {
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut page = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut page));
    read.await.unwrap().unwrap();
    String::from_utf8(page).unwrap()
}

#[tokio::test]
async fn http_1_and_http_2_are_spoken_by_tls_and_plain_text_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let address = start(directory.path());
    let mut http_1 = connect(directory.path(), address, b"http/1.1").await.unwrap();
    let page = get_by_http_1(&mut http_1).await;
    assert!(page.ends_with("HTTP/1.1 true 127.0.0.1\n"), "{page}");

    let http_2 = connect(directory.path(), address, b"h2").await.unwrap();
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(http_2));
    let (mut requests, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    let request = |method, body| {
        let uri = "https://localhost/";
        hyper::Request::builder().method(method).uri(uri).body(body).unwrap()
    };
    let page = requests.send_request(request("GET", Body::empty())).await.unwrap();
    let page = to_bytes(Body::new(page.into_body()), 1000).await.unwrap();
    assert_eq!(page, "HTTP/2.0 true 127.0.0.1\n");
    let long: Vec<u8> = (0..9_000_000u32).map(|at| (at % 251) as u8).collect();
    let echoed = requests.send_request(request("PUT", Body::from(long.clone()))).await.unwrap();
    assert!(to_bytes(Body::new(echoed.into_body()), 10 << 20).await.unwrap() == long);

    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "an alert at most");
}

#[tokio::test]
async fn a_renewed_certificate_is_that_of_the_next_connection() {
    let directory = tempfile::tempdir().unwrap();
    let address = start(directory.path());
    let mut before = connect(directory.path(), address, b"http/1.1").await.unwrap();
    replace(directory.path(), SECOND);
    let mut after = connect(directory.path(), address, b"http/1.1").await.unwrap();
    for stream in [&mut before, &mut after] {
        assert!(get_by_http_1(stream).await.contains("200 OK"));
    }
}

/// Every port spoke TLS 1.2 and 1.3, whatever `hadoop.ssl.enabled.protocols` said.
#[tokio::test]
async fn a_version_of_tls_that_is_not_enabled_was_spoken() {
    use tokio_rustls::rustls::ProtocolVersion::{TLSv1_2, TLSv1_3};
    let directory = tempfile::tempdir().unwrap();
    for (names, spoken) in
        [(&["TLSv1.2"][..], TLSv1_2), (&["TLSv1.3"], TLSv1_3), (&["TLSv1.2", "TLSv1.3"], TLSv1_3)]
    {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let versions = TlsVersions::of_names(&names).unwrap();
        let address = start_with(
            directory.path(),
            versions,
            HttpOptions::default(),
            Router::new().fallback(any(echo)),
        );
        let stream = connect(directory.path(), address, b"http/1.1").await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(spoken), "{names:?}");
    }
}
