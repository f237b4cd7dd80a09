//! Waiting for an edit to be durable.

use super::relay;
use super::shared::{JournalFailed, Shared};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};

/// A claim on the durability of a transaction and of all before it; a future, or
/// [`Ticket::wait`] for threads.
#[must_use = "a reply may only leave when the ticket is ready"]
pub struct Ticket {
    shared: Arc<Shared>,
    /// 0: nothing to wait for.
    txid: i64,
    registered: Option<Waker>,
}

impl Ticket {
    pub(super) fn new(shared: &Arc<Shared>, txid: i64) -> Self {
        Self { shared: Arc::clone(shared), txid, registered: None }
    }

    /// Whether there is nothing to wait for any more.
    pub fn is_synced(&self) -> bool {
        self.txid <= self.shared.synced.load(Ordering::Acquire)
    }

    /// Waits in an async task; the same as awaiting the ticket.
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
        // The nudge that was to wake the committer may be a task of this very thread.
        let wakes = self.shared.state.lock().wants_committer();
        if wakes {
            self.shared.work.notify_one();
        }
        let mut context = Context::from_waker(&waker);
        let mut ticket = self;
        loop {
            // Not through a relay: this may be the very thread it would run on.
            if let Poll::Ready(done) = ticket.poll_synced(&mut context, Through::Nothing) {
                return done;
            }
            std::thread::park();
        }
    }
}

/// Who wakes a ticket's task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    Relay,
    Nothing,
}

impl Ticket {
    fn poll_synced(
        &mut self,
        context: &mut Context<'_>,
        through: Through,
    ) -> Poll<Result<(), JournalFailed>> {
        if self.is_synced() {
            return Poll::Ready(Ok(()));
        }
        let waker = context.waker();
        let known = self.registered.as_ref().is_some_and(|known| known.will_wake(waker));
        // Without the log's lock, which the committer needs: a relay looks for itself whether the log
        // has failed. A call that a closed log refused waits for nothing.
        if through == Through::Relay
            && !known
            && self.txid != i64::MAX
            && !self.shared.failed.load(Ordering::Acquire)
            && relay::register(&self.shared, self.txid, waker)
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
            return Poll::Ready(Err(JournalFailed::new(&"it is closed")));
        }
        if !known {
            state.waiters.push((self.txid, waker.clone()));
            self.registered = Some(waker.clone());
        }
        Poll::Pending
    }
}

impl Future for Ticket {
    type Output = Result<(), JournalFailed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_synced(context, Through::Relay)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("txid", &self.txid).finish_non_exhaustive()
    }
}
