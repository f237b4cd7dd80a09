//! The talk with one NameNode: handshake, heartbeats, reports, in that order for ever.

use super::incremental::Outbox;
use super::reports;
use super::{PoolIdentity, PoolService, Progress};
use crate::node::Node;
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use zerohop_proto::hdfs::datanode::{
    BlockReceivedAndDeletedRequestProto, BlockReceivedAndDeletedResponseProto,
    BlockReportResponseProto, CacheReportRequestProto, CacheReportResponseProto,
    DatanodeRegistrationProto, ErrorReportRequestProto, ErrorReportResponseProto,
    HeartbeatRequestProto, HeartbeatResponseProto, RegisterDatanodeRequestProto,
    RegisterDatanodeResponseProto, ReportBadBlocksRequestProto, ReportBadBlocksResponseProto,
};
use zerohop_proto::hdfs::nnha_status_heartbeat_proto::State as HaState;
use zerohop_proto::hdfs::{LocatedBlockProto, VersionRequestProto, VersionResponseProto};
use zerohop_transport::rpc::{RpcClient, RpcError};
use zerohop_wire::JavaException;

/// The protocol's name and version.
pub(crate) const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
pub(crate) const VERSION: u64 = 1;

const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(1);

/// The talk with one NameNode.
pub(crate) struct Actor {
    /// `host:port`.
    pub(crate) addr: String,
    /// Its place among the NameNodes of its service.
    index: usize,
    pub(crate) outbox: Outbox,
    client: RpcClient,
    registration: RwLock<Option<DatanodeRegistrationProto>>,
    progress: watch::Sender<Progress>,
    /// Wakes the heartbeat loop before its time.
    wake: Notify,
    full_report_asked: AtomicBool,
    /// Held while reports are made and sent: a full report made before a block's news and taken
    /// after them would make the NameNode forget the block.
    reporting: tokio::sync::Mutex<()>,
}

/// Why the talk cannot go on.
enum End {
    /// Try again after a while.
    Retry(String),
    /// The NameNode will not have us.
    Refused(String),
}

impl From<RpcError> for End {
    fn from(error: RpcError) -> Self {
        match error.remote_kind() {
            Some(
                JavaException::UnregisteredNode
                | JavaException::DisallowedDatanode
                | JavaException::IncorrectVersion,
            ) => Self::Refused(error.to_string()),
            _ => Self::Retry(error.to_string()),
        }
    }
}

/// What is due, and when.
struct Schedule {
    heartbeat: Instant,
    full_report: Instant,
    cache_report: Instant,
    lease: Option<u64>,
}

impl Actor {
    /// An actor for NameNode `index` at `addr`.
    pub(crate) fn new(addr: String, index: usize, client: RpcClient) -> Arc<Self> {
        Arc::new(Self {
            addr,
            index,
            outbox: Outbox::default(),
            client,
            registration: RwLock::new(None),
            progress: watch::channel(Progress::Connecting).0,
            wake: Notify::new(),
            full_report_asked: AtomicBool::new(false),
            reporting: tokio::sync::Mutex::new(()),
        })
    }

    /// How this DataNode is registered there.
    pub(crate) fn registration(&self) -> Option<DatanodeRegistrationProto> {
        self.registration.read().clone()
    }

    /// How far it is.
    pub(crate) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// The connection, for calls of other parts of the DataNode.
    pub(crate) fn client(&self) -> &RpcClient {
        &self.client
    }

