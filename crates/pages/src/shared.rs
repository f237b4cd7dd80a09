//! The pages that every daemon has: style and script, `/configuration`, `/logs` and `/logLevel`.

use crate::layout::Site;
use crate::log_level::Asked;
use crate::{assets, configuration, log_level, logs};
use axum::Router;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_daemon::http::{HandlerThreads, QueryValues, RemoteAddress, check_administrator};
use zerohop_daemon::process_log::process_log;

/// A daemon that has pages.
pub trait PageOwner: Send + Sync + 'static {
    /// What is the same on all its pages.
    fn site(&self) -> Site;

    /// The configuration in force.
    fn page_conf(&self) -> Arc<Conf>;
}

/// Makes the routes of these pages; handlers that take long run on `threads`. If administrators are named, only they see the pages,
/// which show what clients do and how the cluster is protected.
pub fn shared_pages(owner: Arc<impl PageOwner>, threads: &HandlerThreads) -> Router {
    let (of_conf, of_log, of_level) = (Arc::clone(&owner), Arc::clone(&owner), owner);
    let (conf_threads, log_threads, level_threads) =
        (threads.clone(), threads.clone(), threads.clone());
    let conf_page = async move |query: QueryValues| {
        let make = move || {
            for_administrators(&*of_conf, &query, |site, conf| {
                configuration::page(site, conf, &query).into_response()
            })
        };
        conf_threads.run(make).await
    };
    let log_page = async move |query: QueryValues| {
        let make = move || {
            for_administrators(&*of_log, &query, |site, _| {
                logs::page(site, process_log(), &query).into_response()
            })
        };
        log_threads.run(make).await
    };
    let level_page = async move |RemoteAddress(remote): RemoteAddress,
                                 headers: HeaderMap,
                                 query: QueryValues| {
        let make = move || {
            let asked = Asked::new(&query, remote.ip(), &headers);
            let refusal = check_administrator(&of_level.page_conf(), query.get("user.name")).err();
            log_level::answer(&of_level.site(), process_log(), &asked, refusal)
        };
        level_threads.run(make).await
    };
    Router::new()
        .route(configuration::ADDRESS, get(conf_page))
        .route(logs::ADDRESS, get(log_page.clone()))
        .route("/logs/", get(log_page))
        .route(log_level::ADDRESS, get(level_page))
        .merge(assets())
}

/// Makes a page for an administrator, or a refusal for another user.
fn for_administrators(
    owner: &impl PageOwner,
    query: &QueryValues,
    page: impl FnOnce(&Site, &Conf) -> Response,
) -> Response {
    let conf = owner.page_conf();
    match check_administrator(&conf, query.get("user.name")) {
        Ok(()) => page(&owner.site(), &conf),
        Err(refusal) => refusal.into_response(),
    }
}
