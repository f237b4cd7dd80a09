//! One wake-up for all calls that wait on a thread.
//!
//! To wake a task on another thread costs a system call, for the thread sleeps in one. So what waits for a sync on a thread
//! with a runtime of its own is kept in one list for that thread; the committer wakes one task there, which wakes the
//! others.

use super::shared::Shared;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use tokio::runtime::{Handle, RuntimeFlavor};

thread_local! {
    /// A thread has as many as NameNodes it serves: one, but for tests.
    static WAITERS: RefCell<Vec<Arc<ThreadWaiters>>> = const { RefCell::new(Vec::new()) };
}

/// What waits on one thread for syncs of one log.
pub(super) struct ThreadWaiters {
    log: Weak<Shared>,
    state: Mutex<State>,
}

struct State {
    waiting: Vec<(i64, Waker)>,
    /// The task that wakes the others.
    task: Option<Waker>,
    /// The task will run without being woken once more.
    task_is_due: bool,
    /// The runtime is gone, and its task with it.
    ended: bool,
}

/// Has `waker` woken when `txid` is synced, by this thread's task; false where a thread has none: where its
/// tasks may move to other threads.
pub(super) fn register(log: &Arc<Shared>, txid: i64, waker: &Waker) -> bool {
    WAITERS.with_borrow_mut(|all| {
        let known = all.iter().find(|waiters| waiters.is_of(log));
        if let Some(waiters) = known
            && waiters.add(txid, waker)
        {
            return true;
        }
        let Some(new) = ThreadWaiters::start(log) else { return false };
        let added = new.add(txid, waker);
        all.retain(|waiters| !waiters.is_of(log));
        all.push(new);
        added
    })
}

impl ThreadWaiters {
    fn start(log: &Arc<Shared>) -> Option<Arc<Self>> {
        let runtime = Handle::try_current().ok()?;
        if runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
            return None;
        }
        let state = State { waiting: Vec::new(), task: None, task_is_due: true, ended: false };
        let waiters = Arc::new(Self { log: Arc::downgrade(log), state: Mutex::new(state) });
        let ends = WakeAllOnDrop(Arc::clone(&waiters));
        runtime.spawn(async move { poll_fn(|context| ends.0.wake_synced(context)).await });
        Some(waiters)
    }

    fn is_of(&self, log: &Arc<Shared>) -> bool {
        std::ptr::eq(self.log.as_ptr(), Arc::as_ptr(log))
    }

    /// False when there is no task any more.
    fn add(&self, txid: i64, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        if state.ended {
            return false;
        }
        state.waiting.push((txid, waker.clone()));
        if !state.task_is_due
            && let Some(task) = &state.task
        {
            task.wake_by_ref();
            state.task_is_due = true;
        }
        true
    }

    /// Wakes whose time has come, and has itself woken for the rest.
    fn wake_synced(&self, context: &mut Context<'_>) -> Poll<()> {
        let Some(log) = self.log.upgrade() else { return Poll::Ready(()) };
        let mut state = self.state.lock();
        loop {
            let synced = log.synced.load(Ordering::Acquire);
            for (_, waker) in state.waiting.extract_if(.., |(txid, _)| *txid <= synced) {
                waker.wake();
            }
            let Some(next) = state.waiting.iter().map(|(txid, _)| *txid).min() else {
                state.task_is_due = false;
                state.task = Some(context.waker().clone());
                return Poll::Pending;
            };
            let mut log_state = log.state.lock();
            if log_state.failure.is_some() {
                drop(log_state);
                // They see the failure themselves.
                state.waiting.drain(..).for_each(|(_, waker)| waker.wake());
                continue;
            }
            // Again under the lock: the committer stores, then takes the waiters under it.
            if next > log.synced.load(Ordering::Acquire) {
                log_state.waiters.push((next, context.waker().clone()));
                return Poll::Pending;
            }
        }
    }
}

/// Wakes all that wait when the runtime drops the task.
struct WakeAllOnDrop(Arc<ThreadWaiters>);

impl Drop for WakeAllOnDrop {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.ended = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }
}
