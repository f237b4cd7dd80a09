//! The pages that every daemon has: `/jmx`, `/conf` and `/profile`.

use super::profile_page::profile_page;
use super::threads::HandlerThreads;
use super::{conf_page, jmx};
use axum::Router;
use axum::extract::RawQuery;
use axum::http::{HeaderMap, header};
use axum::routing::get;
use serde_json::Value;
use std::sync::Arc;
use zerohop_conf::Conf;

/// What these pages show of one daemon.
pub trait StandardPages: Send + Sync + 'static {
    /// The configuration in force.
    fn conf(&self) -> Arc<Conf>;

    /// The beans of `/jmx`, made by [`bean`](super::bean). May wait for locks and disks.
    fn beans(&self) -> Vec<Value>;
}

/// The routes of these pages; their handlers run on `threads`.
pub fn standard_pages(daemon: Arc<impl StandardPages>, threads: &HandlerThreads) -> Router {
    let of_conf = Arc::clone(&daemon);
    let of_profile = Arc::clone(&daemon);
    let jmx_threads = threads.clone();
    let conf_threads = threads.clone();
    let jmx_page = async move |RawQuery(query): RawQuery| {
        let make = move || jmx::page(query.as_deref().unwrap_or_default(), || daemon.beans());
        jmx_threads.run(make).await
    };
    let conf_page = async move |RawQuery(query): RawQuery, headers: HeaderMap| {
        let make = move || {
            let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
            let query = query.unwrap_or_default();
            conf_page::page(&of_conf.conf(), &query, accept.unwrap_or_default())
        };
        conf_threads.run(make).await
    };
    Router::new()
        .route("/jmx", get(jmx_page))
        .route("/conf", get(conf_page))
        .merge(profile_page(move || of_profile.conf()))
}
