//! One connection: with TLS or without, HTTP/1 or HTTP/2.

use super::caller_socket::CallerSocket;
use super::connection::IdleLimited;
use super::cross_origin;
use super::file_sender::{FileSender, SendfileStream};
use super::options::HttpOptions;
use super::remote_address::RemoteAddress;
use super::request_body::limited;
use super::tls::{HTTP_2, Tls};
use super::watched_requests::WatchedRequests;
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::http::{Request, Response};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// Bytes that one read takes of a request's body at most, and that wait in memory for a slow reader before the body is asked for
/// more.
const BUFFER_LEN: usize = 256 << 10;
/// Bytes of request bodies that an HTTP/2 client may send before a handler has taken them: of one stream, and of a connection.
const WINDOW_LEN: u32 = 1 << 20;
const CONNECTION_WINDOW_LEN: u32 = 4 << 20;
/// Requests of one HTTP/2 connection at once.
const STREAMS_MAX: u32 = 100;

/// Time that the client has to answer when its connection is closed as idle.
const FAREWELL_MAX: Duration = Duration::from_secs(2);

/// In the extensions of a request that came over TLS.
#[derive(Clone, Copy, Debug)]
pub struct Encrypted;

/// What the requests of one connection are answered with.
#[derive(Clone)]
pub(super) struct Answerer {
    pub(super) remote: SocketAddr,
    pub(super) options: HttpOptions,
    pub(super) router: Router,
    /// Without a sender when the connection is to end after the requests that are under way.
    pub(super) ends: watch::Receiver<()>,
}

/// What carries a connection's bytes.
enum Carrier {
    Tcp(FileSender),
    Tls,
}

type Served = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Serves a connection to its end.
pub(super) async fn serve(stream: TcpStream, answerer: Answerer, tls: Option<Arc<Tls>>) -> Served {
    // Without it a connection is only slower.
    let _ = stream.set_nodelay(true);
    let (idle_max, rate_min) = (answerer.options.idle_max, answerer.options.rate_min);
    let (socket, closes) = CallerSocket::new(&stream);
    let Some(tls) = tls else {
        let files = FileSender::default();
        let stream = SendfileStream::new(stream, files.clone());
        let stream = IdleLimited::new(stream, idle_max, rate_min).closing(closes);
        return answerer.serve_http_1(stream, socket, Carrier::Tcp(files)).await;
    };
    let written = Arc::<AtomicU64>::default();
    let stream = IdleLimited::new(stream, idle_max, rate_min).closing(closes);
    let stream = stream.showing(Arc::clone(&written));
    let handshake = TlsAcceptor::from(tls.config()).accept(stream);
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the TLS handshake took too long");
    let stream = tokio::time::timeout(idle_max, handshake).await.map_err(late)??;
    match stream.get_ref().1.alpn_protocol() == Some(HTTP_2) {
        true => answerer.serve_http_2(stream, socket, written).await,
        false => answerer.serve_http_1(stream, socket, Carrier::Tls).await,
    }
}

impl Answerer {
    async fn serve_http_1(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        socket: CallerSocket,
        carrier: Carrier,
    ) -> Served {
        let (options, ends) = (self.options.clone(), self.ends.clone());
        let service = service_fn(move |request| self.answer(request, &socket, &carrier));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // Also the time that a connection without a request is kept.
            .header_read_timeout(options.idle_max)
            // A client that has sent its request and closed its sending side still waits for the answer.
            .half_close(true)
            .max_header_size(options.head_max)
            .max_buf_size(options.head_max.max(BUFFER_LEN))
            .serve_connection(TokioIo::new(stream), service);
        Ok(until_end(connection, |connection| connection.graceful_shutdown(), ends).await?)
    }

    async fn serve_http_2(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        socket: CallerSocket,
        written: Arc<AtomicU64>,
    ) -> Served {
        let (options, ends) = (self.options.clone(), self.ends.clone());
        let watched = WatchedRequests::default();
        let silent = watched
            .silent(options.idle_max, options.rate_min, move || written.load(Ordering::Relaxed));
        let service = service_fn(move |request: Request<Incoming>| {
            let (request, watch) = watched.begin(request);
            let answer = self.answer(request, &socket, &Carrier::Tls);
            async move { Ok::<_, Infallible>(watch.finish(answer.await?)) }
        });
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            // A request may take longer than a connection may be silent.
            .keep_alive_interval(options.idle_max / 2)
            .keep_alive_timeout(options.idle_max)
            .max_header_list_size(u32::try_from(options.head_max).unwrap_or(u32::MAX))
            .max_concurrent_streams(STREAMS_MAX)
            .initial_stream_window_size(WINDOW_LEN)
            .initial_connection_window_size(CONNECTION_WINDOW_LEN)
            .max_send_buf_size(BUFFER_LEN)
            .serve_connection(TokioIo::new(stream), service);
        // Pings find a dead peer. A live one answers them even if it has no requests, so they do not count as use.
        let mut connection = pin!(connection);
        let stopped =
            until_end(connection.as_mut(), |it| it.as_deref_mut().graceful_shutdown(), ends);
        tokio::select! {
            done = stopped => return Ok(done?),
            () = silent => {}
        }
        connection.as_mut().graceful_shutdown();
        match tokio::time::timeout(FAREWELL_MAX, connection).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "nothing moved").into()),
        }
    }

    fn answer<B>(
        &self,
        request: Request<B>,
        socket: &CallerSocket,
        carrier: &Carrier,
    ) -> impl Future<Output = Result<Response<Body>, Infallible>> + Send + use<B>
    where
        B: HttpBody<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let mut request = request.map(|body| limited(body, self.options.rate_min));
        let extensions = request.extensions_mut();
        extensions.insert(RemoteAddress(self.remote));
        extensions.insert(socket.clone());
        match carrier {
            Carrier::Tcp(files) => _ = extensions.insert(files.clone()),
            Carrier::Tls => _ = extensions.insert(Encrypted),
        }
        let answer =
            cross_origin::answer(self.router.clone(), request, self.options.cross_origin.clone());
        async move { Ok(answer.await) }
    }
}

/// A connection to its end; it `stops` taking requests when `ends` says so.
async fn until_end<C: Future<Output = hyper::Result<()>>>(
    connection: C,
    stop: impl FnOnce(Pin<&mut C>),
    mut ends: watch::Receiver<()>,
) -> hyper::Result<()> {
    let mut connection = pin!(connection);
    tokio::select! {
        done = connection.as_mut() => return done,
        _ = ends.changed() => stop(connection.as_mut()),
    }
    connection.await
}
