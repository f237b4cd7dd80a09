//! What the services share: the namespace behind its lock, the edit log, and who is who.

use crate::activity::NameNodeActivity;
use crate::call_error::CallError;
use crate::checkpoints::Checkpoints;
use crate::clock::Clock;
use crate::events::NameNodeEvents;
use crate::file_copier::FileCopier;
use crate::following::Following;
use crate::ha::{HaState, HaStatus, OperationCategory};
use crate::hosts::Hosts;
use crate::hot_directories::HotDirectories;
use crate::identity::Identity;
use crate::image_uploads::ImageUploads;
use crate::lock_holds::LockHolds;
use crate::name_service::NameService;
use crate::racks::Racks;
use crate::repair_log::{RepairLines, RepairLog};
use crate::retry::{CallKey, Remember};
use crate::served::ServedNamespace;
use crate::settings::{Adjustable, Settings};
use crate::start_progress::StartProgress;
use crate::state_jobs::StateJobs;
use crate::storage::{EditLog, NameStorage, PendingSync};
use crate::supervise::abort_on_panic;
use crate::top_users::TopUsers;
use crate::waiters::Waiters;
use parking_lot::RwLock;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;
use zerohop_conf::Conf;
use zerohop_daemon::http::{HandlerThreads, MountPoint};
use zerohop_journal::EditOp;
use zerohop_namespace::error::Denied;
use zerohop_namespace::{Namespace, OpContext, SafeModeNotice};
use zerohop_system::clock;
use zerohop_transport::groups::{GroupList, Groups};
use zerohop_transport::reconfigure::Reconfiguration;
use zerohop_transport::rpc::server::CallActivity;
use zerohop_wire::TxId;

/// Checks of the tree (`fsck`) at once; more wait. The threads that they run on are needed for other things.
const CHECKS_MAX: usize = 16;

/// Transfers of images and segments at once; more wait.
const TRANSFERS_MAX: usize = 8;

/// What a panic under the write lock is reported with.
const CHANGING: &str = "changing the namespace";

/// Shared by all services of one NameNode.
pub(crate) struct Core {
    pub(crate) conf: Arc<Conf>,
    pub(crate) reconfiguration: Reconfiguration,
    adjustable: RwLock<Adjustable>,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) identity: Identity,
    pub(crate) groups: Groups,
    pub(crate) racks: Racks,
    pub(crate) hosts: Hosts,
    pub(crate) waiters: Waiters,
    pub(crate) storage: Arc<NameStorage>,
    /// Closed while this NameNode is a standby.
    log: RwLock<Arc<EditLog>>,
    /// Is told when the edit log has failed.
    pub(crate) log_failed: watch::Sender<Option<String>>,
    pub(crate) ha: HaStatus,
    /// The others of its name service.
    pub(crate) service: NameService,
    /// How it follows another NameNode while it is a standby.
    pub(crate) following: Following,
    pub(crate) state_jobs: StateJobs,
    repair_log: RepairLog,
    /// Held during a change from active to standby or back.
    pub(crate) transition: tokio::sync::Mutex<()>,
    /// Started at, for pages; milliseconds since 1970.
    pub(crate) started_ms: u64,
    pub(crate) checkpoints: Checkpoints,
    /// Images that standbys are sending.
    pub(crate) image_uploads: ImageUploads,
    /// Set once by who starts the NameNode, if at all.
    pub(crate) file_copier: OnceLock<Arc<dyn FileCopier>>,
    /// WebHDFS's URLs.
    pub(crate) webhdfs: MountPoint,
    /// The heat maps of DataNodes in this process.
    pub(crate) heatmap: MountPoint,
    /// The file browser.
    pub(crate) explorer: MountPoint,
    /// Set once, when the RPC servers are there: their ports and what their calls do.
    rpc_activity: OnceLock<Vec<(u16, Arc<CallActivity>)>>,
    pub(crate) top_users: TopUsers,
    pub(crate) hot_directories: HotDirectories,
    pub(crate) activity: NameNodeActivity,
    pub(crate) events: NameNodeEvents,
    pub(crate) lock_holds: LockHolds,
    /// How the start went.
    pub(crate) start_progress: Arc<StartProgress>,
    /// Checks of the tree run on these: each holds a thread as long as its reader lets it.
    pub(crate) checks: HandlerThreads,
    /// Images and segments go to other NameNodes, and come from them, on these.
    pub(crate) transfers: HandlerThreads,
    pub(crate) served: ServedNamespace,
}

