//! What the log's callers, its committer and those who wait share.

use super::metrics::EditLogMetrics;
use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::task::Waker;
use tokio::runtime::{Handle, RuntimeFlavor};
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::op::{self, EditOp, EndLogSegment};
use zerohop_journal::types::RpcIds;
use zerohop_wire::TxId;

/// A batch's memory is given back above this.
const BATCH_KEPT_MAX: usize = 4 * 1024 * 1024;

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    /// The committer waits here for work.
    pub(super) work: Condvar,
    pub(super) synced: AtomicI64,
    /// `failure` of the state is set.
    pub(super) failed: AtomicBool,
    pub(super) metrics: Arc<EditLogMetrics>,
}

/// segment_first <= last + 1, and synced <= last.
pub(super) struct State {
    pub(super) pending: Batch,
    /// The last transaction given out.
    pub(super) last: i64,
    pub(super) start: i64,
    pub(super) segment_first: i64,
    pub(super) waiters: Vec<(i64, Waker)>,
    pub(super) committer_idle: bool,
    /// The committer sleeps until so many callers have logged something, or its time is up.
    pub(super) gather: usize,
    /// A task of this thread will wake the committer soon.
    pub(super) wakeup_due_on: Option<ThreadMark>,
    pub(super) closed: bool,
    pub(super) failure: Option<JournalFailed>,
    /// Whether other NameNodes have the log, too.
    pub(super) is_shared: bool,
}

/// Records encoded and not yet written.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// Where segments end within `bytes`, and each segment's last transaction.
    pub(super) ends: Vec<(usize, i64)>,
    /// The first record's transaction, if there is a record.
    pub(super) first: i64,
    pub(super) last: i64,
    /// How many callers logged something.
    pub(super) callers: usize,
}

/// The edit log cannot be written any more: the change may or may not survive, no reply may say
/// that it did, and the process must stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFailed {
    text: Arc<str>,
    is_shared: bool,
}

impl JournalFailed {
    pub(super) fn new(error: &dyn fmt::Display, is_shared: bool) -> Self {
        let text = format!("the edit log failed, the NameNode must stop: {error}").into();
        Self { text, is_shared }
    }

    /// Whether another NameNode has the log, and may be asked in place of this one.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }
}

impl fmt::Display for JournalFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for JournalFailed {}

impl State {
    /// With nothing logged yet; the first transaction will be `next_txid`.
    pub(super) fn before(next_txid: i64) -> Self {
        Self {
            pending: Batch::default(),
            last: next_txid - 1,
            start: next_txid,
            segment_first: next_txid,
            waiters: Vec::new(),
            committer_idle: false,
            gather: 0,
            wakeup_due_on: None,
            closed: false,
            failure: None,
            is_shared: false,
        }
    }

    pub(super) fn push(&mut self, op: &EditOp, rpc: &RpcIds) {
        self.last += 1;
        if self.pending.bytes.is_empty() {
            self.pending.first = self.last;
        }
        let layout = LayoutVersion::CURRENT;
        op::encode(op, TxId(self.last), rpc, layout, &mut self.pending.bytes);
        self.pending.last = self.last;
    }

    /// Whether the committer sleeps and is to be woken, best when the lock is free again; one that is
    /// at work looks again before it sleeps.
    pub(super) fn wants_committer(&mut self) -> bool {
        let enough = self.pending.callers >= self.gather || self.closed;
        let wakes = (self.gather > 0 && enough) || std::mem::take(&mut self.committer_idle);
        if wakes {
            self.gather = 0;
        }
        wakes
    }

    pub(super) fn end_segment(&mut self) -> i64 {
        self.push(&EndLogSegment {}.into(), &RpcIds::NONE);
        self.pending.ends.push((self.pending.bytes.len(), self.last));
        self.last
    }
}

/// Tells threads apart; that of a thread that has ended may come again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ThreadMark(usize);

impl ThreadMark {
    /// That of the calling thread: an address of its own, which costs less than its id.
    fn here() -> Self {
        thread_local!(static MARK: u8 = const { 0 });
        Self(MARK.with(|mark| std::ptr::from_ref(mark).addr()))
    }
}

/// Wakes the committer when it is dropped.
struct WakeCommitterOnDrop(Arc<Shared>);

impl Drop for WakeCommitterOnDrop {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.wakeup_due_on = None;
        let wakes = state.wants_committer();
        drop(state);
        if wakes {
            self.0.work.notify_one();
        }
    }
}

impl Shared {
    /// With everything up to `synced` durable.
    pub(super) fn new(state: State, synced: i64, metrics: &Arc<EditLogMetrics>) -> Self {
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            synced: AtomicI64::new(synced),
            failed: AtomicBool::new(false),
            metrics: Arc::clone(metrics),
        }
    }

    /// As [`State::wants_committer`]; a thread that serves many connections first gets through the
    /// calls that have arrived with this one, so that one sync serves them all. That may take it long, and other threads
    /// do not wait for it.
    pub(super) fn notify_soon(self: &Arc<Self>, state: &mut State) -> bool {
        if let Some(thread) = state.wakeup_due_on {
            return thread != ThreadMark::here() && state.wants_committer();
        }
        if !state.committer_idle {
            return state.wants_committer();
        }
        match Handle::try_current() {
            Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread => {
                state.wakeup_due_on = Some(ThreadMark::here());
                let wakeup = WakeCommitterOnDrop(Arc::clone(self));
                // Runs behind all tasks that are ready now.
                runtime.spawn(async move { drop(wakeup) });
                false
            }
            _ => state.wants_committer(),
        }
    }
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BATCH_KEPT_MAX);
        self.ends.clear();
        self.callers = 0;
    }
}
