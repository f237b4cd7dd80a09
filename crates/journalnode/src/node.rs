//! A JournalNode as its owner sees it: start, addresses, stop.

use crate::allowed_hosts::AllowedHosts;
use crate::http;
use crate::journals::Journals;
use crate::rpc::{Calls, HttpAddress, InterQJournalProtocol, QJournalProtocol};
use crate::settings::Settings;
use crate::shown::Shown;
use crate::sync::Syncer;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use tokio::task::JoinSet;
use zerohop_conf::{Conf, ConfError, Key, Role, check_protections, keys};
use zerohop_daemon::http::{HttpOptions, HttpServer};
use zerohop_daemon::{listen, process};
use zerohop_system::clock;
use zerohop_transport::rpc::{ClientOptions, RpcServer, ServerOptions};

/// A running JournalNode. Dropped, it ends, but does not wait for calls under way.
pub struct JournalNode {
    rpc: RpcServer,
    http: SocketAddr,
    journals: Arc<Journals>,
    tasks: JoinSet<()>,
}

/// Why a JournalNode does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// A port.
    #[error("{key}: {address}: {source}; {}", listen::advice(source))]
    Address {
        /// The key that names it.
        key: &'static str,
        /// Its value.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// A journal that is there cannot be opened.
    #[error(transparent)]
    Journal(Box<dyn std::error::Error + Send + Sync>),
}

impl JournalNode {
    /// Opens the journals that are there, takes the ports and serves. Needs a tokio runtime, which must outlive the node.
    ///
    /// # Errors
    /// If the configuration is wrong, a port is taken, or a journal cannot be read or belongs to another process.
    pub async fn start(conf: Arc<Conf>) -> Result<Self, Error> {
        check_protections(&conf, Role::JournalNode)?;
        let settings = Settings::from_conf(&conf)?;
        let hosts = AllowedHosts::from_conf(&conf)?;
        if let Some(advice) = hosts.advice() {
            tracing::warn!("{advice}");
        }
        let interval = settings.sync_interval;
        let rpc_bind = rpc_address(&conf)?;
        let http_bind = address(
            &conf,
            &keys::DFS_JOURNALNODE_HTTP_ADDRESS,
            &keys::DFS_JOURNALNODE_HTTP_BIND_HOST,
        )?;
        let handlers = conf.get(&keys::DFS_JOURNALNODE_HANDLER_COUNT)?;
        let mut options = ServerOptions::from_conf(&conf, rpc_bind.port(), handlers)?;
        // Each writer waits for one answer after the other: it is sooner there when its connection stays with a thread.
        options.readers = 1;
        let rpc = RpcServer::bind(rpc_bind, options)
            .map_err(not_bound(&keys::DFS_JOURNALNODE_RPC_ADDRESS, rpc_bind))?;
        let http_options = HttpOptions::from_conf(&conf)?;
        let threads = http_options.handler_threads;
        let server = HttpServer::bind(http_bind, http_options)
            .map_err(not_bound(&keys::DFS_JOURNALNODE_HTTP_ADDRESS, http_bind))?;
        let http = server.local_addr();

        let journals = Arc::new(Journals::new(settings));
        let opened = Arc::clone(&journals);
        let opening = tokio::task::spawn_blocking(move || opened.open_existing());
        let opened = opening.await.map_err(|error| Error::Journal(error.into()))?;
        opened.map_err(|error| Error::Journal(error.into()))?;

        let url = format!("http://{}:{}", shown_host(http), http.port());
        let address = Arc::new(HttpAddress { port: http.port(), url });
        let calls =
            Calls { journals: Arc::clone(&journals), hosts: Arc::clone(&hosts), http: address };
        rpc.register(Arc::new(QJournalProtocol(calls.clone())));
        rpc.register(Arc::new(InterQJournalProtocol(calls)));
        let started_ms = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let shown = Shown {
            conf: Arc::clone(&conf),
            journals: Arc::clone(&journals),
            hosts: Arc::clone(&hosts),
            rpc: rpc.local_addr(),
            started_ms: started_ms as u64,
            calls: rpc.activity(),
        };
        let mut tasks = JoinSet::new();
        let resolving = Arc::clone(&hosts);
        tasks.spawn(async move { match resolving.keep_resolved().await {} });
        let pages = server
            .serve(http::router(Arc::new(shown), threads))
            .map_err(not_bound(&keys::DFS_JOURNALNODE_HTTP_ADDRESS, http))?;
        tasks.spawn(async move { match pages.await {} });
        rpc.start().map_err(not_bound(&keys::DFS_JOURNALNODE_RPC_ADDRESS, rpc_bind))?;
        if let Some(interval) = interval {
            let options = ClientOptions::from_conf(&conf)?;
            let syncer = Syncer::new(Arc::clone(&journals), rpc.local_addr(), options);
            tasks.spawn(async move { match syncer.run(interval).await {} });
        }
        Ok(Self { rpc, http, journals, tasks })
    }

    /// Where it serves RPC.
    pub fn rpc_addr(&self) -> SocketAddr {
        self.rpc.local_addr()
    }

    /// Where it serves its pages and segments.
    pub fn http_addr(&self) -> SocketAddr {
        self.http
    }

    /// Ends in order: calls under way are carried out, and the directories are unlocked.
    pub async fn stop(mut self) {
        self.rpc.stop().await;
        self.tasks.shutdown().await;
        let journals = self.journals;
        let ended = tokio::task::spawn_blocking(move || journals.close());
        let _ = ended.await;
    }
}

/// Where it is to serve RPC.
pub(crate) fn rpc_address(conf: &Conf) -> Result<SocketAddr, Error> {
    address(conf, &keys::DFS_JOURNALNODE_RPC_ADDRESS, &keys::DFS_JOURNALNODE_RPC_BIND_HOST)
}

fn address(
    conf: &Conf,
    key: &Key<String>,
    host: &Key<Option<String>>,
) -> Result<SocketAddr, Error> {
    let mut address = conf.get(key)?;
    if let Some(host) = conf.get(host)?.filter(|host| !host.is_empty())
        && let Some((_, port)) = address.rsplit_once(':')
    {
        address = format!("{host}:{port}");
    }
    let key = key.name;
    let not_found = |source| Error::Address { key, address: address.clone(), source };
    let mut found = address.to_socket_addrs().map_err(not_found)?;
    found.next().ok_or_else(|| not_found(io::ErrorKind::NotFound.into()))
}

fn not_bound<T>(key: &Key<T>, address: SocketAddr) -> impl FnOnce(io::Error) -> Error {
    let key = key.name;
    move |source| Error::Address { key, address: address.to_string(), source }
}

/// The host that others can reach: this machine's name where all its addresses are listened on.
fn shown_host(address: SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => process::host_name(),
        std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    }
}
