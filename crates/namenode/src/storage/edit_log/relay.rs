//! One wake-up for all tickets of a thread.
//!
//! To wake a task on another thread costs a system call, for the thread sleeps in one. So the tickets
//! that wait on a thread with a runtime of its own gather here, and the committer wakes one task
//! there, which wakes theirs.

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
    static RELAYS: RefCell<Vec<Arc<Relay>>> = const { RefCell::new(Vec::new()) };
}

/// The tickets of one log that wait on one thread.
pub(super) struct Relay {
    log: Weak<Shared>,
    state: Mutex<State>,
}

struct State {
    waiting: Vec<(i64, Waker)>,
    /// The relay's own task.
    task: Option<Waker>,
    /// Its task will run without being woken once more.
    comes: bool,
    /// The runtime is gone, and its task with it.
    ended: bool,
}

/// Has `waker` woken when `txid` is synced, through this thread's relay; false where a thread has
/// none: where its tasks may move to other threads.
pub(super) fn register(log: &Arc<Shared>, txid: i64, waker: &Waker) -> bool {
    RELAYS.with_borrow_mut(|relays| {
        let known = relays.iter().find(|relay| relay.is_of(log));
        if let Some(relay) = known
            && relay.add(txid, waker)
        {
            return true;
        }
        let Some(new) = Relay::start(log) else { return false };
        let added = new.add(txid, waker);
        relays.retain(|relay| !relay.is_of(log));
        relays.push(new);
        added
    })
}

impl Relay {
    fn start(log: &Arc<Shared>) -> Option<Arc<Self>> {
        let runtime = Handle::try_current().ok()?;
        if runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
            return None;
        }
        let state = State { waiting: Vec::new(), task: None, comes: true, ended: false };
        let relay = Arc::new(Self { log: Arc::downgrade(log), state: Mutex::new(state) });
        let end = End(Arc::clone(&relay));
        runtime.spawn(async move { poll_fn(|context| end.0.pass_on(context)).await });
        Some(relay)
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
        if !state.comes
            && let Some(task) = &state.task
        {
            task.wake_by_ref();
            state.comes = true;
        }
        true
    }

    /// Wakes whose time has come, and has itself woken for the rest.
    fn pass_on(&self, context: &mut Context<'_>) -> Poll<()> {
        let Some(log) = self.log.upgrade() else { return Poll::Ready(()) };
        let mut state = self.state.lock();
        loop {
            let synced = log.synced.load(Ordering::Acquire);
            for (_, waker) in state.waiting.extract_if(.., |(txid, _)| *txid <= synced) {
                waker.wake();
            }
            let Some(next) = state.waiting.iter().map(|(txid, _)| *txid).min() else {
                state.comes = false;
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

/// Lets nobody wait for a task that its runtime has dropped.
struct End(Arc<Relay>);

impl Drop for End {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.ended = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }
}
