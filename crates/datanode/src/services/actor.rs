//! The talk with one NameNode: handshake, heartbeats, reports, in that order for ever.

use super::heartbeat::heartbeat;
use super::reports::FullReport;
use super::schedule::Schedule;
use super::upgrade::{describe, upgrade_phase};
use super::{commands, reports};
use crate::activity::Message;
use crate::namenodes::{Link, PoolIdentity, PoolService, ReportWish};
use crate::node::Node;
use crate::outliers::ReportTimer;
use crate::reconfigure::Adjustable;
use crate::store::apply_upgrade_phase;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::MutexGuard;
use zerohop_proto::hdfs::datanode::{
    BlockReceivedAndDeletedRequestProto, BlockReceivedAndDeletedResponseProto,
    BlockReportResponseProto, CacheReportRequestProto, CacheReportResponseProto,
    DatanodeCommandProto, HeartbeatResponseProto, RegisterDatanodeRequestProto,
    RegisterDatanodeResponseProto,
};
use zerohop_proto::hdfs::nnha_status_heartbeat_proto::State as HaState;
use zerohop_proto::hdfs::{VersionRequestProto, VersionResponseProto};
use zerohop_replica::UpgradePhase;
use zerohop_system::{clock, random};
use zerohop_transport::rpc::RpcError;
use zerohop_wire::JavaException;

const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(1);
/// Time that a full report waits for deletions, without the lock that new replicas need. After that a disk hangs.
const DELETION_PATIENCE: Duration = Duration::from_secs(30);

/// The talk with one NameNode.
pub(crate) struct Actor {
    link: Arc<Link>,
    node: Arc<Node>,
    service: Arc<PoolService>,
    /// Held while reports are made and sent: a full report made before an incremental report of a block and taken
    /// after it would make the NameNode forget the block.
    reporting: tokio::sync::Mutex<()>,
    outliers: ReportTimer,
    /// The NameNode became the active one: it takes no replica for granted before the next full report.
    is_report_awaited: AtomicBool,
    /// Replicas in the last full report.
    reported_replicas: AtomicU64,
}

/// Apache's NameNode names no reason.
const UNREGISTERED: &str =
    "the NameNode was formatted again, or another DataNode has registered with this one's UUID";

/// Why the talk cannot go on.
enum TalkError {
    /// Try again after a while.
    Retry(String),
    /// The NameNode will not have us.
    Refused(String),
}

impl From<RpcError> for TalkError {
    fn from(error: RpcError) -> Self {
        match error.remote_kind() {
            Some(JavaException::UnregisteredNode) => {
                Self::Refused(format!("{error} ({UNREGISTERED})"))
            }
            Some(JavaException::DisallowedDatanode | JavaException::IncorrectVersion) => {
                Self::Refused(error.to_string())
            }
            _ => Self::Retry(error.to_string()),
        }
    }
}

impl Actor {
    /// The one who talks over `link` for a name service.
    pub(crate) fn new(link: Arc<Link>, node: Arc<Node>, service: Arc<PoolService>) -> Self {
        Self {
            link,
            node,
            service,
            reporting: tokio::sync::Mutex::new(()),
            outliers: ReportTimer::default(),
            is_report_awaited: AtomicBool::new(false),
            reported_replicas: AtomicU64::new(0),
        }
    }

    /// Talks until the task is aborted, the NameNode refuses, or the pool cannot be opened.
    pub(crate) async fn run(self) {
        if let Err(reason) = self.talk().await {
            tracing::error!("cannot serve NameNode {}: {reason}", self.link.addr);
            self.link.refused(reason);
        }
    }

    fn adjustable(&self) -> Adjustable {
        self.node.adjustable()
    }

    async fn talk(&self) -> Result<(), String> {
        self.until_done("register with", || self.handshake()).await?;
        let sending = self.send_incremental_reports();
        let beating = self.beat_forever();
        tokio::select! {
            ended = beating => ended,
            () = sending => Ok(()),
        }
    }

