//! A NameNode from format to stop.

use crate::Error;
use crate::core::Core;
use crate::file_copier::FileCopier;
use crate::ha::HaState;
use crate::http::{self, Starting};
use crate::load::load;
use crate::monitor;
use crate::name_service::NameService;
use crate::namesake;
use crate::resolve::resolve_one;
use crate::resources::{self, Resources};
use crate::rpc::{self, LocalCalls};
use crate::settings::Settings;
use crate::start::{Membership, StartOption};
use crate::start_progress::StartProgress;
use crate::state_ids::StateIds;
use crate::storage::StorageError;
use crate::supervise::{AbortedWhenDropped, supervise};
use crate::transition;
use axum::Router;
use parking_lot::Mutex;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use zerohop_conf::{Conf, Role, check_protections, keys};
use zerohop_daemon::http::{HandlerThreads, HeatMaps, heat_page};
use zerohop_pages::{PageOwner, Site};
use zerohop_transport::rpc::server::{RpcServer, ServerOptions};

/// Heat maps that are drawn at once.
const HEATMAPS_MAX: usize = 4;

/// A running NameNode.
pub struct NameNode {
    core: Arc<Core>,
    rpc: RpcServer,
    service_rpc: Option<RpcServer>,
    lifeline_rpc: Option<RpcServer>,
    http_addr: SocketAddr,
    /// What it does by itself.
    tasks: Mutex<Vec<JoinHandle<Infallible>>>,
    failure: watch::Receiver<Option<String>>,
}

impl NameNode {
    /// Loads the name directories and serves. Runs inside the caller's tokio runtime.
    ///
    /// # Errors
    /// If the directories are not formatted, locked or damaged, or a port is taken.
    pub async fn start(conf: Arc<Conf>) -> Result<Self, Error> {
        Self::start_with(conf, StartOption::Regular).await
    }

    /// As [`NameNode::start`], with a start option.
    ///
    /// # Errors
    /// Also if there is no rolling upgrade that the option could mean.
    pub async fn start_with(conf: Arc<Conf>, option: StartOption) -> Result<Self, Error> {
        check_protections(&conf, Role::NameNode)?;
        let service = NameService::of(&conf)?;
        let conf = Arc::new(service.specialized(&conf)?);
        service.check_shared_edits(&conf)?;
        let is_enabled = service.is_ha_enabled();
        if is_enabled {
            namesake::check_none_runs(&service, &conf).await?;
        }
        let is_observer =
            option == StartOption::Observer || conf.get(&keys::DFS_NAMENODE_OBSERVER_ENABLED)?;
        let state = match (is_enabled, is_observer) {
            (false, _) => HaState::Active,
            (true, false) => HaState::Standby,
            (true, true) => HaState::Observer,
        };
        Self::start_as(conf, option, Membership { service, state, is_enabled }).await
    }

    /// As `membership` says; `conf` is that of this NameNode.
    pub(crate) async fn start_as(
        conf: Arc<Conf>,
        option: StartOption,
        membership: Membership,
    ) -> Result<Self, Error> {
        let mut settings = Settings::from_conf(&conf)?;
        // Ports first: a taken one shows before minutes of loading.
        let mut options =
            ServerOptions::from_conf(&conf, port_of(&settings.rpc_bind), settings.handlers)?;
        options.readers = settings.readers;
        let rpc = bind(&settings.rpc_bind, "dfs.namenode.rpc-address", options)?;
        // Pages show the port that was taken where any free one was asked for.
        settings.rpc_bind = with_port(&settings.rpc_bind, rpc.local_addr().port());
        let service_rpc = match &settings.service_bind {
            Some(address) => {
                let mut options =
                    ServerOptions::from_conf(&conf, port_of(address), settings.handlers)?;
                options.readers = settings.readers;
                Some(bind(address, "dfs.namenode.servicerpc-address", options)?)
            }
            None => None,
        };
        let lifeline_rpc = match &settings.lifeline_bind {
            Some(address) => {
                let mut options =
                    ServerOptions::from_conf(&conf, port_of(address), settings.handlers)?;
                options.readers = settings.readers;
                Some(bind(address, "dfs.namenode.lifeline.rpc-address", options)?)
            }
            None => None,
        };
        let http_options = http::options(&conf)?;
        let handler_threads = http_options.handler_threads;
        let http = http::bind(&settings.http_bind, http_options)?;
        let http_addr = http.local_addr();
        let (failed, failure) = watch::channel(None);
        let progress = Arc::<StartProgress>::default();
        let starting = Starting::new(settings.rpc_bind.clone(), Arc::clone(&progress));
        let pages = http.serve(starting.router());
        let pages = pages.map_err(|source| Error::bind("", "dfs.namenode.http-address", source))?;
        let pages = AbortedWhenDropped::new(supervise("serving HTTP", pages));
        let core = tokio::task::spawn_blocking({
            let conf = conf.clone();
            move || load(conf, settings, option, (membership, failed), progress)
        });
        let core = Arc::new(core.await.map_err(|e| Error::Invalid(e.to_string()))??);
        StateIds::serve(&rpc, &core)?;
        let resources = Resources::from_conf(&core.conf, core.storage.config())?;
        for server in [Some(&rpc), service_rpc.as_ref()].into_iter().flatten() {
            rpc::register(server, &core);
            server.start().map_err(|source| Error::bind("", "dfs.namenode.rpc-address", source))?;
        }
        if let Some(server) = &lifeline_rpc {
            rpc::register_lifelines(server, &core);
            let key = "dfs.namenode.lifeline.rpc-address";
            server.start().map_err(|source| Error::bind("", key, source))?;
        }
        let servers = [Some(&rpc), service_rpc.as_ref(), lifeline_rpc.as_ref()];
        let activity = servers.into_iter().flatten();
        let activity = activity.map(|server| (server.local_addr().port(), server.activity()));
        core.set_rpc_activity(activity.collect());
        starting.open(http::router(core.clone(), handler_threads));
        let tasks = vec![
            pages.keep(),
            supervise("monitoring DataNodes and blocks", monitor::run(core.clone())),
            supervise("watching the free space", resources::watch(core.clone(), resources)),
        ];
        transition::start_jobs(&core);
        tracing::info!("NameNode RPC up at: {}", rpc.local_addr());
        Ok(Self {
            core,
            rpc,
            service_rpc,
            lifeline_rpc,
            http_addr,
            tasks: Mutex::new(tasks),
            failure,
        })
    }