    /// Sends a full report soon.
    pub(crate) fn ask_full_report(&self) {
        self.full_report_asked.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Talks until the task is aborted or the NameNode refuses.
    pub(crate) async fn run(self: Arc<Self>, node: Arc<Node>, service: Arc<PoolService>) {
        if let Err(reason) = self.talk(&node, &service).await {
            tracing::error!("NameNode {} refused this DataNode: {reason}", self.addr);
            self.progress.send_replace(Progress::Refused(reason));
        }
    }

    async fn talk(&self, node: &Arc<Node>, service: &Arc<PoolService>) -> Result<(), String> {
        self.until_done("register with", || self.handshake(node, service)).await?;
        let sending = self.send_news_forever(service);
        let beating = self.beat_forever(node, service);
        tokio::select! {
            ended = beating => ended,
            () = sending => Ok(()),
        }
    }

    /// Repeats `work` until it succeeds; one log line when it first fails and one when it is over.
    async fn until_done<F>(&self, what: &str, mut work: impl FnMut() -> F) -> Result<(), String>
    where
        F: Future<Output = Result<(), End>>,
    {
        let mut wait = RETRY_MIN;
        let mut last = String::new();
        loop {
            match work().await {
                Ok(()) => {
                    if !last.is_empty() {
                        tracing::info!("NameNode {} is back", self.addr);
                    }
                    return Ok(());
                }
                Err(End::Refused(reason)) => return Err(reason),
                Err(End::Retry(reason)) => {
                    if reason != last {
                        tracing::warn!(
                            "cannot {what} NameNode {}: {reason}; trying again every {} ms",
                            self.addr,
                            RETRY_MAX.as_millis()
                        );
                        last = reason;
                    }
                }
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn handshake(&self, node: &Arc<Node>, service: &Arc<PoolService>) -> Result<(), End> {
        let version: VersionResponseProto =
            self.client.call("versionRequest", &VersionRequestProto {}).await?;
        let identity = PoolIdentity::from(&version.info);
        self.open_pool(node, service, &identity).await?;
        let registration = node.registration_for(&identity);
        let request = RegisterDatanodeRequestProto { registration };
        let answer: RegisterDatanodeResponseProto =
            self.client.call("registerDatanode", &request).await?;
        tracing::info!("registered with NameNode {} for pool {}", self.addr, identity.pool_id);
        *self.registration.write() = Some(answer.registration);
        self.progress.send_if_modified(|progress| {
            let first = *progress == Progress::Connecting;
            if first {
                *progress = Progress::Registered;
            }
            first
        });
        Ok(())
    }

    async fn open_pool(
        &self,
        node: &Arc<Node>,
        service: &Arc<PoolService>,
        identity: &PoolIdentity,
    ) -> Result<(), End> {
        let _one_at_a_time = service.opening.lock().await;
        if let Some(known) = service.identity() {
            if known.pool_id != identity.pool_id || known.cluster_id != identity.cluster_id {
                return Err(End::Refused(format!(
                    "NameNode {} serves block pool {} of cluster {}, this DataNode has {} of {}",
                    self.addr,
                    identity.pool_id,
                    identity.cluster_id,
                    known.pool_id,
                    known.cluster_id
                )));
            }
            return Ok(());
        }
        let (node, wanted) = (Arc::clone(node), identity.clone());
        let opened = tokio::task::spawn_blocking(move || node.store.open_pool(&wanted)).await;
        match opened {
            Ok(Ok(())) => {
                service.set_identity(identity.clone());
                Ok(())
            }
            Ok(Err(error)) => Err(End::Refused(error.to_string())),
            Err(error) => Err(End::Retry(error.to_string())),
        }
    }

    async fn beat_forever(
        &self,
        node: &Arc<Node>,
        service: &Arc<PoolService>,
    ) -> Result<(), String> {
        let now = Instant::now();
        let delay = node.settings.block_report_initial_delay.mul_f64(fastrand::f64());
        let mut schedule =
            Schedule { heartbeat: now, full_report: now + delay, cache_report: now, lease: None };
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(schedule.heartbeat) => {}
                () = self.wake.notified() => {}
            }
            let step = self.step(node, service, &mut schedule).await;
            match step {
                Ok(()) => {}
                Err(End::Refused(reason)) => return Err(reason),
                Err(End::Retry(reason)) => {
                    tracing::warn!("NameNode {}: {reason}", self.addr);
                    self.until_done("reach", || self.beat_only(node, service)).await?;
                    schedule.heartbeat = Instant::now();
                }
            }
        }
    }

    async fn step(
        &self,
        node: &Arc<Node>,
        service: &Arc<PoolService>,
        schedule: &mut Schedule,
    ) -> Result<(), End> {
        let now = Instant::now();
        if now >= schedule.heartbeat {
            schedule.heartbeat = now + node.settings.heartbeat_interval;
            let wants_lease = schedule.lease.is_none() && now >= schedule.full_report;
            let answer = self.beat(node, wants_lease).await?;
            schedule.lease =
                answer.full_block_report_lease_id.filter(|id| *id != 0).or(schedule.lease);
            if self.obey(node, service, answer).await? {
                schedule.full_report = Instant::now();
                schedule.heartbeat = Instant::now();
                schedule.lease = None;
                return Ok(());
            }
        }
        let asked = self.full_report_asked.swap(false, Ordering::AcqRel);
        if asked || schedule.lease.is_some() {
            self.send_full_report(node, service, schedule.lease.take().unwrap_or(0)).await?;
            schedule.full_report = Instant::now() + node.settings.block_report_interval;
            self.progress.send_replace(Progress::Reported);
        }
        let reported = *self.progress.borrow() == Progress::Reported;
        if reported && node.store.cache.capacity() > 0 && now >= schedule.cache_report {
            schedule.cache_report = now + node.settings.cache_report_interval;
            self.send_cache_report(node, service).await?;
        }
        Ok(())
    }

    /// Which replicas are locked in memory; a DataNode without a cache says nothing.
    async fn send_cache_report(
        &self,
        node: &Arc<Node>,
        service: &Arc<PoolService>,
    ) -> Result<(), End> {
        let (Some(registration), Some(pool_id)) = (self.registration(), service.pool_id()) else {
            return Ok(());
        };
        let blocks = node.store.cache.blocks(&pool_id);
        let block_pool_id = pool_id.to_string();
        let request = CacheReportRequestProto { registration, block_pool_id, blocks };
        let answer: CacheReportResponseProto = self.client.call("cacheReport", &request).await?;
        if let Some(command) = answer.cmd {
            super::commands::obey(node, service, command);
        }
        Ok(())
    }

    async fn beat(
        &self,
        node: &Arc<Node>,
        wants_lease: bool,
    ) -> Result<HeartbeatResponseProto, End> {
        let registration =
            self.registration().ok_or_else(|| End::Retry("not registered".to_owned()))?;
        let for_reports = Arc::clone(node);
        let state = tokio::task::spawn_blocking(move || for_reports.store.storage_reports())
            .await
            .map_err(|error| End::Retry(error.to_string()))?;
        let request = HeartbeatRequestProto {
            registration,
            reports: state.reports,
            xmits_in_progress: Some(node.transfers_under_way()),
            // Apache counts its accepting thread: a NameNode compares loads by ratio, and a load
            // of zero elsewhere would make one writer too many here.
            xceiver_count: Some(u32::try_from(node.threads.busy() + 1).unwrap_or(u32::MAX)),
            failed_volumes: Some(state.failed_volumes),
            cache_capacity: Some(node.store.cache.capacity()),
            cache_used: Some(node.store.cache.used()),
            volume_failure_summary: state.failure_summary,
            request_full_block_report_lease: Some(wants_lease),
            slow_peers: Vec::new(),
            slow_disks: Vec::new(),
        };
        Ok(self.client.call("sendHeartbeat", &request).await?)
    }

    /// A heartbeat for its own sake: is the NameNode there again?
    async fn beat_only(&self, node: &Arc<Node>, service: &Arc<PoolService>) -> Result<(), End> {
        let answer = self.beat(node, false).await?;
        if self.obey(node, service, answer).await? {
            self.ask_full_report();
        }
        Ok(())
    }

    /// Carries out what a heartbeat's answer asks for; true when this DataNode registered again.
    async fn obey(
        &self,
        node: &Arc<Node>,
        service: &Arc<PoolService>,
        answer: HeartbeatResponseProto,
    ) -> Result<bool, End> {
        let says_active = answer.ha_status.state == HaState::Active as i32;
        let active = service.claim(self.index, says_active, answer.ha_status.txid);
        let mut registered_again = false;
        for command in answer.cmds {
            if super::commands::asks_to_register(&command) {
                tracing::info!("NameNode {} asks to register again", self.addr);
                self.handshake(node, service).await?;
                registered_again = true;
            } else if active {
                super::commands::obey(node, service, command);
            } else {
                tracing::warn!("NameNode {} is not active: its command is ignored", self.addr);
            }
        }
        Ok(registered_again)
    }

    async fn send_full_report(
        &self,
        node: &Arc<Node>,
        service: &Arc<PoolService>,
        lease: u64,
    ) -> Result<(), End> {
        let _reporting = self.reporting.lock().await;
        self.send_news(service).await?;
        let (Some(registration), Some(pool_id)) = (self.registration(), service.pool_id()) else {
            return Ok(());
        };
        let for_report = Arc::clone(node);
        let (id, split) = (Arc::clone(&pool_id), node.settings.block_report_split);
        let requests = tokio::task::spawn_blocking(move || {
            let storages = for_report.store.block_reports(&id);
            reports::full_report(&registration, &id, storages, lease, split)
        })
        .await
        .map_err(|error| End::Retry(error.to_string()))?;
        let started = Instant::now();
        let blocks = requests.blocks;
        for request in requests.messages {
            let answer: BlockReportResponseProto =
                self.client.call("blockReport", &request).await?;
            if let Some(command) = answer.cmd {
                super::commands::obey(node, service, command);
            }
        }
        tracing::info!(
            "reported {blocks} blocks of {pool_id} to NameNode {} in {} ms",
            self.addr,
            started.elapsed().as_millis()
        );
        Ok(())
    }

    /// Sends news of single blocks as soon as they come.
    async fn send_news_forever(&self, service: &Arc<PoolService>) {
        loop {
            self.outbox.filled().await;
            let reporting = self.reporting.lock().await;
            let sent = self.send_news(service).await;
            drop(reporting);
            if let Err(End::Retry(reason) | End::Refused(reason)) = sent {
                tracing::debug!("NameNode {}: news wait: {reason}", self.addr);
                tokio::time::sleep(RETRY_MAX).await;
                self.outbox.hurry();
            }
        }
    }

    async fn send_news(&self, service: &Arc<PoolService>) -> Result<(), End> {
        let (Some(registration), Some(pool_id)) = (self.registration(), service.pool_id()) else {
            return Ok(());
        };
        let batch = self.outbox.take();
        if batch.is_empty() {
            batch.tell();
            return Ok(());
        }
        let request = BlockReceivedAndDeletedRequestProto {
            registration,
            block_pool_id: pool_id.to_string(),
            blocks: batch.to_proto(),
        };
        let sent: Result<BlockReceivedAndDeletedResponseProto, RpcError> =
            self.client.call("blockReceivedAndDeleted", &request).await;
        match sent {
            Ok(_) => {
                batch.tell();
                Ok(())
            }
            Err(error) => {
                self.outbox.put_back(batch);
                Err(error.into())
            }
        }
    }

    /// Tells the NameNode about an error; failures are only logged.
    pub(crate) async fn report_error(&self, code: u32, msg: String) {
        let Some(registration) = self.registration() else { return };
        let request = ErrorReportRequestProto { registartion: registration, error_code: code, msg };
        let sent: Result<ErrorReportResponseProto, RpcError> =
            self.client.call("errorReport", &request).await;
        if let Err(error) = sent {
            tracing::warn!("NameNode {}: error report lost: {error}", self.addr);
        }
    }

    /// Tells the NameNode about corrupt replicas; failures are only logged.
    pub(crate) async fn report_bad_blocks(&self, blocks: Vec<LocatedBlockProto>) {
        let request = ReportBadBlocksRequestProto { blocks };
        let sent: Result<ReportBadBlocksResponseProto, RpcError> =
            self.client.call("reportBadBlocks", &request).await;
        if let Err(error) = sent {
            tracing::warn!("NameNode {}: report of a bad block lost: {error}", self.addr);
        }
    }
}
