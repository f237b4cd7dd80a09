//! A DataNode as its owner sees it: start, addresses, stop.

use crate::error::Error;
use crate::http;
use crate::ipc;
use crate::namenodes::{Link, PoolService, Progress, addresses};
use crate::node::{Addresses, Ending, Node};
use crate::op::Operations;
use crate::reconfigure::Adjustable;
use crate::scan::{scan_directories, verify_volume};
use crate::services::actor::Actor;
use crate::services::disks;
use crate::services::lifeline::send_lifelines;
use crate::settings::Settings;
use crate::store::Store;
use crate::transfer::domain_port::DomainPort;
use crate::transfer::idle::IdleLimits;
use crate::transfer::server::Server;
use axum::Router;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use zerohop_conf::{Conf, ConfError, Role, check_protections, keys};
use zerohop_daemon::http::{HeatMaps, HttpOptions, HttpServer, MinimumRate};
use zerohop_system::clock;
use zerohop_transport::domain::effective_path;
use zerohop_transport::login::User;
use zerohop_transport::reconfigure::Reconfiguration;
use zerohop_transport::rpc::{ClientOptions, RpcServer, ServerOptions};

/// How long operations under way may take to end when the node stops.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// How a DataNode is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartOption {
    /// With what is in its directories.
    #[default]
    Regular,
    /// Replicas that were deleted during a rolling upgrade are put back first (`-rollback`).
    Rollback,
}

/// A running DataNode; several may live in one process. Dropping it without [`stop`](Self::stop)
/// ends it too, but does not wait.
pub struct DataNode {
    node: Arc<Node>,
    addresses: Addresses,
    server: Option<Server>,
    rpc: RpcServer,
    tasks: JoinSet<()>,
}

/// Reads the limits of the HTTP port. Without `zerohop.http.rate.min` it has no minimum rate: a WebHDFS client may write as
/// slowly as its lines come, and read as slowly as it works, as on Apache's DataNode.
fn http_options(conf: &Conf) -> Result<HttpOptions, ConfError> {
    let mut options = HttpOptions::from_conf(conf)?;
    if !conf.is_set(keys::ZEROHOP_HTTP_RATE_MIN.name) {
        options.rate_min = MinimumRate::NONE;
    }
    Ok(options)
}

impl DataNode {
    /// Opens the volumes, binds the ports and starts to serve; the NameNodes are looked for in the
    /// background, however long that takes. Needs a tokio runtime, which must outlive the node.
    pub async fn start(conf: Arc<Conf>) -> Result<DataNode, Error> {
        Self::start_with(conf, StartOption::Regular).await
    }