    /// Gives `fsck -move` what copies files; the first one stays.
    pub fn copy_files_with(&self, copier: Arc<dyn FileCopier>) {
        _ = self.core.file_copier.set(copier);
    }

    /// Answers `/heatmap` by `maps`, those of DataNodes in this process.
    pub fn serve_heatmap(&self, maps: HeatMaps) {
        let (core, threads) = (Arc::clone(&self.core), HandlerThreads::new(HEATMAPS_MAX));
        let name = "all DataNodes of this process".to_owned();
        let router = heat_page(name, maps, move || core.reconfiguration.conf(), threads);
        self.core.heatmap.mount(router);
    }

    /// Answers WebHDFS's URLs by `router`.
    pub fn serve_webhdfs(&self, router: Router) {
        self.core.webhdfs.mount(router);
    }

    /// What is the same on all pages of this NameNode.
    pub fn page_site(&self) -> impl Fn() -> Site + Send + Sync + 'static {
        let core = Arc::downgrade(&self.core);
        let (kind, name) = ("NameNode", self.core.settings.rpc_bind.clone());
        move || match core.upgrade() {
            Some(core) => core.site(),
            None => Site { kind, name: name.clone(), state: None, nav: Vec::new() },
        }
    }

    /// Answers the file browser's URLs by `router`.
    pub fn serve_explorer(&self, router: Router) {
        self.core.explorer.mount(router);
    }

    /// What another part of this process may ask without a connection.
    pub fn local_calls(&self) -> LocalCalls {
        LocalCalls::new(&self.core)
    }

    #[cfg(test)]
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Where clients and DataNodes connect.
    pub fn rpc_addr(&self) -> SocketAddr {
        self.rpc.local_addr()
    }

    /// Where the pages are.
    pub fn http_addr(&self) -> SocketAddr {
        self.http_addr
    }

    /// The port of `dfs.namenode.servicerpc-address`, if one is configured.
    pub fn service_rpc_addr(&self) -> Option<SocketAddr> {
        self.service_rpc.as_ref().map(RpcServer::local_addr)
    }

    /// Whether changes are refused now.
    pub fn is_in_safe_mode(&self) -> bool {
        self.core.read(|namespace| namespace.blocks().safe_mode().is_on())
    }

    /// Returns the reason that changes are refused now, in Hadoop's words, or `None` outside of safe mode.
    pub fn safe_mode_tip(&self) -> Option<String> {
        self.core.read(|namespace| {
            let safe_mode = namespace.blocks().safe_mode();
            safe_mode.is_on().then(|| safe_mode.tip())
        })
    }

    /// Returns `true` if the disks of the edit log have too little free space, for which safe mode is on.
    pub fn is_low_on_space(&self) -> bool {
        self.core.read(|namespace| namespace.blocks().safe_mode().is_low_on_resources())
    }

    /// DataNodes whose heartbeats arrive.
    pub fn live_datanodes(&self) -> usize {
        self.core.read(|namespace| namespace.blocks().stats().live_nodes as usize)
    }

    /// Returns when the edit log has failed, with the reason: the process must end then, not stop cleanly.
    pub async fn failed(&self) -> String {
        let mut failure = self.failure.clone();
        loop {
            if let Some(reason) = failure.borrow_and_update().clone() {
                return reason;
            }
            if failure.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Stops serving, finishes the edit log's segment, frees the directories.
    pub async fn stop(&self) {
        self.core.state_jobs.end();
        self.core.state_jobs.stop().await;
        let tasks = std::mem::take(&mut *self.tasks.lock());
        tasks.iter().for_each(JoinHandle::abort);
        // The HTTP port is free when its task has ended.
        for task in tasks {
            _ = task.await;
        }
        self.rpc.stop().await;
        for server in [&self.service_rpc, &self.lifeline_rpc].into_iter().flatten() {
            server.stop().await;
        }
        let core = self.core.clone();
        let closed = tokio::task::spawn_blocking(move || core.log().close()).await;
        if let Ok(Err(error)) = closed {
            tracing::error!("{error}");
        }
        self.core.storage.unlock();
    }

    /// Connections of clients that are open.
    #[cfg(test)]
    pub(crate) fn connections(&self) -> usize {
        self.rpc.connections()
    }
}

impl Drop for NameNode {
    fn drop(&mut self) {
        self.core.state_jobs.end();
        self.tasks.lock().iter().for_each(JoinHandle::abort);
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        Self::Storage(error.to_string())
    }
}

fn with_port(address: &str, port: u16) -> String {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    format!("{host}:{port}")
}

fn port_of(address: &str) -> u16 {
    address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0)
}

fn bind(address: &str, key: &'static str, options: ServerOptions) -> Result<RpcServer, Error> {
    let resolved = resolve_one(address, key)?;
    RpcServer::bind(resolved, options).map_err(|source| Error::bind(address, key, source))
}
