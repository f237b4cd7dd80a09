//! The namespace behind its lock: calls are served through it, and images and edits are loaded through it.

use crate::clock::Clock;
use crate::loader::load_image;
use crate::retry::{CachedAnswer, CallKey, Remember, RetryCache, RetryCounters};
use crate::start_progress::{StartPhase, StartProgress};
use crate::storage::{Replay, ReplayError, StorageError};
use crate::supervise::abort_on_panic;
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use zerohop_daemon::metrics::Gauge;
use zerohop_journal::EditOp;
use zerohop_journal::image::ImageReader;
use zerohop_journal::log::EditCursor;
use zerohop_journal::op::Record;
use zerohop_namespace::{Namespace, OpContext};
use zerohop_system::clock;
use zerohop_transport::rpc::server::note_lock_wait;
use zerohop_wire::TxId;

/// Most edits applied in one go: readers wait that long.
const EDITS_MAX: usize = 256;

/// Deleted inodes freed in one go.
const FREED_MAX: usize = 1000;

/// A namespace and the answers of the calls that changed it.
pub(crate) struct ServedNamespace {
    /// Held only for work in memory: nothing waits for a disk or a peer with it.
    namespace: RwLock<Namespace>,
    /// Locked only under the namespace's write lock.
    retries: Mutex<RetryCache>,
    retry_counters: Arc<RetryCounters>,
    /// Threads that wait for the namespace.
    waiting: Gauge,
    /// The last transaction that was loaded or applied. Edits that calls make are not counted.
    applied: AtomicI64,
    /// Wakes those who wait for edits to be applied.
    advanced: Notify,
    clock: Clock,
}

impl ServedNamespace {
    pub(crate) fn new(namespace: Namespace, retries: RetryCache, clock: Clock) -> Self {
        Self {
            namespace: RwLock::new(namespace),
            retry_counters: Arc::clone(retries.counters()),
            retries: Mutex::new(retries),
            waiting: Gauge::default(),
            applied: AtomicI64::new(0),
            advanced: Notify::new(),
            clock,
        }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Namespace> {
        self.namespace.try_read().unwrap_or_else(|| self.counted(|| self.namespace.read()))
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Namespace> {
        self.namespace.try_write().unwrap_or_else(|| self.counted(|| self.namespace.write()))
    }

    /// Counts how long a call waits for the lock.
    fn counted<T>(&self, lock: impl FnOnce() -> T) -> T {
        let (begun, _waiting) = (clock::now(), self.waiting.during());
        let locked = lock();
        note_lock_wait(clock::since(begun));
        locked
    }

    /// Threads that wait for the namespace's lock.
    pub(crate) fn lock_queue(&self) -> i64 {
        self.waiting.get()
    }

    /// What happened to the retry cache.
    pub(crate) fn retry_counters(&self) -> &RetryCounters {
        &self.retry_counters
    }

    pub(crate) fn retries(&self) -> MutexGuard<'_, RetryCache> {
        self.retries.lock()
    }

    /// The last transaction that was loaded or applied.
    pub(crate) fn applied(&self) -> TxId {
        TxId(self.applied.load(Ordering::Acquire))
    }

    /// Everything up to a transaction is in the namespace: an image was loaded, or calls made these edits.
    pub(crate) fn set_applied(&self, txid: TxId) {
        self.applied.store(txid.0, Ordering::Release);
    }

    /// Waits until more edits have been applied, or something else has happened that those who wait must know. What happens
    /// between [`Notified::enable`] and the wait is not missed.
    pub(crate) fn advanced(&self) -> Notified<'_> {
        self.advanced.notified()
    }

    /// Wakes those who wait for edits.
    pub(crate) fn wake(&self) {
        self.advanced.notify_waiters();
    }

    /// Applies edits that another NameNode, or this one before its start, has written: those from where `edits` is up to
    /// `until`, or as many as there are. They are read without the lock, and applied a few at a time, so that reads are
    /// served in between.
    ///
    /// # Errors
    /// If an edit cannot be read or applied. Those before it have been applied.
    pub(crate) fn catch_up(
        &self,
        edits: &mut EditCursor<'_>,
        until: TxId,
    ) -> Result<(), StorageError> {
        self.catch_up_while(edits, until, || Some(()))
    }

