//! Waiting for an edit to be durable.

use super::shared::{JournalFailed, Shared};
use super::thread_waiters;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};

/// The sync after which a transaction and all before it are durable; a future, or [`PendingSync::wait`] for threads.
#[must_use = "a reply may only leave when the sync is done"]
pub struct PendingSync {
    shared: Arc<Shared>,
    /// 0: nothing to wait for.
    txid: i64,
    registered: Option<Waker>,
}

impl PendingSync {
    pub(super) fn new(shared: &Arc<Shared>, txid: i64) -> Self {
        Self { shared: Arc::clone(shared), txid, registered: None }
    }

    /// Whether there is nothing to wait for any more.
    pub fn is_synced(&self) -> bool {
        self.txid <= self.shared.synced.load(Ordering::Acquire)
    }

    /// Waits in an async task; the same as awaiting this.
    pub fn synced(self) -> impl Future<Output = Result<(), JournalFailed>> + Send {
        self
    }

    /// Waits in a thread of its own.
    pub fn wait(self) -> Result<(), JournalFailed> {
        struct Unpark(std::thread::Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Arc::new(Unpark(std::thread::current())).into();
        // What was to wake the committer may be a task of this very thread.
        let wakes = self.shared.state.lock().wants_committer();
        if wakes {
            self.shared.work.notify_one();
        }
        let mut context = Context::from_waker(&waker);
        let mut pending = self;
        loop {
            // Not by a task: this may be the very thread it would run on.
            if let Poll::Ready(done) = pending.poll_synced(&mut context, WokenBy::Committer) {
                return done;
            }
            std::thread::park();
        }
    }
}

/// What wakes the one that waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WokenBy {
    /// The task of its thread that wakes all that wait there.
    ThreadTask,
    Committer,
}

impl PendingSync {
    fn poll_synced(
        &mut self,
        context: &mut Context<'_>,
        woken_by: WokenBy,
    ) -> Poll<Result<(), JournalFailed>> {
        if self.is_synced() {
            return Poll::Ready(Ok(()));
        }
        let waker = context.waker();
        let known = self.registered.as_ref().is_some_and(|known| known.will_wake(waker));
        // Without the log's lock, which the committer needs: that task looks for itself whether the log
        // has failed. A call that a closed log refused waits for nothing.
        if woken_by == WokenBy::ThreadTask
            && !known
            && self.txid != i64::MAX
            && !self.shared.failed.load(Ordering::Acquire)
            && thread_waiters::register(&self.shared, self.txid, waker)
        {
            self.registered = Some(waker.clone());
            return Poll::Pending;
        }
        let mut state = self.shared.state.lock();
        // Again under the lock: the committer stores, then takes the waiters under it.
        if self.is_synced() {
            return Poll::Ready(Ok(()));
        }
        if let Some(failure) = &state.failure {
            return Poll::Ready(Err(failure.clone()));
        }
        if state.closed && self.txid > state.last {
            return Poll::Ready(Err(JournalFailed::new(&"it is closed", state.is_shared)));
        }
        if !known {
            state.waiters.push((self.txid, waker.clone()));
            self.registered = Some(waker.clone());
        }
        Poll::Pending
    }
}

impl Future for PendingSync {
    type Output = Result<(), JournalFailed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_synced(context, WokenBy::ThreadTask)
    }
}

impl fmt::Debug for PendingSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingSync").field("txid", &self.txid).finish_non_exhaustive()
    }
}
