//! The port and its connections.

use super::address_limits::AddressLimits;
use super::options::HttpOptions;
use super::serve_connection::{Answerer, serve};
use super::tls::Tls;
use crate::log_limiter::LogLimiter;
use axum::Router;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use zerohop_system::clock;

/// Wait before accepting again where the system could not give a connection, most likely for want of descriptors: the listener
/// stays ready, and would be asked without end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// A port for HTTP: bound first, so that it is known, and served when there is something to show.
#[derive(Debug)]
pub struct HttpServer {
    listener: StdListener,
    local: SocketAddr,
    options: HttpOptions,
    tls: Option<Arc<Tls>>,
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
        Ok(Self { listener, local, options, tls: None })
    }

    /// Serves by TLS with this certificate, and HTTP/2 to clients that ask for it.
    pub fn with_tls(self, tls: Tls) -> Self {
        Self { tls: Some(Arc::new(tls)), ..self }
    }

    /// The address, with the port that was taken.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Serves `router` until the future is dropped, which closes the port and all connections. Handlers find the caller's
    /// address in [`RemoteAddress`](super::RemoteAddress). Must be called within a tokio runtime.
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
            let how = (&self.options, &self.tls);
            let served = accept_all(&listener, how, router, &ends, &mut connections);
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
            let how = (&self.options, &self.tls);
            tokio::select! {
                never = accept_all(&listener, how, router, &ends, &mut connections) => {
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
    (options, tls): (&HttpOptions, &Option<Arc<Tls>>),
    router: Router,
    ends: &watch::Receiver<()>,
    connections: &mut JoinSet<()>,
) -> Infallible {
    let room = Arc::new(Semaphore::new(options.connections_max));
    let proxies = Arc::clone(&options.proxies);
    let addresses = AddressLimits::new(options.connections_per_address_max, proxies);
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
                            "HTTP server: {remote} has {max} connections; others are closed. If it is a reverse proxy, name \
                             it in zerohop.http.proxies"
                        );
                    }
                    continue;
                };
                let (options, router, ends) = (options.clone(), router.clone(), ends.clone());
                let answerer = Answerer { remote, options, router, ends };
                let tls = tls.clone();
                connections.spawn(async move {
                    if let Err(error) = serve(stream, answerer, tls).await {
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
