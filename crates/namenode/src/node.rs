//! A NameNode from format to stop.

use crate::Error;
use crate::checkpoint;
use crate::checkpoints::Checkpoints;
use crate::clock::Clock;
use crate::core::Core;
use crate::file_copier::FileCopier;
use crate::ha::{HaState, HaStatus};
use crate::hosts::Hosts;
use crate::http;
use crate::identity::Identity;
use crate::loader::image_info;
use crate::monitor;
use crate::racks::Racks;
use crate::resolve::resolve_one;
use crate::resources::{self, Resources};
use crate::retry::RetryCache;
use crate::rpc::{self, LocalCalls};
use crate::served::{Loader, ServedNamespace};
use crate::settings::Settings;
use crate::storage::{
    EditLog, FormatOptions, NameStorage, StorageConfig, StorageError, StorageInfo,
};
use crate::supervise::supervise;
use crate::transition;
use axum::Router;
use parking_lot::Mutex;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use zerohop_conf::{Conf, Role, check_protections, keys};
use zerohop_daemon::http::HttpOptions;
use zerohop_journal::layout::LayoutVersion;
use zerohop_namespace::Namespace;
use zerohop_namespace::blocks::BlockManager;
use zerohop_transport::rpc::server::{RpcServer, ServerOptions};
use zerohop_wire::TxId;

