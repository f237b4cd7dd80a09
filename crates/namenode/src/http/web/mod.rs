//! The pages that people look at, a file a page.

mod calls;
mod datanodes;
mod journal;
mod overview;
mod site;
mod slow_nodes;
mod start_up;
mod starting;

pub(crate) use starting::Starting;

use super::pages::Pages;
use crate::core::Core;
use crate::events::COLUMNS;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_daemon::http::{QueryValues, Unavailable};
use zerohop_pages::{Content, HtmlPage, PageOwner, Site, events, shared_pages};

/// The routes; Apache's addresses lead to them.
pub(super) fn routes(pages: Pages) -> Router {
    let shared = shared_pages(Arc::clone(&pages.core), &pages.threads);
    Router::new()
        .route("/", get(overview_page))
        .route("/dfshealth.html", get(overview_page))
        .route("/index.html", get(async || Redirect::temporary("/")))
        .route("/datanodes", get(datanodes_page))
        .route("/startup", get(start_up_page))
        .route("/journal", get(journal_page))
        .route("/calls", get(calls_page))
        .route("/slow-nodes", get(slow_nodes_page))
        .route("/events", get(events_page))
        .with_state(pages)
        .merge(shared)
}

impl PageOwner for Core {
    fn site(&self) -> Site {
        site::of(self)
    }

    fn page_conf(&self) -> Arc<Conf> {
        self.reconfiguration.conf()
    }
}

/// Makes a page on a thread of its own: it takes the namespace's lock.
async fn page(
    pages: Pages,
    title: &'static str,
    address: &'static str,
    content: impl FnOnce(&Core) -> Content + Send + 'static,
) -> Result<HtmlPage, Unavailable> {
    let core = pages.core;
    pages.threads.run(move || site::of(&core).page(title, address, &content(&core))).await
}

async fn overview_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Overview", "/", overview::content).await
}

async fn datanodes_page(State(pages): State<Pages>, query: QueryValues) -> impl IntoResponse {
    page(pages, "DataNodes", "/datanodes", move |core| datanodes::content(core, &query)).await
}

async fn start_up_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Start-up and safe mode", "/startup", start_up::content).await
}

async fn journal_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Edit log and images", "/journal", journal::content).await
}

async fn calls_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Calls", "/calls", calls::content).await
}

async fn events_page(State(pages): State<Pages>) -> impl IntoResponse {
    page(pages, "Events", "/events", |core| events(core.events.record(), &COLUMNS)).await
}

async fn slow_nodes_page(State(pages): State<Pages>, query: QueryValues) -> impl IntoResponse {
    let content = move |core: &Core| slow_nodes::content(core, &query);
    page(pages, "Slow DataNodes and disks", "/slow-nodes", content).await
}
