//! The pages of the NameNode: an overview at `/`, `/fsck`, `/pendingDeletions`, the beans of `/jmx`, `/isActive`, the place of
//! WebHDFS, and `/imagetransfer` for other NameNodes.

mod body;
mod date;
mod fsck;
mod image_transfer;
mod jmx;
mod overview;
mod pages;
mod pending_deletions;

use crate::Error;
use crate::core::Core;
use crate::resolve::resolve_one;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{any, get};
use pages::Pages;
use serde_json::Value;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_daemon::http::{
    HandlerThreads, HttpOptions, HttpServer, Page, StandardPages, Unavailable, standard_pages,
};

const KEY: &str = "dfs.namenode.http-address";

/// Takes the port of the pages.
pub(crate) fn bind(address: &str, options: HttpOptions) -> Result<HttpServer, Error> {
    let resolved = resolve_one(address, KEY)?;
    HttpServer::bind(resolved, options).map_err(|source| Error::bind(address, KEY, source))
}

/// The pages; `threads` of them are made at once, besides checks of the tree.
pub(crate) fn router(core: Arc<Core>, threads: usize) -> Router {
    let threads = HandlerThreads::new(threads);
    let standard = standard_pages(Arc::clone(&core), &threads);
    Router::new()
        .route("/", get(overview))
        .route("/dfshealth.html", get(overview))
        .route("/fsck", get(fsck::page))
        .route("/isActive", get(is_active))
        .route("/pendingDeletions", get(pending_deletions::page))
        .route("/imagetransfer", get(image_transfer::send).put(image_transfer::receive))
        .route("/heatmap", any(heatmap))
        .route("/webhdfs/{*path}", any(webhdfs))
        .with_state(Pages { core, threads })
        .merge(standard)
}

impl StandardPages for Core {
    fn conf(&self) -> Arc<Conf> {
        self.reconfiguration.conf()
    }

    fn beans(&self) -> Vec<Value> {
        jmx::beans(self)
    }
}

async fn overview(State(pages): State<Pages>) -> Result<Page, Unavailable> {
    pages.threads.run(move || overview::page(&pages.core)).await
}

/// For load balancers (`IsNameNodeActiveServlet`).
async fn is_active(State(pages): State<Pages>) -> Page {
    match pages.core.ha.is_active() {
        true => Page::text("I am Active!"),
        false => Page::text("I am not Active!").with_status(StatusCode::METHOD_NOT_ALLOWED),
    }
}

async fn heatmap(State(pages): State<Pages>, request: Request) -> Response {
    pages.core.heatmap.answer(request).await
}

async fn webhdfs(State(pages): State<Pages>, request: Request) -> Response {
    pages.core.webhdfs.answer(request).await
}
