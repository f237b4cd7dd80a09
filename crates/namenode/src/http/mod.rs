//! The pages: `/fsck`, `/jmx`, `/conf`, `/pendingDeletions`, and an overview at `/`.

mod conf;
mod date;
mod fsck;
mod jmx;
mod overview;
mod page;
mod pending_deletions;
mod quiet;

use crate::Error;
use crate::core::Core;
use crate::resolve::resolve_one;
use crate::supervise::supervise;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use parking_lot::Mutex;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::task::JoinHandle;

const KEY: &str = "dfs.namenode.http-address";

/// The HTTP server; bound first, started when there is something to show.
pub(crate) struct HttpServer {
    listener: Mutex<Option<TcpListener>>,
    local: SocketAddr,
    task: Mutex<Option<JoinHandle<Infallible>>>,
}

impl HttpServer {
    pub(crate) fn bind(address: &str) -> Result<Self, Error> {
        let resolved = resolve_one(address, KEY)?;
        let listener =
            TcpListener::bind(resolved).map_err(|source| Error::bind(address, KEY, source))?;
        let prepared = listener.set_nonblocking(true).and_then(|()| listener.local_addr());
        let local = prepared.map_err(|source| Error::bind(address, KEY, source))?;
        Ok(Self { listener: Mutex::new(Some(listener)), local, task: Mutex::new(None) })
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.local
    }

    pub(crate) fn start(&self, core: Arc<Core>) {
        let Some(listener) = self.listener.lock().take() else { return };
        let listener = match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!("HTTP server: {error}"),
        };
        let listener = quiet::QuietListener::new(listener);
        let service = router(core).into_make_service_with_connect_info::<quiet::Remote>();
        let task = supervise("serving HTTP", async move {
            if let Err(error) = axum::serve(listener, service).await {
                tracing::error!("HTTP server: {error}");
            }
            std::future::pending().await
        });
        *self.task.lock() = Some(task);
    }

    pub(crate) async fn stop(&self) {
        self.listener.lock().take();
        let task = self.task.lock().take();
        if let Some(task) = task {
            task.abort();
            _ = task.await;
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().take() {
            task.abort();
        }
    }
}

fn router(core: Arc<Core>) -> Router {
    Router::new()
        .route("/", get(overview::page))
        .route("/dfshealth.html", get(overview::page))
        .route("/fsck", get(fsck::page))
        .route("/jmx", get(jmx::page))
        .route("/pendingDeletions", get(pending_deletions::page))
        .route("/conf", get(conf::page))
        .route("/logLevel", get(log_level))
        .route("/webhdfs/{*path}", axum::routing::any(webhdfs))
        .with_state(core)
}

async fn webhdfs() -> Response {
    let message = "WebHDFS is not served by this NameNode yet.\n";
    (StatusCode::NOT_IMPLEMENTED, [(header::CONTENT_TYPE, "text/plain")], message).into_response()
}

async fn log_level(State(_core): State<Arc<Core>>) -> Response {
    let message = "Log levels are set when the process starts (RUST_LOG), not here.\n";
    (StatusCode::NOT_IMPLEMENTED, [(header::CONTENT_TYPE, "text/plain")], message).into_response()
}