    /// Repeats `work` until it succeeds; one log line when it first fails and one when it is over.
    async fn until_done<F>(&self, what: &str, mut work: impl FnMut() -> F) -> Result<(), String>
    where
        F: Future<Output = Result<(), TalkError>>,
    {
        let mut wait = RETRY_MIN;
        let mut last = String::new();
        loop {
            match work().await {
                Ok(()) => {
                    if !last.is_empty() {
                        tracing::info!("NameNode {} is back", self.link.addr);
                    }
                    return Ok(());
                }
                Err(TalkError::Refused(reason)) => return Err(reason),
                Err(TalkError::Retry(reason)) => {
                    if reason != last {
                        tracing::warn!(
                            "cannot {what} NameNode {}: {reason}; trying again every {} ms",
                            self.link.addr,
                            RETRY_MAX.as_millis()
                        );
                        last = reason;
                    }
                }
            }
            clock::sleep(wait).await;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn handshake(&self) -> Result<(), TalkError> {
        let version: VersionResponseProto =
            self.link.client().call("versionRequest", &VersionRequestProto {}).await?;
        let identity = PoolIdentity::from(&version.info);
        self.open_pool(&identity).await?;
        let registration = self.node.registration_for(&identity);
        let request = RegisterDatanodeRequestProto { registration };
        let answer: RegisterDatanodeResponseProto =
            self.link.client().call("registerDatanode", &request).await?;
        tracing::info!("registered with NameNode {} for pool {}", self.link.addr, identity.pool_id);
        self.link.registered(answer.registration);
        Ok(())
    }

    async fn open_pool(&self, identity: &PoolIdentity) -> Result<(), TalkError> {
        let _one_at_a_time = self.service.opening.lock().await;
        if let Some(known) = self.service.identity() {
            if known.pool_id != identity.pool_id || known.cluster_id != identity.cluster_id {
                return Err(TalkError::Refused(format!(
                    "NameNode {} serves block pool {} of cluster {}, this DataNode has {} of {}",
                    self.link.addr,
                    identity.pool_id,
                    identity.cluster_id,
                    known.pool_id,
                    known.cluster_id
                )));
            }
            return Ok(());
        }
        let (node, wanted) = (Arc::clone(&self.node), identity.clone());
        let opened =
            tokio::task::spawn_blocking(move || node.store.setup().open_pool(&wanted)).await;
        match opened {
            Ok(Ok(())) => {
                self.service.set_identity(identity.clone());
                self.node.block_scanner.look_for_pools();
                Ok(())
            }
            Ok(Err(error)) => Err(TalkError::Refused(error.to_string())),
            Err(error) => Err(TalkError::Retry(error.to_string())),
        }
    }

    async fn beat_forever(&self) -> Result<(), String> {
        let now = clock::runtime_now();
        let delay = self.node.settings.block_report_initial_delay.mul_f64(random::f64());
        let mut schedule = Schedule::new(now, delay);
        loop {
            tokio::select! {
                () = clock::sleep_until(schedule.heartbeat) => {}
                () = self.link.woken() => {}
            }
            let step = self.step(&mut schedule).await;
            match step {
                Ok(()) => {}
                Err(TalkError::Refused(reason)) => return Err(reason),
                Err(TalkError::Retry(reason)) => {
                    tracing::warn!("NameNode {}: {reason}", self.link.addr);
                    // A report that it will not take is not tried again at once.
                    clock::sleep(RETRY_MAX).await;
                    self.until_done("reach", || self.beat_only()).await?;
                    schedule.heartbeat = clock::runtime_now();
                }
            }
        }
    }

    async fn step(&self, schedule: &mut Schedule) -> Result<(), TalkError> {
        if self.is_report_awaited.swap(false, Ordering::Relaxed) {
            schedule.bring_full_report_forward(self.reported_replicas.load(Ordering::Relaxed));
        }
        let now = clock::runtime_now();
        if self.link.take_heartbeat_asked() {
            schedule.bring_heartbeat_forward();
        }
        if now >= schedule.heartbeat {
            schedule.beats(now, self.node.settings.heartbeat_interval);
            let wants_lease = schedule.lease.is_none() && now >= schedule.full_report;
            let begun = clock::now();
            let answer = self.beat(wants_lease).await?;
            schedule.lease =
                answer.full_block_report_lease_id.filter(|id| *id != 0).or(schedule.lease);
            let is_registered_again = self.carry_out(answer).await?;
            self.count(Message::HeartbeatWithCommands, begun);
            if is_registered_again {
                schedule.restart();
                return Ok(());
            }
        }
        let asked = self.link.full_report_asked();
        if asked.is_some() || schedule.lease.is_some() {
            if self.report_between_heartbeats(schedule).await? {
                return Ok(());
            }
            asked.into_iter().for_each(ReportWish::fulfill);
            schedule.full_report = clock::runtime_now() + self.adjustable().block_report_interval;
            self.link.reported();
        }
        let reported = self.link.has_reported();
        if reported && self.node.store.cache().capacity() > 0 && now >= schedule.cache_report {
            schedule.cache_report = now + self.adjustable().cache_report_interval;
            self.send_cache_report().await?;
        }
        Ok(())
    }

    /// Sends a full report. Returns `true` if this DataNode registered again before it was sent.
    ///
    /// The NameNode relies on what is listed only if the report was begun after this DataNode had heard that it is active: what
    /// another NameNode had deleted meanwhile would be listed. A report that was begun before is dropped, and another one made.
    async fn report_between_heartbeats(&self, schedule: &mut Schedule) -> Result<bool, TalkError> {
        let lease = schedule.lease.take().unwrap_or(0);
        let term = self.service.term_of(self.link.index);
        let Some((_reporting, report)) = self.make_between_heartbeats(schedule, lease).await?
        else {
            return Ok(true);
        };
        let (blocks, started) = (report.blocks, clock::now());
        for message in report.messages {
            // No heartbeat is under way beside a message, so that the NameNode knows that this DataNode has heard the answer.
            if clock::runtime_now() >= schedule.heartbeat && self.beat_in_between(schedule).await? {
                return Ok(true);
            }
            self.check_term(term)?;
            let begun = clock::now();
            let answer: BlockReportResponseProto =
                self.link.client().call("blockReport", &message).await?;
            self.count(Message::FullReport, begun);
            if self.carry_out_commands(answer.cmd).await? {
                schedule.restart();
                return Ok(true);
            }
        }
        self.reported_replicas.store(blocks, Ordering::Relaxed);
        tracing::info!(
            "reported {blocks} blocks to NameNode {} in {} ms",
            self.link.addr,
            clock::since(started).as_millis()
        );
        Ok(false)
    }

    /// Fails if the NameNode became active since a report was begun, in the term `begun` of its own if it was active then.
    fn check_term(&self, begun: Option<u64>) -> Result<(), TalkError> {
        let now = self.service.term_of(self.link.index);
        if now.is_none() || now == begun {
            return Ok(());
        }
        Err(TalkError::Retry("it became active: repeating the full report".to_owned()))
    }

    async fn beat_in_between(&self, schedule: &mut Schedule) -> Result<bool, TalkError> {
        schedule.beats(clock::runtime_now(), self.node.settings.heartbeat_interval);
        let answer = self.beat(false).await?;
        let is_registered_again = self.carry_out(answer).await?;
        if is_registered_again {
            schedule.restart();
        }
        Ok(is_registered_again)
    }

    /// Makes a full report, which may take as long as a disk hangs, and sends heartbeats meanwhile. Returns `None` if this
    /// DataNode registered again before the report was complete.
    async fn make_between_heartbeats(
        &self,
        schedule: &mut Schedule,
        lease: u64,
    ) -> Result<Option<(MutexGuard<'_, ()>, FullReport)>, TalkError> {
        let making = self.make_full_report(lease);
        tokio::pin!(making);
        loop {
            tokio::select! {
                made = &mut making => return made.map(Some),
                () = clock::sleep_until(schedule.heartbeat) => {}
            }
            if self.beat_in_between(schedule).await? {
                return Ok(None);
            }
        }
    }

    /// Which replicas are locked in memory; a DataNode without a cache says nothing.
    async fn send_cache_report(&self) -> Result<(), TalkError> {
        let (Some(registration), Some(pool_id)) =
            (self.link.registration(), self.service.pool_id())
        else {
            return Ok(());
        };
        let blocks = self.node.store.cache().blocks(&pool_id);
        let block_pool_id = pool_id.to_string();
        let request = CacheReportRequestProto { registration, block_pool_id, blocks };
        let begun = clock::now();
        let answer: CacheReportResponseProto =
            self.link.client().call("cacheReport", &request).await?;
        self.node.activity.cache_reports.add_ms(clock::since(begun));
        self.carry_out_commands(answer.cmd).await.map(drop)
    }

    async fn beat(&self, wants_lease: bool) -> Result<HeartbeatResponseProto, TalkError> {
        let registration = self
            .link
            .registration()
            .ok_or_else(|| TalkError::Retry("not registered".to_owned()))?;
        let mut request = heartbeat(&self.node, &self.service, registration, wants_lease);
        if self.outliers.is_due(self.node.settings.outliers_interval) {
            request.slow_peers = self.node.peer_latencies.slow();
            request.slow_disks = self.node.slow_disks();
        }
        self.link.note_heard();
        let begun = clock::now();
        let answer = self.link.client().call("sendHeartbeat", &request).await?;
        self.count(Message::Heartbeat, begun);
        // Changes that were not worth a message of their own are reported now.
        self.link.pending_changes.wake();
        Ok(answer)
    }

    /// The NameNode answered a message that was sent at `begun`.
    fn count(&self, message: Message, begun: std::time::Instant) {
        let name_node = self.link.addr.replace(':', "-");
        self.node.activity.answered(message, &name_node, clock::since(begun));
    }

    /// A heartbeat for its own sake: is the NameNode there again?
    async fn beat_only(&self) -> Result<(), TalkError> {
        let answer = self.beat(false).await?;
        if self.carry_out(answer).await? {
            self.link.ask_full_report();
        }
        Ok(())
    }

    /// Carries out what a heartbeat's answer asks for; true when this DataNode registered again.
    async fn carry_out(&self, answer: HeartbeatResponseProto) -> Result<bool, TalkError> {
        let says_active = answer.ha_status.state == HaState::Active as i32;
        let before = self.service.term_of(self.link.index);
        let active = self.service.claim(self.link.index, says_active, answer.ha_status.txid);
        if active {
            self.note_upgrade(upgrade_phase(&answer));
            if before != self.service.term_of(self.link.index) && self.link.has_reported() {
                self.is_report_awaited.store(true, Ordering::Relaxed);
            }
        }
        self.carry_out_commands(answer.cmds).await
    }

    /// Carries out commands in an answer of the NameNode if it is the active one; the command to register, from any. Returns
    /// `true` if this DataNode registered again.
    async fn carry_out_commands(
        &self,
        commands: impl IntoIterator<Item = DatanodeCommandProto>,
    ) -> Result<bool, TalkError> {
        let mut registered_again = false;
        for command in commands {
            if commands::asks_to_register(&command) {
                tracing::info!("NameNode {} asks to register again", self.link.addr);
                self.handshake().await?;
                registered_again = true;
            } else if self.service.is_active(self.link.index) {
                let begun = clock::now();
                commands::carry_out(&self.node, &self.service, command);
                self.node.activity.commands.add_ms(clock::since(begun));
            } else {
                tracing::warn!("NameNode {} is not active: its command is ignored", self.link.addr);
            }
        }
        Ok(registered_again)
    }

    /// Before the commands of the same answer are carried out: what they delete may be wanted back.
    fn note_upgrade(&self, phase: UpgradePhase) {
        let Some(pool_id) = self.service.pool_id() else { return };
        if self.service.note_upgrade(phase) {
            tracing::info!("block pool {pool_id}: {}", describe(phase));
        }
        let parts = self.node.store.enter_upgrade_phase(&pool_id, phase);
        if !parts.is_empty() {
            self.node.handle.spawn_blocking(move || apply_upgrade_phase(&parts, phase));
        }
    }

    /// Makes a full report. No incremental report is sent while the returned guard is held.
    async fn make_full_report(
        &self,
        lease: u64,
    ) -> Result<(MutexGuard<'_, ()>, FullReport), TalkError> {
        if !self.node.deletions.carried_out(DELETION_PATIENCE).await {
            tracing::warn!("a disk is slow: replicas that are being deleted are not reported");
        }
        let reporting = self.reporting.lock().await;
        self.send_incremental_report().await?;
        let (Some(registration), Some(pool_id)) =
            (self.link.registration(), self.service.pool_id())
        else {
            return Ok((reporting, FullReport::default()));
        };
        let (node, split) = (Arc::clone(&self.node), self.adjustable().block_report_split);
        let made = tokio::task::spawn_blocking(move || {
            let ordered = node.deletions.ordered(&pool_id);
            let storages = node.store.block_reports(&pool_id, |id| ordered.contains(&id));
            reports::full_report(&registration, &pool_id, storages, lease, split)
        });
        let made = made.await.map_err(|error| TalkError::Retry(error.to_string()))?;
        Ok((reporting, made))
    }

    /// Sends incremental block reports as soon as there is something to report.
    async fn send_incremental_reports(&self) {
        let mut registrations = self.link.registrations();
        loop {
            self.link.pending_changes.filled().await;
            registrations.mark_unchanged();
            let reporting = self.reporting.lock().await;
            let sent = self.send_incremental_report().await;
            drop(reporting);
            if let Err(TalkError::Retry(reason) | TalkError::Refused(reason)) = sent {
                let addr = &self.link.addr;
                tracing::debug!("NameNode {addr}: an incremental report waits: {reason}");
                _ = tokio::time::timeout(RETRY_MAX, registrations.changed()).await;
                self.link.pending_changes.wake();
            }
        }
    }

    async fn send_incremental_report(&self) -> Result<(), TalkError> {
        let (Some(registration), Some(pool_id)) =
            (self.link.registration(), self.service.pool_id())
        else {
            return Ok(());
        };
        let batch = self.link.pending_changes.take();
        if batch.is_empty() {
            batch.tell();
            return Ok(());
        }
        let request = BlockReceivedAndDeletedRequestProto {
            registration,
            block_pool_id: pool_id.to_string(),
            blocks: batch.to_proto(),
        };
        let begun = clock::now();
        let sent: Result<BlockReceivedAndDeletedResponseProto, RpcError> =
            self.link.client().call("blockReceivedAndDeleted", &request).await;
        match sent {
            Ok(_) => {
                self.count(Message::IncrementalReport, begun);
                batch.tell();
                Ok(())
            }
            Err(error) => {
                self.link.pending_changes.put_back(batch);
                Err(error.into())
            }
        }
    }
}