    /// As [`DataNode::start`], with a start option.
    pub async fn start_with(conf: Arc<Conf>, option: StartOption) -> Result<DataNode, Error> {
        check_protections(&conf, Role::DataNode)?;
        let rolls_back = option == StartOption::Rollback;
        let settings = Settings { rolls_back, ..Settings::read(&conf)? };
        let name_services = addresses::name_services(&conf)?;
        let transfer = bind(settings.transfer_addr, "dfs.datanode.address")?;
        let rpc = bind_rpc(&conf, &settings)?;
        let http_options = http_options(&conf)?;
        let handler_threads = http_options.handler_threads;
        let http = HttpServer::bind(settings.http_addr, http_options);
        let http = bound(settings.http_addr, "dfs.datanode.http.address", http)?;
        let for_store = settings.clone();
        let store = tokio::task::spawn_blocking(move || Store::open(&for_store))
            .await
            .map_err(|error| Error::Config(error.to_string()))??;
        let user = User::of_process();
        let mut rpc_options = ClientOptions::from_conf(&conf)?;
        // The actors have their own patience.
        (rpc_options.connect_retries, rpc_options.connect_retries_on_timeouts) = (0, 0);
        let handle = tokio::runtime::Handle::current();
        let reconfiguration = Reconfiguration::new(Arc::clone(&conf));
        let adjustable = Adjustable::read(&conf)?;
        let node =
            Node::new(settings, (reconfiguration, adjustable), store, handle, user, rpc_options);
        let addresses = Addresses {
            transfer: local(&transfer)?,
            ipc: rpc.local_addr(),
            http: http.local_addr(),
        };
        if node.addresses.set(addresses).is_err() {
            return Err(Error::Config("the node has addresses already".to_owned()));
        }
        let mut tasks = JoinSet::new();
        let pages = http.serve(http::router(Arc::clone(&node), handler_threads));
        let pages = system("HTTP port", pages)?;
        tasks.spawn(async move { match pages.await {} });
        ipc::register(&rpc, &node, &conf)?;
        _ = node.rpc_activity.set((rpc.local_addr().port(), rpc.activity()));
        system("RPC port", rpc.start())?;
        let limits = IdleLimits {
            first: node.settings.socket_timeout,
            keep_alive: node.settings.keep_alive,
        };
        let operations = Arc::new(Operations { node: Arc::clone(&node) });
        let domain = bind_domain(&node, addresses.transfer.port())?;
        let server = Server::start(transfer, domain, node.threads.clone(), limits, operations);
        let server = system("transfer port", server)?;
        for name_service in name_services {
            start_service(&node, name_service, &mut tasks);
        }
        tasks.spawn(disks::watch(Arc::clone(&node)));
        for volume in node.store.volumes().in_use() {
            verify_volume(&node, &volume);
        }
        scan_directories(&node);
        tracing::info!(
            "DataNode {} serves block data at {}, RPC at {}",
            node.store.datanode_uuid(),
            addresses.transfer,
            addresses.ipc
        );
        Ok(DataNode { node, addresses, server: Some(server), rpc, tasks })
    }

    /// Where it serves block data.
    pub fn data_addr(&self) -> SocketAddr {
        self.addresses.transfer
    }

    /// Where it serves RPC.
    pub fn ipc_addr(&self) -> SocketAddr {
        self.addresses.ipc
    }

    /// Where it serves clients of this machine, if it does.
    pub fn domain_socket(&self) -> Option<PathBuf> {
        self.node.domain_socket.path.read().clone()
    }

    /// Where it serves HTTP.
    pub fn http_addr(&self) -> SocketAddr {
        self.addresses.http
    }

    /// Makes the heat maps of its volumes, for the pages of another daemon in this process.
    pub fn heat_maps(&self) -> HeatMaps {
        http::heat_source(&self.node)
    }

    /// Answers WebHDFS's URLs by `router`.
    pub fn serve_webhdfs(&self, router: Router) {
        self.node.webhdfs.mount(router);
    }

    /// Its id, the same after a restart on the same volumes.
    pub fn uuid(&self) -> &str {
        self.node.store.datanode_uuid()
    }

    fn progress(&self) -> Vec<watch::Receiver<Progress>> {
        self.node.services().iter().flat_map(|service| service.progress()).collect()
    }

    /// Waits until its blocks are reported to all NameNodes that did not refuse it.
    pub async fn ready(&self) {
        for mut progress in self.progress() {
            let done =
                |progress: &Progress| matches!(progress, Progress::Reported | Progress::Refused(_));
            // The sender lives as long as the node.
            let _reached = progress.wait_for(done).await;
        }
    }

    /// Waits until the node cannot go on: all its NameNodes refused it, too many volumes failed, or it
    /// was told to stop ([`Error::ShutDown`]).
    pub async fn failed(&self) -> Error {
        tokio::select! {
            error = self.refused() => error,
            ending = self.node.ended() => match ending {
                Ending::Asked { .. } => Error::ShutDown,
                Ending::Failed(reason) => Error::Stopped(reason),
            }
        }
    }