    /// Like [`Self::catch_up`], but ends where `hold` gives no right to apply edits. The right is held while a few are applied, and not
    /// while edits are read.
    ///
    /// # Errors
    /// Returns the same errors as [`Self::catch_up`].
    pub(crate) fn catch_up_while<H>(
        &self,
        edits: &mut EditCursor<'_>,
        until: TxId,
        hold: impl Fn() -> Option<H>,
    ) -> Result<(), StorageError> {
        let mut batch = Vec::with_capacity(EDITS_MAX);
        loop {
            let ended = read_batch(edits, until, &mut batch);
            if !batch.is_empty() {
                let Some(_held) = hold() else { return Ok(()) };
                self.apply(&mut batch, &edits.stream_name())?;
            }
            match ended {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn apply(&self, batch: &mut Vec<Record>, stream: &str) -> Result<(), StorageError> {
        let mut apply = |namespace: &mut Namespace| {
            batch.drain(..).try_for_each(|record| {
                let (name, txid) = (record.op.name(), record.txid);
                let refused = |source| StorageError::Replay {
                    what: format!("{name} (transaction {txid}) of {stream}"),
                    source,
                };
                self.apply_one(namespace, record).map_err(refused)
            })
        };
        let mut namespace = self.namespace.write();
        abort_on_panic("applying edits", || apply(&mut namespace))?;
        drop(namespace);
        self.wake();
        while self.namespace.write().free_deleted(FREED_MAX) {}
        Ok(())
    }

    /// The call id of the edit goes into the retry cache, so that a call sent again to this NameNode gets its answer
    /// and happens once.
    fn apply_one(&self, namespace: &mut Namespace, record: Record) -> Result<(), ReplayError> {
        namespace.apply_in_pieces(record.txid, &record.op)?;
        let key = CallKey::new(record.rpc);
        let now = self.clock.now();
        if let Some(key) = key
            && let Some(answer) = answer(namespace, &OpContext::internal(now), record.op)
        {
            self.retries.lock().put(key, answer, now.mono_ms);
        }
        self.set_applied(record.txid);
        Ok(())
    }
}

/// Reads edits of one segment; true at the end of what there is.
fn read_batch(
    edits: &mut EditCursor<'_>,
    until: TxId,
    batch: &mut Vec<Record>,
) -> Result<bool, zerohop_journal::JournalError> {
    while batch.len() < EDITS_MAX {
        if edits.next_txid() > until {
            return Ok(true);
        }
        let Some(record) = edits.next()? else { return Ok(true) };
        let ends_segment = matches!(record.op, EditOp::EndLogSegment(_));
        batch.push(record);
        if ends_segment {
            return Ok(false);
        }
    }
    Ok(false)
}

/// The answer to the call that an edit came from: for each operation that is logged with the call's ids and can be carried
/// out here.
fn answer(namespace: &Namespace, op: &OpContext, edit: EditOp) -> Option<CachedAnswer> {
    Some(match edit {
        EditOp::Append(op) => CachedAnswer::AppendEdit(Arc::new(op)),
        EditOp::Add(edit) => namespace.view(op).file_info(&edit.path).ok()??.to_cached()?,
        EditOp::RenameOld(_) | EditOp::Delete(_) => true.to_cached()?,
        EditOp::AddCacheDirective(op) => op.directive.id.to_cached()?,
        EditOp::ModifyCacheDirective(_)
        | EditOp::RemoveCacheDirective(_)
        | EditOp::AddCachePool(_)
        | EditOp::ModifyCachePool(_)
        | EditOp::RemoveCachePool(_)
        | EditOp::Rename(_)
        | EditOp::ConcatDelete(_)
        | EditOp::UpdateBlocks(_)
        | EditOp::SetXAttr(_)
        | EditOp::RemoveXAttr(_)
        | EditOp::Symlink(_) => ().to_cached()?,
        _ => return None,
    })
}

/// Loads what is in the NameNode's directories into the namespace that is going to be served.
pub(crate) struct Loader<'a> {
    pub(crate) served: &'a ServedNamespace,
    /// Without one, a rolling upgrade recorded in the image cannot be rolled back and counts as not under way.
    pub(crate) has_rollback_image: bool,
    pub(crate) progress: &'a StartProgress,
}

impl Replay for Loader<'_> {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        let now = self.served.clock.now();
        load_image(&mut self.served.write(), image, now, self.has_rollback_image)
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.served.apply_one(&mut self.served.write(), record)
    }

    fn last_txid(&self) -> i64 {
        self.served.applied().0
    }

    fn edits(&mut self, edits: &mut EditCursor<'_>, until: TxId) -> Result<(), StorageError> {
        self.progress.begin(StartPhase::Edits);
        let before = self.served.applied();
        let done = self.served.catch_up(edits, until);
        let applied = self.served.applied().0.saturating_sub(before.0);
        self.progress.count_edits(u64::try_from(applied).unwrap_or(0));
        done
    }
}
