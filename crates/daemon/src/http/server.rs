//! The port and its connections.

use super::address_limits::AddressLimits;
use super::connection::IdleLimited;
use super::file_sender::{FileSender, SendfileStream};
use super::options::HttpOptions;
use super::request_body::limited;
use crate::log_limiter::LogLimiter;
use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::Request;
use axum::http::request::Parts;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower_service::Service;
use zerohop_system::clock;

/// Bytes that one read takes of a request's body at most, and that wait in memory for a slow reader before the body is asked for
/// more.
const BUFFER_LEN: usize = 256 << 10;
/// Wait before accepting again where the system could not give a connection, most likely for want of descriptors: the listener
/// stays ready, and would be asked without end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// A port for HTTP: bound first, so that it is known, and served when there is something to show.
#[derive(Debug)]
pub struct HttpServer {
    listener: StdListener,
    local: SocketAddr,
    options: HttpOptions,
}

impl HttpServer {
    /// Takes the port; 0 means any free one. Connections wait until [`serve`](Self::serve).
    ///
    /// # Errors
    /// If the port is taken or the address is not this machine's.
    pub fn bind(address: SocketAddr, options: HttpOptions) -> io::Result<Self> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        Ok(Self { listener, local, options })
    }

    /// The address, with the port that was taken.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Serves `router` until the future is dropped, which closes the port and all connections. Handlers find the caller's
    /// address in [`RemoteAddress`]. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If the runtime cannot watch the port.
    pub fn serve(
        self,
        router: Router,
    ) -> io::Result<impl Future<Output = Infallible> + Send + 'static> {
        let listener = TcpListener::from_std(self.listener)?;
        // Never said: the sender lives as long as the future.
        let (never, ends) = watch::channel(());
        Ok(async move {
            let mut connections = JoinSet::new();
            let served = accept_all(&listener, &self.options, router, &ends, &mut connections);
            let infallible = served.await;
            drop(never);
            infallible
        })
    }

    /// As [`serve`](Self::serve) until `stop` is ready. Then the port is closed, and requests that are under way are answered
    /// before the future ends.
    ///
    /// # Errors
    /// If the runtime cannot watch the port.
    pub fn serve_until(
        self,
        router: Router,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<impl Future<Output = ()> + Send + 'static> {
        let listener = TcpListener::from_std(self.listener)?;
        let (end, ends) = watch::channel(());
        Ok(async move {
            let mut connections = JoinSet::new();
            tokio::select! {
                never = accept_all(&listener, &self.options, router, &ends, &mut connections) => {
                    match never {}
                }
                () = stop => {}
            }
            drop((listener, end));
            while connections.join_next().await.is_some() {}
        })
    }
}

/// `ends` has no sender any more when connections are to end with the request that is under way.
async fn accept_all(
    listener: &TcpListener,
    options: &HttpOptions,
    router: Router,
    ends: &watch::Receiver<()>,
    connections: &mut JoinSet<()>,
) -> Infallible {
    let room = Arc::new(Semaphore::new(options.connections_max));
    let addresses = AddressLimits::new(options.connections_per_address_max);
    let (refused, too_many) = (LogLimiter::default(), LogLimiter::default());
    loop {
        // The semaphore is never closed.
        let permit = Arc::clone(&room).acquire_owned().await.ok();
        match listener.accept().await {
            Ok((stream, remote)) => {
                let Some(address_permit) = addresses.enter(remote.ip()) else {
                    if too_many.allow() {
                        let max = options.connections_per_address_max;
                        tracing::warn!(
                            "HTTP server: {remote} has {max} connections; others are closed"
                        );
                    }
                    continue;
                };
                let served =
                    serve_connection(stream, remote, options, router.clone(), ends.clone());
                connections.spawn(async move {
                    if let Err(error) = served.await {
                        tracing::debug!("HTTP connection from {remote}: {error}");
                    }
                    drop((permit, address_permit));
                });
            }
            Err(error) => {
                if refused.allow() {
                    tracing::warn!("HTTP server: a connection was not accepted: {error}");
                }
                clock::sleep(ACCEPT_PAUSE).await;
            }
        }
        // A panic in one of them was printed when it began, and has closed that connection only.
        while connections.try_join_next().is_some() {}
    }
}

fn serve_connection(
    stream: TcpStream,
    remote: SocketAddr,
    options: &HttpOptions,
    router: Router,
    mut ends: watch::Receiver<()>,
) -> impl Future<Output = hyper::Result<()>> + Send + use<> {
    // Without it a connection is only slower.
    let _ = stream.set_nodelay(true);
    let files = FileSender::default();
    let stream = SendfileStream::new(stream, files.clone());
    let stream = TokioIo::new(IdleLimited::new(stream, options.idle_max, options.rate_min));
    let rate_min = options.rate_min;
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(|body| limited(body, rate_min));
        request.extensions_mut().insert(RemoteAddress(remote));
        request.extensions_mut().insert(files.clone());
        router.clone().call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Also the time that a connection without a request is kept.
        .header_read_timeout(options.idle_max)
        // A client that has sent its request and closed its sending side still waits for the answer.
        .half_close(true)
        .max_header_size(options.head_max)
        .max_buf_size(options.head_max.max(BUFFER_LEN))
        .serve_connection(stream, service);
    async move {
        let mut connection = pin!(connection);
        tokio::select! {
            done = connection.as_mut() => return done,
            _ = ends.changed() => connection.as_mut().graceful_shutdown(),
        }
        connection.await
    }
}

/// The address of the other end of a request's connection.
#[derive(Clone, Copy, Debug)]
pub struct RemoteAddress(pub SocketAddr);

impl<S: Sync> FromRequestParts<S> for RemoteAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // [`HttpServer`] puts it into every request.
        let unknown = Self(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0));
        Ok(parts.extensions.get().copied().unwrap_or(unknown))
    }
}