impl Core {
    #[allow(clippy::too_many_arguments)] // called once, and each is another kind of thing
    pub(crate) fn new(
        conf: Arc<Conf>,
        settings: Settings,
        identity: Identity,
        storage: Arc<NameStorage>,
        (log, log_failed): (EditLog, watch::Sender<Option<String>>),
        ha: HaStatus,
        (service, following): (NameService, Following),
        served: ServedNamespace,
        clock: Clock,
        (checkpoints, image_uploads): (Checkpoints, ImageUploads),
        (racks, hosts): (Racks, Hosts),
        (start_progress, top_users): (Arc<StartProgress>, TopUsers),
    ) -> Self {
        Self {
            groups: Groups::from_conf(&conf),
            reconfiguration: Reconfiguration::new(conf.clone()),
            adjustable: RwLock::new(settings.adjustable.clone()),
            racks,
            hosts,
            started_ms: clock.now().wall_ms,
            checkpoints,
            image_uploads,
            file_copier: OnceLock::new(),
            webhdfs: MountPoint::default(),
            heatmap: MountPoint::default(),
            explorer: MountPoint::default(),
            rpc_activity: OnceLock::new(),
            top_users,
            hot_directories: HotDirectories::default(),
            activity: NameNodeActivity::new(&storage.config().percentile_intervals),
            events: NameNodeEvents::default(),
            lock_holds: LockHolds::new(settings.lock_holds),
            start_progress,
            checks: HandlerThreads::new(CHECKS_MAX),
            transfers: HandlerThreads::new(TRANSFERS_MAX),
            conf,
            settings,
            clock,
            identity,
            waiters: Waiters::default(),
            storage,
            log: RwLock::new(Arc::new(log)),
            log_failed,
            ha,
            following,
            service,
            state_jobs: StateJobs::default(),
            repair_log: RepairLog::default(),
            transition: tokio::sync::Mutex::default(),
            served,
        }
    }

    /// The RPC servers, by their ports; none before they are started.
    pub(crate) fn rpc_activity(&self) -> &[(u16, Arc<CallActivity>)] {
        self.rpc_activity.get().map_or(&[], Vec::as_slice)
    }

    /// These are the RPC servers; the first call counts.
    pub(crate) fn set_rpc_activity(&self, servers: Vec<(u16, Arc<CallActivity>)>) {
        _ = self.rpc_activity.set(servers);
    }

    /// The edit log; closed while this NameNode is a standby.
    pub(crate) fn log(&self) -> Arc<EditLog> {
        self.log.read().clone()
    }

    /// Edits go to another log from here on. To be called under the namespace's write lock.
    pub(crate) fn set_log(&self, log: EditLog) {
        *self.log.write() = Arc::new(log);
    }

    /// The last transaction that was written or, by a standby, applied.
    pub(crate) fn last_txid(&self) -> TxId {
        if self.ha.is_active() { self.log.read().last_txid() } else { self.served.applied() }
    }

    /// Returns the transaction id with which this NameNode claims to be active: the last durable one. A transaction that is lost
    /// with this NameNode must not outdo the claim of its successor.
    pub(crate) fn claim_txid(&self) -> TxId {
        if self.ha.is_active() { self.log.read().synced_txid() } else { self.served.applied() }
    }

    /// The settings that may change.
    pub(crate) fn adjustable(&self) -> Adjustable {
        self.adjustable.read().clone()
    }

    /// Settings are in force.
    pub(crate) fn set_adjustable(&self, adjustable: Adjustable) {
        *self.adjustable.write() = adjustable;
    }

