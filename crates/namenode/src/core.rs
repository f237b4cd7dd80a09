//! What the services share: the namespace behind its lock, the edit log, and who is who.

use crate::checkpoints::Checkpoints;
use crate::clock::Clock;
use crate::file_copier::FileCopier;
use crate::hosts::Hosts;
use crate::identity::Identity;
use crate::racks::Racks;
use crate::retry::{CallKey, Remember, RetryCache};
use crate::settings::{Adjustable, Settings};
use crate::storage::{EditLog, NameStorage, PendingSync};
use crate::supervise::abort_on_panic;
use crate::waiters::Waiters;
use parking_lot::{Mutex, RwLock};
use std::sync::{Arc, OnceLock};
use zerohop_conf::Conf;
use zerohop_daemon::http::HandlerThreads;
use zerohop_namespace::{Namespace, OpContext};
use zerohop_transport::groups::{GroupList, Groups};
use zerohop_transport::reconfigure::Reconfiguration;
use zerohop_wire::{JavaException, RemoteException};

/// Checks of the tree (`fsck`) at once; more wait. The threads that they run on are needed for other things.
const CHECKS_MAX: usize = 16;

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
    pub(crate) log: EditLog,
    /// Started at, for pages; milliseconds since 1970.
    pub(crate) started_ms: u64,
    pub(crate) checkpoints: Checkpoints,
    /// Set once by who starts the NameNode, if at all.
    pub(crate) file_copier: OnceLock<Arc<dyn FileCopier>>,
    /// Checks of the tree run on these: each holds a thread as long as its reader lets it.
    pub(crate) checks: HandlerThreads,
    /// Held only for work in memory: nothing waits for a disk or a peer with it.
    namespace: RwLock<Namespace>,
    /// Locked only under the namespace's write lock.
    retries: Mutex<RetryCache>,
}

impl Core {
    #[allow(clippy::too_many_arguments)] // called once, and each is another kind of thing
    pub(crate) fn new(
        conf: Arc<Conf>,
        settings: Settings,
        identity: Identity,
        storage: Arc<NameStorage>,
        log: EditLog,
        namespace: Namespace,
        clock: Clock,
        checkpoints: Checkpoints,
        racks: Racks,
        hosts: Hosts,
        retries: RetryCache,
    ) -> Self {
        Self {
            groups: Groups::from_conf(&conf),
            reconfiguration: Reconfiguration::new(conf.clone()),
            adjustable: RwLock::new(settings.adjustable),
            racks,
            hosts,
            retries: Mutex::new(retries),
            started_ms: clock.now().wall_ms,
            checkpoints,
            file_copier: OnceLock::new(),
            checks: HandlerThreads::new(CHECKS_MAX),
            conf,
            settings,
            clock,
            identity,
            waiters: Waiters::default(),
            storage,
            log,
            namespace: RwLock::new(namespace),
        }
    }

    /// The settings that may change.
    pub(crate) fn adjustable(&self) -> Adjustable {
        *self.adjustable.read()
    }

    /// Settings are in force.
    pub(crate) fn set_adjustable(&self, adjustable: Adjustable) {
        *self.adjustable.write() = adjustable;
    }

    /// Looks; any number of readers at once.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Namespace) -> T) -> T {
        look(&self.namespace.read())
    }

    /// Changes; the sync, if any, is what must be synced before anybody hears of it.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&mut Namespace) -> T,
    ) -> (T, Option<PendingSync>) {
        let mut namespace = self.namespace.write();
        abort_on_panic(CHANGING, || self.write_locked(&mut namespace, change))
    }

    fn write_locked<T>(
        &self,
        namespace: &mut Namespace,
        change: impl FnOnce(&mut Namespace) -> T,
    ) -> (T, Option<PendingSync>) {
        refresh_safe_mode(namespace);
        let result = change(namespace);
        namespace.delete_extra();
        refresh_safe_mode(namespace);
        let edits = namespace.take_edits();
        let edits = (!edits.is_empty()).then(|| edits.iter().map(|edit| (&edit.op, &edit.rpc)));
        let sync = edits.map(|edits| self.log.log(edits));
        let completed = namespace.blocks_mut().take_completed();
        if !completed.is_empty() {
            self.waiters.wake(&completed);
        }
        (result, sync)
    }

    /// A change that must happen once, however often the call is sent: the answer, and what must be synced before it
    /// leaves. A change that found its work done may have found it done by a call whose edits are not synced yet.
    pub(crate) fn write_once<R: Remember>(
        &self,
        key: Option<CallKey>,
        change: impl FnOnce(&mut Namespace) -> Result<R, RemoteException>,
    ) -> (Result<R, RemoteException>, Option<PendingSync>) {
        let mut namespace = self.namespace.write();
        abort_on_panic(CHANGING, || self.write_once_locked(&mut namespace, key, change))
    }

    fn write_once_locked<R: Remember>(
        &self,
        namespace: &mut Namespace,
        key: Option<CallKey>,
        change: impl FnOnce(&mut Namespace) -> Result<R, RemoteException>,
    ) -> (Result<R, RemoteException>, Option<PendingSync>) {
        let key = key.filter(|_| self.settings.retry_cache);
        if let Some(cached) = key.and_then(|key| self.retries.lock().get(key)) {
            refresh_safe_mode(namespace);
            return (R::recall(cached, namespace), Some(self.log.barrier()));
        }
        let (result, sync) = self.write_locked(namespace, change);
        let sync = sync.or_else(|| result.is_ok().then(|| self.log.barrier()));
        let cached = result.as_ref().ok().and_then(Remember::to_cached);
        if let (Some(key), Some(cached)) = (key, cached) {
            self.retries.lock().put(key, cached, self.clock.now().mono_ms);
        }
        (result, sync)
    }

    /// Whether a user is the superuser or in the supergroup.
    pub(crate) fn is_superuser(&self, user: &str, groups: &GroupList) -> bool {
        let params = &self.settings.namespace_params;
        *user == *params.superuser || groups.contains(&params.supergroup)
    }

    /// Refuses everybody but the superuser and the supergroup.
    pub(crate) fn check_superuser(&self, op: &OpContext) -> Result<(), RemoteException> {
        if op.superuser || !self.settings.namespace_params.permissions_enabled {
            return Ok(());
        }
        let message =
            format!("Access denied for user {}. Superuser privilege is required", op.user);
        Err(JavaException::AccessControl.with(message))
    }
}

/// Operations read the text that refuses them from the namespace; it changes with time and reports.
fn refresh_safe_mode(namespace: &mut Namespace) {
    let safe_mode = namespace.blocks().safe_mode();
    if safe_mode.is_on() || namespace.safe_mode.is_some() {
        namespace.safe_mode = safe_mode.is_on().then(|| safe_mode.tip());
    }
}
