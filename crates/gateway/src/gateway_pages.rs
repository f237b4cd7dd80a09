//! The gateway's port: its pages, and REST for all else.
//!
//! Hoop's addresses are paths of files: a request that names an operation (`op`) is REST whatever its path, and so is one for
//! any other path than those of the pages.

use crate::explorer::{self, ExplorerHost};
use crate::face;
use crate::httpfs::HttpFs;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Method, Request};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde_json::Value;
use std::sync::Arc;
use zerohop_conf::{Conf, keys};
use zerohop_daemon::http::{HandlerThreads, Health, MountPoint, StandardPages, standard_pages};
use zerohop_daemon::metrics::Record;
use zerohop_pages::{PageOwner, Site, shared_pages};

const PAGES: [&str; 15] = [
    "/",
    "/index.html",
    "/explorer",
    "/explorer.html",
    "/configuration",
    "/conf",
    "/jmx",
    "/prom",
    "/health",
    "/logs",
    "/logs/",
    "/logLevel",
    "/static/zerohop.css",
    "/static/zerohop.js",
    "/static/icon.svg",
];

struct Port {
    pages: MountPoint,
    rest: MountPoint,
}

/// The router of the gateway's port.
pub(crate) fn router(host: Arc<HttpFs>, threads: usize) -> Router {
    let threads = HandlerThreads::new(threads);
    let explorer = explorer::router(Arc::clone(&host));
    let pages = Router::new()
        .route("/", get(overview))
        .route("/index.html", get(async || Redirect::temporary("/")))
        .with_state(Arc::clone(&host))
        .merge(standard_pages(Arc::clone(&host), &threads))
        .merge(shared_pages(Arc::clone(&host), &threads))
        .fallback_service(explorer);
    let port = Port { pages: MountPoint::default(), rest: MountPoint::default() };
    port.pages.mount(pages);
    port.rest.mount(face::router(host));
    Router::new().fallback(answer).with_state(Arc::new(port))
}

async fn overview(State(host): State<Arc<HttpFs>>) -> impl IntoResponse {
    PageOwner::site(&*host).page("Overview", "/", &host.overview())
}

async fn answer(State(port): State<Arc<Port>>, request: Request<Body>) -> Response {
    match is_page(&request) {
        true => port.pages.answer(request).await.into_response(),
        false => port.rest.answer(request).await.into_response(),
    }
}

fn is_page(request: &Request<Body>) -> bool {
    let uri = request.uri();
    let query = uri.query().unwrap_or_default();
    let names_operation = query
        .split('&')
        .any(|part| part.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("op=")));
    let is_asked = [Method::GET, Method::HEAD].contains(request.method())
        || (request.method() == Method::POST && uri.path() == explorer::ADDRESS);
    !names_operation && is_asked && PAGES.contains(&uri.path())
}

impl PageOwner for HttpFs {
    fn site(&self) -> Site {
        ExplorerHost::site(self)
    }

    fn page_conf(&self) -> Arc<Conf> {
        Arc::new(self.conf().clone())
    }
}

impl StandardPages for HttpFs {
    fn service(&self) -> &'static str {
        "httpfs"
    }

    fn conf(&self) -> Arc<Conf> {
        self.page_conf()
    }

    fn records(&self) -> Vec<Record> {
        let address = self.conf().get(&keys::HTTPFS_HTTP_HOSTNAME).unwrap_or_default();
        let port = self.conf().get(&keys::HTTPFS_HTTP_PORT).unwrap_or_default();
        vec![self.activity().record(&format!("{address}:{port}"))]
    }

    fn beans(&self) -> Vec<Value> {
        Vec::new()
    }

    /// It holds nothing that could fail: whether the NameNode answers is the NameNode's to say.
    fn health(&self) -> Health {
        let cluster = self.conf().default_fs().unwrap_or_default();
        Health::new().with("defaultFs", cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_have_the_names_of_pages_are_reached_by_an_operation() {
        let ask = |method: Method, uri: &str| {
            is_page(&Request::builder().method(method).uri(uri).body(Body::empty()).unwrap())
        };
        assert!(ask(Method::GET, "/") && ask(Method::GET, "/explorer?path=/a"));
        assert!(ask(Method::POST, "/explorer?path=/a"));
        for (method, uri) in [
            (Method::GET, "/explorer?op=OPEN"),
            (Method::GET, "/logs?user.name=x&OP=LISTSTATUS"),
            (Method::PUT, "/explorer"),
            (Method::POST, "/logs"),
            (Method::GET, "/a/b"),
            (Method::GET, "/webhdfs/v1/"),
        ] {
            assert!(!ask(method.clone(), uri), "{method} {uri}");
        }
    }
}
