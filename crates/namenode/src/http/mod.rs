//! The pages: `/fsck`, `/jmx`, `/conf`, and an overview at `/`.

mod conf;
mod date;
mod fsck;
mod jmx;
mod overview;
mod quiet;

use crate::Error;
use crate::core::Core;
use crate::node::{bind_error, resolve_one};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::task::JoinHandle;

const KEY: &str = "dfs.namenode.http-address";

/// The HTTP server; bound first, started when there is something to show.
pub(crate) struct HttpServer {
    listener: Mutex<Option<TcpListener>>,
    local: SocketAddr,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl HttpServer {
    pub(crate) fn bind(address: &str) -> Result<Self, Error> {
        let resolved = resolve_one(address, KEY)?;
        let listener =
            TcpListener::bind(resolved).map_err(|source| bind_error(address, KEY, source))?;
        let prepared = listener.set_nonblocking(true).and_then(|()| listener.local_addr());
        let local = prepared.map_err(|source| bind_error(address, KEY, source))?;
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
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, service).await {
                tracing::error!("HTTP server: {error}");
            }
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
        .route("/conf", get(conf::page))
        .route("/logLevel", get(log_level))
        .route("/webhdfs/{*path}", axum::routing::any(webhdfs))
        .with_state(core)
}

/// The query as names and values; the first of a name counts.
fn query(RawQuery(raw): RawQuery) -> HashMap<String, String> {
    let mut values = HashMap::new();
    for pair in raw.as_deref().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        values.entry(decoded(name)).or_insert_with(|| decoded(value));
    }
    values
}

/// `+` and `%xx` undone; what does not fit stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or(&[]);
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(*first),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn text(kind: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}

async fn webhdfs() -> Response {
    let message = "WebHDFS is not served by this NameNode yet.\n";
    (StatusCode::NOT_IMPLEMENTED, [(header::CONTENT_TYPE, "text/plain")], message).into_response()
}

async fn log_level(State(_core): State<Arc<Core>>) -> Response {
    let message = "Log levels are set when the process starts (RUST_LOG), not here.\n";
    (StatusCode::NOT_IMPLEMENTED, [(header::CONTENT_TYPE, "text/plain")], message).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        let values = query(RawQuery(Some("path=%2Fa+b%2f%C3%A9&files=1&files=2&x".into())));
        assert_eq!(values.get("path").map(String::as_str), Some("/a b/é"));
        assert_eq!(values.get("files").map(String::as_str), Some("1"));
        assert_eq!(values.get("x").map(String::as_str), Some(""));
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
