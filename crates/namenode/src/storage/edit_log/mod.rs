//! The edit log being written: operations go to memory under the namespace's lock, one thread
//! brings them to disk, many callers wait for one sync.
//!
//! ```text
//!  handlers (namespace lock held)        committer thread               handlers (no lock held)
//!  log(ops) -> bytes, txids in memory -> write + fdatasync a batch   -> their syncs are done
//! ```
//! While a sync runs, the next batch gathers: under load a sync serves many operations, alone an
//! operation waits for its own sync only. A reply may leave when its sync is done, not before.

mod commit;
mod copies;
mod journal_set;
mod member;
mod metrics;
mod pending_sync;
mod shared;
mod stored_log;
mod thread_waiters;

pub use metrics::EditLogMetrics;
pub use pending_sync::PendingSync;
pub use shared::JournalFailed;

use super::NameStorage;
use super::error::StorageError;
use commit::OnFailure;
use parking_lot::Mutex;
use shared::{Shared, State};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use stored_log::StoredLog;
use zerohop_journal::log::Batch;
use zerohop_journal::op::{EditOp, StartLogSegment};
use zerohop_journal::types::RpcIds;
use zerohop_wire::TxId;

/// The edit log, open for writing.
pub struct EditLog {
    shared: Arc<Shared>,
    committer: Mutex<Option<JoinHandle<()>>>,
}

/// How busy the log is, since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditLogStats {
    /// Transactions logged.
    pub transactions: u64,
    /// Syncs made since the process was started.
    pub syncs: u64,
    /// Time spent writing and syncing, microseconds.
    pub sync_us: u64,
    /// Transactions that wait for their sync.
    pub pending: u64,
    /// The last transaction logged.
    pub last_txid: i64,
    /// The last transaction that is durable.
    pub synced_txid: i64,
    /// The first transaction of the segment being written.
    pub segment_first_txid: i64,
}

impl EditLog {
    /// Opens a segment that begins with `next_txid` in every edits directory and starts the committer.
    /// When the returned log fails for good, `on_failure` is called and every sync, present and
    /// future, fails: the NameNode must stop.
    pub fn start(
        storage: Arc<NameStorage>,
        next_txid: i64,
        on_failure: impl FnOnce(&JournalFailed) + Send + 'static,
    ) -> Result<Self, StorageError> {
        let is_shared = storage.has_shared_edits();
        let metrics = Arc::clone(storage.log_metrics());
        let mut journals = StoredLog::new(storage);
        journals.begin(next_txid)?;
        let mut state = State { is_shared, ..State::before(next_txid) };
        state.push(&StartLogSegment {}.into(), &RpcIds::NONE);
        let first = std::mem::take(&mut state.pending);
        journals.write(&Batch { first: TxId(next_txid), count: 1, records: &first.bytes })?;
        journals.mark_seen(next_txid)?;
        let shared = Arc::new(Shared::new(state, next_txid, &metrics));
        let on_failure: OnFailure = Box::new(on_failure);
        let for_thread = Arc::clone(&shared);
        let committer = std::thread::Builder::new()
            .name("edit-log syncer".to_owned())
            .spawn(move || commit::run(&for_thread, journals, on_failure))
            .map_err(StorageError::io("start a thread for", "the edit log"))?;
        Ok(Self { shared, committer: Mutex::new(Some(committer)) })
    }

    /// That of a NameNode that has not written yet, behind transaction `last`: nothing can be logged.
    pub fn closed(last: i64, storage: &NameStorage) -> Self {
        let state = State { closed: true, ..State::before(last + 1) };
        Self {
            shared: Arc::new(Shared::new(state, last, storage.log_metrics())),
            committer: Mutex::new(None),
        }
    }

    /// Gives each operation the next transaction id and puts it into the batch that is written
    /// next; memory only. Callers hold the namespace's lock, so that ids follow the order in which
    /// the operations were applied. No operations: a sync that is done.
    pub fn log<'a>(
        &self,
        edits: impl IntoIterator<Item = (&'a EditOp, &'a RpcIds)>,
    ) -> PendingSync {
        let mut state = self.shared.state.lock();
        let before = state.last;
        for (op, rpc) in edits {
            if state.closed {
                return PendingSync::new(&self.shared, i64::MAX);
            }
            state.push(op, rpc);
        }
        let txid = if state.last == before { 0 } else { state.last };
        state.pending.callers += 1;
        let wakes = self.shared.notify_soon(&mut state);
        drop(state);
        if wakes {
            self.shared.work.notify_one();
        }
        PendingSync::new(&self.shared, txid)
    }

    /// Ends the segment and begins the next; returns the last transaction of the ended one, which
    /// is where an image of the namespace as it is now belongs, and the sync of the change.
    pub fn roll(&self) -> (TxId, PendingSync) {
        let mut state = self.shared.state.lock();
        if state.closed {
            return (TxId(state.last), PendingSync::new(&self.shared, i64::MAX));
        }
        let ended = state.end_segment();
        state.push(&StartLogSegment {}.into(), &RpcIds::NONE);
        state.segment_first = state.last;
        let sync = PendingSync::new(&self.shared, state.last);
        if state.wants_committer() {
            self.shared.work.notify_one();
        }
        (TxId(ended), sync)
    }

    /// The sync of everything logged so far.
    pub fn barrier(&self) -> PendingSync {
        PendingSync::new(&self.shared, self.last_txid().0)
    }

    /// The last transaction given out.
    pub fn last_txid(&self) -> TxId {
        TxId(self.shared.state.lock().last)
    }

    /// The last transaction that is durable.
    pub fn synced_txid(&self) -> TxId {
        TxId(self.shared.synced.load(Ordering::Acquire))
    }

    /// Figures for metrics.
    pub fn stats(&self) -> EditLogStats {
        let state = self.shared.state.lock();
        EditLogStats {
            transactions: (state.last - state.start + 1) as u64,
            syncs: self.shared.metrics.syncs.count(),
            sync_us: self.shared.metrics.sync_us.get(),
            pending: u64::try_from(state.last - self.shared.synced.load(Ordering::Relaxed))
                .unwrap_or(0),
            last_txid: state.last,
            synced_txid: self.shared.synced.load(Ordering::Relaxed),
            segment_first_txid: state.segment_first,
        }
    }

    /// Ends and finalizes the segment; nothing may be logged after.
    pub fn close(&self) -> Result<(), JournalFailed> {
        {
            let mut state = self.shared.state.lock();
            if !state.closed {
                state.end_segment();
                state.closed = true;
            }
            state.wants_committer();
            self.shared.work.notify_one();
        }
        self.join();
        match &self.shared.state.lock().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    fn join(&self) {
        if let Some(committer) = self.committer.lock().take() {
            // The committer itself may hold the last reference, in its callback.
            if committer.thread().id() != std::thread::current().id() {
                let _ = committer.join();
            }
        }
    }
}

impl Drop for EditLog {
    /// Without [`EditLog::close`] the segment stays in progress, as after a crash.
    fn drop(&mut self) {
        {
            let mut state = self.shared.state.lock();
            state.closed = true;
            state.wants_committer();
            self.shared.work.notify_one();
        }
        self.join();
    }
}