    async fn refused(&self) -> Error {
        let mut reason = String::new();
        for mut progress in self.progress() {
            let refused = |progress: &Progress| matches!(progress, Progress::Refused(_));
            if let Ok(progress) = progress.wait_for(refused).await
                && let Progress::Refused(why) = &*progress
            {
                reason = why.clone();
            }
        }
        Error::Stopped(reason)
    }

    /// Stops serving, tells writers, closes the volumes.
    pub async fn stop(mut self) {
        self.rpc.stop().await;
        self.tasks.shutdown().await;
        let server = self.server.take();
        let node = Arc::clone(&self.node);
        let stopping = tokio::task::spawn_blocking(move || {
            if let Some(mut server) = server {
                server.stop();
            }
            node.directory_scanner.stop();
            node.block_scanner.stop();
            node.store.pools().stop_writers();
            node.threads.close(clock::now() + STOP_PATIENCE);
        });
        if let Err(error) = stopping.await {
            tracing::error!("the DataNode did not stop well: {error}");
        }
    }
}

impl Drop for DataNode {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.stop();
            self.node.directory_scanner.stop();
            self.node.block_scanner.stop_without_waiting();
            self.node.store.pools().stop_writers();
        }
    }
}

/// The domain socket next to the transfer port, where one is configured.
fn bind_domain(node: &Node, port: u16) -> Result<Option<DomainPort>, Error> {
    let configured = &node.settings.domain_socket_path;
    if configured.is_empty() {
        if node.settings.passes_descriptors {
            tracing::warn!(
                "dfs.client.read.shortcircuit is on, but dfs.domain.socket.path is not set: no \
                 local reads"
            );
        }
        return Ok(None);
    }
    let path = effective_path(configured, port);
    let bound = DomainPort::bind(path.clone(), Arc::clone(&node.domain_socket));
    bound.map(Some).map_err(|source| Error::DomainSocket { path, source })
}

fn bind(addr: SocketAddr, key: &'static str) -> Result<TcpListener, Error> {
    bound(addr, key, TcpListener::bind(addr))
}

fn bound<T>(addr: SocketAddr, key: &'static str, result: std::io::Result<T>) -> Result<T, Error> {
    result.map_err(|source| Error::Bind { addr, key, source })
}

fn local(listener: &TcpListener) -> Result<SocketAddr, Error> {
    system("own address", listener.local_addr())
}

fn system<T>(what: &'static str, result: std::io::Result<T>) -> Result<T, Error> {
    result.map_err(|source| Error::System { what, source })
}

fn bind_rpc(conf: &Conf, settings: &Settings) -> Result<RpcServer, Error> {
    let addr = settings.ipc_addr;
    let options = ServerOptions::from_conf(conf, addr.port(), settings.handlers)?;
    RpcServer::bind(addr, options).map_err(|source| Error::Bind {
        addr,
        key: "dfs.datanode.ipc.address",
        source,
    })
}

fn start_service(node: &Arc<Node>, found: addresses::NameService, tasks: &mut JoinSet<()>) {
    let service = PoolService::new(found.name);
    for (index, addr) in found.namenodes.into_iter().enumerate() {
        service.add(Link::new(addr, index, &node.user, node.rpc_options.clone()));
    }
    for (link, lifeline) in service.links().into_iter().zip(found.lifelines) {
        if let Some(addr) = lifeline {
            let (node, service) = (Arc::clone(node), Arc::clone(&service));
            let interval = node.settings.lifeline_interval;
            tasks.spawn(send_lifelines(node, service, Arc::clone(&link), addr, interval));
        }
        tasks.spawn(Actor::new(link, Arc::clone(node), Arc::clone(&service)).run());
    }
    node.add_service(service);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_clients_of_webhdfs_are_cut_off_only_where_that_is_configured() {
        let mut conf = Conf::new();
        assert_eq!(http_options(&conf).unwrap().rate_min.bytes_per_s, 0);
        conf.set(keys::ZEROHOP_HTTP_RATE_MIN.name, "2k");
        assert_eq!(http_options(&conf).unwrap().rate_min.bytes_per_s, 2048);
    }
}
