//! The pages that people look at, a file a page.

mod local_readers;
mod overview;
mod pipelines;
mod scanners;

use crate::events::COLUMNS;
use crate::node::Node;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_daemon::http::{HandlerThreads, Unavailable};
use zerohop_pages::{Content, HtmlPage, NavLink, PageOwner, Site, events, shared_pages};

const NAV: [(&str, &str); 7] = [
    ("/", "Overview"),
    ("/pipelines", "Transfers"),
    ("/local-readers", "Local readers"),
    ("/scanners", "Scanners"),
    ("/events", "Events"),
    ("/configuration", "Configuration"),
    ("/logs", "Log"),
];

#[derive(Clone)]
struct Pages {
    node: Arc<Node>,
    threads: HandlerThreads,
}

/// The routes; Apache's addresses lead to them.
pub(crate) fn routes(node: Arc<Node>, threads: HandlerThreads) -> Router {
    let shared = shared_pages(Arc::clone(&node), &threads);
    Router::new()
        .route("/", get(overview_page))
        .route("/datanode.html", get(overview_page))
        .route("/index.html", get(async || Redirect::temporary("/")))
        .route("/pipelines", get(pipelines_page))
        .route("/local-readers", get(local_readers_page))
        .route("/scanners", get(scanners_page))
        .route("/events", get(events_page))
        .with_state(Pages { node, threads })
        .merge(shared)
}

impl PageOwner for Node {
    fn site(&self) -> Site {
        let name = match self.addresses.get() {
            Some(known) => format!("{}:{}", self.settings.host_name, known.transfer.port()),
            None => self.settings.host_name.clone(),
        };
        let nav = NAV.into_iter().map(|(href, label)| NavLink { href, label }).collect();
        Site { kind: "DataNode", name, state: None, nav }
    }

    fn page_conf(&self) -> Arc<Conf> {
        self.reconfiguration.conf()
    }
}

/// Makes a page on a thread of its own: it asks disks.
async fn page(
    Pages { node, threads }: Pages,
    title: &'static str,
    address: &'static str,
    content: fn(&Node) -> Content,
) -> Result<HtmlPage, Unavailable> {
    threads.run(move || node.site().page(title, address, &content(&node))).await
}

async fn overview_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Overview", "/", overview::content).await
}

async fn pipelines_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Transfers", "/pipelines", pipelines::content).await
}

async fn local_readers_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Local readers", "/local-readers", local_readers::content).await
}

async fn events_page(State(pages): State<Pages>) -> impl IntoResponse {
    let content = |node: &Node| events(node.store.events().record(), &COLUMNS);
    page(pages, "Events", "/events", content).await
}

async fn scanners_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Scanners", "/scanners", scanners::content).await
}
