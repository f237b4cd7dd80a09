//! The HTTP port of the DataNode: the pages for people (`web`), `/shortcircuit`, who reads locally, `/heatmap` and `/slow`, how long disks take, `/blockScannerReport`, how far the replicas are verified,
//! what every daemon has, and the place of WebHDFS.

use crate::disk_pages;
use crate::health;
use crate::jmx;
use crate::node::Node;
use crate::records;
use crate::short_circuit::listing;
use crate::web;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{any, get};
use serde_json::Value;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_daemon::http::{
    HandlerThreads, Health, HeatMaps, Page, StandardPages, Unavailable, heat_page, standard_pages,
};
use zerohop_daemon::metrics::Record;

/// What handlers need.
#[derive(Clone)]
struct Pages {
    node: Arc<Node>,
    /// For pages that wait for a lock.
    threads: HandlerThreads,
}

/// The pages; `threads` of them are made at once.
pub(crate) fn router(node: Arc<Node>, threads: usize) -> Router {
    // A disk that hangs keeps the threads of who asks for the beans; the other pages have their own.
    let standard = standard_pages(Arc::clone(&node), &HandlerThreads::new(threads));
    let threads = HandlerThreads::new(threads);
    let of_conf = Arc::clone(&node);
    let name = format!("DataNode {}", node.settings.host_name);
    let heat = heat_page(
        name,
        heat_source(&node),
        move || of_conf.reconfiguration.conf(),
        threads.clone(),
    );
    let web = web::routes(Arc::clone(&node), threads.clone());
    Router::new()
        .route("/shortcircuit", get(short_circuit))
        .route("/blockScannerReport", get(block_scanner_report))
        .route("/slow", get(slow))
        .route("/webhdfs/{*path}", any(webhdfs))
        .with_state(Pages { node, threads })
        .merge(heat)
        .merge(standard)
        .merge(web)
}

/// Makes the maps of this DataNode's volumes.
pub(crate) fn heat_source(node: &Arc<Node>) -> HeatMaps {
    let node = Arc::clone(node);
    Arc::new(move |seconds| disk_pages::heat_maps(&node.store.volumes().all(), seconds))
}

impl StandardPages for Node {
    fn service(&self) -> &'static str {
        "DataNode"
    }

    fn conf(&self) -> Arc<Conf> {
        self.reconfiguration.conf()
    }

    fn records(&self) -> Vec<Record> {
        records::records(self)
    }

    fn beans(&self) -> Vec<Value> {
        jmx::beans(self)
    }

    fn health(&self) -> Health {
        health::health(self)
    }
}

async fn short_circuit(State(Pages { node, threads }): State<Pages>) -> Result<Page, Unavailable> {
    let list = move || listing(node.store.slots(), &node.domain_socket, node.store.cache());
    let listing = threads.run(list).await?;
    Ok(Page::json(format!("{listing:#}\n")))
}

async fn block_scanner_report(
    State(Pages { node, threads }): State<Pages>,
) -> Result<Page, Unavailable> {
    threads.run(move || Page::text(node.block_scanner.report())).await
}

async fn slow(State(Pages { node, threads }): State<Pages>) -> Result<Page, Unavailable> {
    threads.run(move || Page::json(format!("{:#}\n", disk_pages::slow(&node)))).await
}

async fn webhdfs(State(Pages { node, .. }): State<Pages>, request: Request) -> Response {
    node.webhdfs.answer(request).await
}