/// How a NameNode is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartOption {
    /// From what is in the name directories.
    #[default]
    Regular,
    /// The same, in a rolling upgrade that a NameNode of an older layout prepared (`-rollingUpgrade started`).
    RollingUpgradeStarted,
    /// From the image that was saved when the rolling upgrade was prepared; everything since is given up
    /// (`-rollingUpgrade rollback`).
    RollingUpgradeRollback,
}

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
    /// Makes the configured name directories anew: ids, and the image of an empty namespace.
    ///
    /// # Errors
    /// If a directory holds data and `options.force` is not set, or cannot be written.
    pub fn format(conf: &Conf, options: FormatOptions) -> Result<(), Error> {
        check_protections(conf, Role::NameNode)?;
        let settings = Settings::from_conf_for_format(conf)?;
        let namespace = Namespace::new(settings.1, BlockManager::new(settings.0));
        let storage = StorageConfig::from_conf(conf)?;
        if conf.get(&keys::DFS_REFORMAT_DISABLED)?
            && let Some(path) = NameStorage::dirs_with_data(&storage).first()
        {
            return Err(Error::Invalid(format!(
                "NameNode format aborted as reformat is disabled for this cluster: {} holds data, and \
                 dfs.reformat.disabled is true",
                path.display()
            )));
        }
        let info = NameStorage::format(storage, options, |info, image| {
            namespace.save_image(image, image_info(info, TxId(0)))
        })?;
        tracing::info!(
            "Formatted: cluster id {}, block pool {}",
            info.cluster_id,
            info.block_pool_id
        );
        Ok(())
    }

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
        // The keys of name services with several NameNodes are refused.
        Self::start_as(conf, option, false).await
    }

    /// `is_ha_enabled`: whether it may become a standby.
    pub(crate) async fn start_as(
        conf: Arc<Conf>,
        option: StartOption,
        is_ha_enabled: bool,
    ) -> Result<Self, Error> {
        check_protections(&conf, Role::NameNode)?;
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
        let http_options = HttpOptions::from_conf(&conf)?;
        let handler_threads = http_options.handler_threads;
        let http = http::bind(&settings.http_bind, http_options)?;
        let http_addr = http.local_addr();
        let (failed, failure) = watch::channel(None);
        let core = tokio::task::spawn_blocking({
            let conf = conf.clone();
            move || load(conf, settings, option, (is_ha_enabled, failed))
        });
        let core = Arc::new(core.await.map_err(|e| Error::Invalid(e.to_string()))??);
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
        let pages = http.serve(http::router(core.clone(), handler_threads));
        let pages = pages.map_err(|source| Error::bind("", "dfs.namenode.http-address", source))?;
        let tasks = vec![
            supervise("serving HTTP", pages),
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

    /// Answers WebHDFS's URLs by `router`.
    pub fn serve_webhdfs(&self, router: Router) {
        self.core.webhdfs.mount(router);
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
        self.core.active_jobs.stop().await;
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
}

impl Drop for NameNode {
    fn drop(&mut self) {
        self.core.active_jobs.abort();
        self.tasks.lock().iter().for_each(JoinHandle::abort);
    }
}

fn load(
    conf: Arc<Conf>,
    settings: Settings,
    option: StartOption,
    (is_ha_enabled, failed): (bool, watch::Sender<Option<String>>),
) -> Result<Core, Error> {
    let clock = Clock::start();
    let racks = Racks::from_conf(&conf)?;
    let hosts = Hosts::from_conf(&conf).map_err(|e| Error::Invalid(e.to_string()))?;
    let accepts_older_layout = option == StartOption::RollingUpgradeStarted;
    let config = StorageConfig { accepts_older_layout, ..StorageConfig::from_conf(&conf)? };
    let storage = Arc::new(NameStorage::open(config)?);
    let blocks = BlockManager::new(settings.block_params.clone());
    let namespace = Namespace::new(settings.namespace_params.clone(), blocks);
    let retries = RetryCache::new(settings.retry_expiry.as_millis() as u64);
    let served = ServedNamespace::new(namespace, retries, clock);
    let has_rollback_image = storage.rollback_images().exist();
    let mut loader = Loader { served: &served, has_rollback_image };
    let rolls_back = option == StartOption::RollingUpgradeRollback;
    let report = match rolls_back {
        true => storage.rollback_images().load(&mut loader)?,
        false => storage.load(&mut loader)?,
    };
    tracing::info!(
        "Loaded image {} and {} edits up to {}",
        report.image.display(),
        report.edits,
        report.last_txid
    );
    let info = storage.info().clone();
    if rolls_back {
        served.write().forget_rolling_upgrade();
        storage.rollback_images().roll_back(report.last_txid)?;
        tracing::info!("rolled back to transaction {}", report.last_txid);
    } else if !served.read().rolling_upgrade().is_under_way() {
        check_layout(&info)?;
        // A crash kept the prepare, or the finalize, of a rolling upgrade from its end.
        storage.rollback_images().finalize()?;
    }
    let mut image = (report.image_txid, report.image_written_ms);
    if report.needs_save || checkpoint::is_due_at_start(&conf, &report, clock.now().wall_ms)? {
        let saved = storage.save_image(report.last_txid, |image| {
            served.read().save_image(image, image_info(&info, TxId(report.last_txid)))
        });
        match saved {
            Ok(()) => image = (report.last_txid, clock.now().wall_ms),
            // Edits of this layout must not follow an image of another.
            Err(error) if info.layout != LayoutVersion::CURRENT => return Err(error.into()),
            // The images and edits that are there were enough for this start.
            Err(error) => tracing::error!("no image was saved, the one before stays: {error}"),
        }
    }
    let checkpoints = Checkpoints::from_conf(&conf, image)?;
    let log =
        EditLog::start(storage.clone(), report.last_txid + 1, transition::report_failure(&failed))?;
    served.write().start(clock.now());
    if rolls_back {
        served.write().blocks_mut().safe_mode_mut().expect_newer_blocks();
    }
    let identity = Identity {
        namespace_id: info.namespace_id,
        cluster_id: info.cluster_id.clone(),
        ctime: info.c_time_ms as u64,
        pool: info.block_pool_id.as_str().into(),
    };
    Ok(Core::new(
        conf,
        settings,
        identity,
        storage,
        (log, failed),
        HaStatus::new(HaState::Active, is_ha_enabled),
        served,
        clock,
        checkpoints,
        racks,
        hosts,
    ))
}

/// Outside a rolling upgrade nothing would be left of the older layout to go back to.
fn check_layout(info: &StorageInfo) -> Result<(), StorageError> {
    match info.layout {
        LayoutVersion::CURRENT => Ok(()),
        found => Err(StorageError::NoRollingUpgrade { found }),
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
