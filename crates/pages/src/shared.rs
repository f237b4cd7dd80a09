//! The pages that every daemon has: style and script, `/configuration`, `/logs` and `/logLevel`.

use crate::layout::Site;
use crate::{assets, configuration, log_level, logs};
use axum::Router;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_daemon::http::{HandlerThreads, QueryValues};
use zerohop_daemon::process_log::process_log;

/// A daemon that has pages.
pub trait PageOwner: Send + Sync + 'static {
    /// What is the same on all its pages.
    fn site(&self) -> Site;

    /// The configuration in force.
    fn page_conf(&self) -> Arc<Conf>;
}

/// The routes; handlers that take long run on `threads`.
pub fn shared_pages(owner: Arc<impl PageOwner>, threads: &HandlerThreads) -> Router {
    let (of_conf, of_log, of_level) = (Arc::clone(&owner), Arc::clone(&owner), owner);
    let (conf_threads, log_threads) = (threads.clone(), threads.clone());
    let conf_page = async move |query: QueryValues| {
        let make = move || configuration::page(&of_conf.site(), &of_conf.page_conf(), &query);
        conf_threads.run(make).await
    };
    let log_page = async move |query: QueryValues| {
        let make = move || logs::page(&of_log.site(), process_log(), &query);
        log_threads.run(make).await
    };
    let level_page = async move |headers: HeaderMap, query: QueryValues| -> Response {
        log_level::answer(&of_level.site(), process_log(), &headers, &query).into_response()
    };
    Router::new()
        .route(configuration::ADDRESS, get(conf_page))
        .route(logs::ADDRESS, get(log_page.clone()))
        .route("/logs/", get(log_page))
        .route(log_level::ADDRESS, get(level_page))
        .merge(assets())
}
