//! The pages of the NameNode: those for people (`web`), `/fsck`, `/pendingDeletions`, the beans of `/jmx`, `/isActive`, the place of
//! WebHDFS, and `/imagetransfer` for other NameNodes.

mod body;
mod date;
mod fsck;
mod health;
mod image_transfer;
mod jmx;
mod pages;
mod pending_deletions;
mod web;

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
pub(crate) use web::Starting;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_daemon::http::{
    HandlerThreads, Health, HttpOptions, HttpServer, Page, StandardPages, standard_pages,
};
use zerohop_daemon::metrics::Record;

const KEY: &str = "dfs.namenode.http-address";

/// Reads the limits of the port. An image may come as slowly as the other NameNode is told to send it.
pub(crate) fn options(conf: &Conf) -> Result<HttpOptions, ConfError> {
    let mut options = HttpOptions::from_conf(conf)?;
    let image_bytes_per_s = conf.get(&keys::DFS_IMAGE_TRANSFER_BANDWIDTHPERSEC)?;
    if image_bytes_per_s > 0 {
        let rate_min = &mut options.rate_min.bytes_per_s;
        *rate_min = (*rate_min).min(image_bytes_per_s / 2);
    }
    Ok(options)
}

/// Takes the port of the pages.
pub(crate) fn bind(address: &str, options: HttpOptions) -> Result<HttpServer, Error> {
    let resolved = resolve_one(address, KEY)?;
    HttpServer::bind(resolved, options).map_err(|source| Error::bind(address, KEY, source))
}

/// The pages; `threads` of them are made at once, besides checks of the tree.
pub(crate) fn router(core: Arc<Core>, threads: usize) -> Router {
    let threads = HandlerThreads::new(threads);
    let standard = standard_pages(Arc::clone(&core), &threads);
    let pages = Pages { core, threads };
    Router::new()
        .route("/fsck", get(fsck::page))
        .route("/isActive", get(is_active))
        .route("/pendingDeletions", get(pending_deletions::page))
        .route("/imagetransfer", get(image_transfer::send).put(image_transfer::receive))
        .route("/heatmap", any(heatmap))
        .route("/webhdfs/{*path}", any(webhdfs))
        .route("/explorer", any(explorer))
        .route("/explorer.html", any(explorer))
        .with_state(pages.clone())
        .merge(standard)
        .merge(web::routes(pages))
}

impl StandardPages for Core {
    fn service(&self) -> &'static str {
        "NameNode"
    }

    fn conf(&self) -> Arc<Conf> {
        self.reconfiguration.conf()
    }

    fn records(&self) -> Vec<Record> {
        jmx::records(self)
    }

    fn beans(&self) -> Vec<Value> {
        jmx::beans(self)
    }

    fn health(&self) -> Health {
        health::health(self)
    }
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

async fn explorer(State(pages): State<Pages>, request: Request) -> Response {
    pages.core.explorer.answer(request).await
}
