//! The pages that every daemon has: `/jmx`, `/prom`, `/health`, `/conf` and `/profile`.

use super::admin::check_administrator;
use super::health::Health;
use super::java_beans::ProcessorLoad;
use super::profile_page::profile_page;
use super::query::QueryValues;
use super::threads::HandlerThreads;
use super::{conf_page, jmx, metric_beans, prom};
use crate::metrics::{Record, process_record};
use axum::Router;
use axum::extract::RawQuery;
use axum::http::{HeaderMap, header};
use axum::routing::get;
use serde_json::Value;
use std::sync::Arc;
use zerohop_conf::Conf;

/// Probes are answered on threads of their own, so that other pages do not hold them up.
const PROBES_MAX: usize = 2;

/// What these pages show of one daemon.
pub trait StandardPages: Send + Sync + 'static {
    /// What Hadoop calls a daemon of this kind: `NameNode`.
    fn service(&self) -> &'static str;

    /// The configuration in force.
    fn conf(&self) -> Arc<Conf>;

    /// What it counts and measures: beans of `/jmx` and series of `/prom`. May wait for locks.
    fn records(&self) -> Vec<Record>;

    /// The beans of `/jmx` that are no metrics, made by [`bean`](super::bean). May wait for locks and disks.
    fn beans(&self) -> Vec<Value>;

    /// Whether it can serve. May wait for locks, not for disks.
    fn health(&self) -> Health;
}

/// The routes of these pages; their handlers run on `threads`.
pub fn standard_pages(daemon: Arc<impl StandardPages>, threads: &HandlerThreads) -> Router {
    let of_conf = Arc::clone(&daemon);
    let of_profile = Arc::clone(&daemon);
    let conf_threads = threads.clone();
    let conf_page = async move |RawQuery(query): RawQuery, headers: HeaderMap| {
        let make = move || {
            let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
            let query = query.unwrap_or_default();
            let conf = of_conf.conf();
            match check_administrator(&conf, QueryValues::parse(&query).get("user.name")) {
                Ok(()) => conf_page::page(&conf, &query, accept.unwrap_or_default()),
                Err(refusal) => refusal,
            }
        };
        conf_threads.run(make).await
    };
    Router::new()
        .route("/conf", get(conf_page))
        .merge(metric_pages(&daemon, threads))
        .merge(health_page(daemon))
        .merge(profile_page(move || of_profile.conf()))
}

fn metric_pages(daemon: &Arc<impl StandardPages>, threads: &HandlerThreads) -> Router {
    let (of_jmx, jmx_threads) = (Arc::clone(daemon), threads.clone());
    let load = Arc::new(ProcessorLoad::begin());
    let jmx_page = async move |RawQuery(query): RawQuery| {
        let make = move || {
            jmx::page(query.as_deref().unwrap_or_default(), || {
                let metrics = metric_beans::beans(of_jmx.service(), &all_records(&*of_jmx));
                let mut beans = metric_beans::merged(of_jmx.beans(), metrics);
                beans.extend(load.beans());
                beans
            })
        };
        jmx_threads.run(make).await
    };
    let (of_prom, prom_threads) = (Arc::clone(daemon), threads.clone());
    let prom_page = async move || {
        let make = move || match prom::is_enabled(&of_prom.conf()) {
            true => prom::page(&all_records(&*of_prom)),
            false => prom::disabled(),
        };
        prom_threads.run(make).await
    };
    Router::new().route("/jmx", get(jmx_page)).route("/prom", get(prom_page))
}

/// The records of a daemon, and those of its process.
fn all_records(daemon: &impl StandardPages) -> Vec<Record> {
    let mut records = daemon.records();
    records.push(process_record(daemon.service()));
    records
}

fn health_page(daemon: Arc<impl StandardPages>) -> Router {
    let threads = HandlerThreads::new(PROBES_MAX);
    let page = async move || threads.run(move || daemon.health().page(daemon.service())).await;
    Router::new().route("/health", get(page))
}