    /// Looks; any number of readers at once.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Namespace) -> T) -> T {
        let namespace = self.served.read();
        let since = clock::now();
        let found = look(&namespace);
        drop(namespace);
        self.lock_holds.read.note(since);
        found
    }

    /// Looks, where the state allows operations of the category.
    pub(crate) fn read_as<T>(
        &self,
        category: OperationCategory,
        look: impl FnOnce(&Namespace) -> zerohop_namespace::Result<T>,
    ) -> Result<T, CallError> {
        self.read(|namespace| {
            self.ha.check(category)?;
            Ok(look(namespace)?)
        })
    }

    /// Changes, where the state allows operations of the category.
    pub(crate) fn write_as<T>(
        &self,
        category: OperationCategory,
        change: impl FnOnce(&mut Namespace) -> zerohop_namespace::Result<T>,
    ) -> (Result<T, CallError>, Option<PendingSync>) {
        self.write(|namespace| {
            self.ha.check(category)?;
            Ok(change(namespace)?)
        })
    }

    /// Changes; the sync, if any, is what must be synced before the answer leaves.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&mut Namespace) -> T,
    ) -> (T, Option<PendingSync>) {
        let mut namespace = self.served.write();
        let since = clock::now();
        let changed = abort_on_panic(CHANGING, || self.write_locked(&mut namespace, change));
        let mut repairs = RepairLines::take(&mut namespace);
        drop(namespace);
        self.lock_holds.write.note(since);
        self.events.keep(repairs.take_events());
        self.repair_log.write(repairs);
        changed
    }

    fn write_locked<T>(
        &self,
        namespace: &mut Namespace,
        change: impl FnOnce(&mut Namespace) -> T,
    ) -> (T, Option<PendingSync>) {
        self.refresh_safe_mode(namespace);
        let result = change(namespace);
        if self.ha.is_active() {
            namespace.delete_extra();
        }
        self.refresh_safe_mode(namespace);
        let edits = namespace.take_edits();
        self.count_files(edits.iter().map(|edit| &edit.op));
        let edits = (!edits.is_empty()).then(|| edits.iter().map(|edit| (&edit.op, &edit.rpc)));
        let sync = edits.map(|edits| self.log.read().log(edits));
        let completed = namespace.blocks_mut().take_completed();
        if !completed.is_empty() {
            self.waiters.wake(&completed);
        }
        (result, sync)
    }

    /// Counts what edits of calls create.
    fn count_files<'e>(&self, edits: impl Iterator<Item = &'e EditOp>) {
        let creates =
            |edit: &&EditOp| matches!(edit, EditOp::Add(_) | EditOp::Mkdir(_) | EditOp::Symlink(_));
        let created = edits.filter(creates).count();
        if created > 0 {
            self.activity.files_created.add(created as u64);
        }
    }

    /// A change that must happen once, however often the call is sent: the answer, and what must be synced before it
    /// leaves. A change that found its work done may have found it done by a call whose edits are not synced yet.
    pub(crate) fn write_once<R: Remember>(
        &self,
        key: Option<CallKey>,
        change: impl FnOnce(&mut Namespace) -> zerohop_namespace::Result<R>,
    ) -> (Result<R, CallError>, Option<PendingSync>) {
        let mut namespace = self.served.write();
        let since = clock::now();
        let changed =
            abort_on_panic(CHANGING, || self.write_once_locked(&mut namespace, key, change));
        drop(namespace);
        self.lock_holds.write.note(since);
        changed
    }

    fn write_once_locked<R: Remember>(
        &self,
        namespace: &mut Namespace,
        key: Option<CallKey>,
        change: impl FnOnce(&mut Namespace) -> zerohop_namespace::Result<R>,
    ) -> (Result<R, CallError>, Option<PendingSync>) {
        // Before the retry cache: a standby has answers of calls whose edits may not be all.
        if let Err(error) = self.ha.check(OperationCategory::Write) {
            return (Err(error.into()), None);
        }
        let key = key.filter(|_| self.settings.retry_cache);
        if let Some(cached) = key.and_then(|key| self.served.retries().get(key)) {
            self.refresh_safe_mode(namespace);
            return (R::recall(cached, namespace), Some(self.log.read().barrier()));
        }
        let (result, sync) = self.write_locked(namespace, change);
        let sync = sync.or_else(|| result.is_ok().then(|| self.log.read().barrier()));
        let cached = result.as_ref().ok().and_then(Remember::to_cached);
        if let (Some(key), Some(cached)) = (key, cached) {
            self.served.retries().put(key, cached, self.clock.now().mono_ms);
        }
        (result.map_err(CallError::from), sync)
    }

    /// Whether a user is the superuser or in the supergroup.
    pub(crate) fn is_superuser(&self, user: &str, groups: &GroupList) -> bool {
        let params = &self.settings.namespace_params;
        *user == *params.superuser || groups.contains(&params.supergroup)
    }

    /// Operations read what refuses them from the namespace; it changes with time and reports.
    fn refresh_safe_mode(&self, namespace: &mut Namespace) {
        let safe_mode = namespace.blocks().safe_mode();
        if safe_mode.is_on() || namespace.is_in_safe_mode() {
            let is_observer = self.ha.state() == HaState::Observer;
            let is_passing = self.ha.is_enabled() && (safe_mode.is_starting() || is_observer);
            let notice =
                safe_mode.is_on().then(|| SafeModeNotice { tip: safe_mode.tip(), is_passing });
            namespace.set_safe_mode(notice);
        }
    }

    /// Refuses everybody but the superuser and the supergroup.
    pub(crate) fn check_superuser(&self, op: &OpContext) -> zerohop_namespace::Result<()> {
        if op.superuser || !self.settings.namespace_params.permissions_enabled {
            return Ok(());
        }
        Err(Denied::NotSuperuser { user: op.user().clone() }.into())
    }
}
