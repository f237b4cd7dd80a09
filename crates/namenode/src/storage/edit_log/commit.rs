//! The committer: takes what has gathered, writes it, wakes who waits for it.

use super::shared::{self, JournalFailed, Shared};
use super::stored_log::StoredLog;
use crate::storage::StorageError;
use std::fmt;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::{Duration, Instant};
use zerohop_journal::log::Batch;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// Callers answered together call again together, and those whose edits came during the sync wait
/// already: the committer gives all of them the time of one more sync to gather, for a sync costs as
/// much for one as for all. Below this, waking up costs more than is won. A lone caller never waits.
const GATHER_MIN: Duration = Duration::from_micros(50);

/// The longest wait for callers to gather.
const GATHER_MAX: Duration = Duration::from_micros(500);

/// After callers did not come back, so many syncs at most pass before they are waited for again.
const SKIP_MAX: u32 = 64;

/// What [`EditLog::start`](super::EditLog::start) is given to be told of the end: called once, from the committer.
pub(super) type OnFailure = Box<dyn FnOnce(&JournalFailed) + Send>;

/// Fails the log when the committer's thread unwinds: no other thread syncs, and callers would wait for ever.
struct FailsOnPanic<'a> {
    shared: &'a Shared,
    on_failure: Option<OnFailure>,
}

impl FailsOnPanic<'_> {
    fn fail(&mut self, error: &dyn fmt::Display) {
        if let Some(on_failure) = self.on_failure.take() {
            fail(self.shared, error, on_failure);
        }
    }
}

impl Drop for FailsOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.fail(&"its thread panicked");
        }
    }
}

pub(super) fn run(shared: &Shared, mut journals: StoredLog, on_failure: OnFailure) {
    let mut guard = FailsOnPanic { shared, on_failure: Some(on_failure) };
    let mut batch = shared::Batch::default();
    let mut wakers = Vec::new();
    let mut patience = Patience::default();
    while take(shared, &mut batch) {
        let begun = clock::now();
        if let Err(e) = write(&mut journals, &batch) {
            return guard.fail(&e);
        }
        let took = clock::since(begun);
        shared.synced.store(batch.last, Ordering::Release);
        let count = u64::try_from(batch.last + 1 - batch.first).unwrap_or(0);
        shared.metrics.synced(count, took);
        wake(shared, batch.last, &mut wakers);
        let wait = took.min(GATHER_MAX);
        if wait >= GATHER_MIN && batch.callers > 0 && patience.is_there() {
            patience.note(gather(shared, batch.callers, clock::now() + wait));
        }
    }
}

/// Whether it pays to wait for callers to come back: clients that have other things to do do not.
#[derive(Default)]
struct Patience {
    /// How many syncs pass without a wait after the next wait in vain.
    penalty: u32,
    skip: u32,
}

impl Patience {
    fn is_there(&mut self) -> bool {
        let skipped = self.skip > 0;
        self.skip = self.skip.saturating_sub(1);
        !skipped
    }

    fn note(&mut self, came: bool) {
        self.penalty = if came { 0 } else { (self.penalty * 2).clamp(1, SKIP_MAX) };
        self.skip = self.penalty;
    }
}

/// Waits until those that were `answered` have logged something again, besides those that have
/// meanwhile. False when less than half of the answered came.
fn gather(shared: &Shared, answered: usize, until: Instant) -> bool {
    let mut state = shared.state.lock();
    let already = state.pending.callers;
    let all = already + answered;
    if all == 1 {
        return true;
    }
    while state.pending.callers < all && !state.closed {
        state.gather = all;
        if shared.work.wait_until(&mut state, until).timed_out() {
            break;
        }
    }
    state.gather = 0;
    state.pending.callers >= already + answered.div_ceil(2)
}

/// Waits for work; false when the log is closed and nothing is left.
fn take(shared: &Shared, batch: &mut shared::Batch) -> bool {
    batch.clear();
    let mut state = shared.state.lock();
    while state.pending.bytes.is_empty() {
        if state.closed {
            return false;
        }
        state.committer_idle = true;
        shared.work.wait(&mut state);
    }
    state.committer_idle = false;
    std::mem::swap(&mut state.pending, batch);
    true
}

fn write(journals: &mut StoredLog, batch: &shared::Batch) -> Result<(), StorageError> {
    let mut from = 0;
    let mut first = batch.first;
    let mut write = |journals: &mut StoredLog, to: usize, last: i64| {
        let records = batch.bytes.get(from..to).unwrap_or_default();
        let count = u32::try_from(last + 1 - first).unwrap_or(u32::MAX);
        let piece = Batch { first: TxId(first), count, records };
        (from, first) = (to, last + 1);
        journals.write(&piece)
    };
    for (end, last) in &batch.ends {
        write(journals, *end, *last)?;
        journals.end(*last)?;
        // Records behind the end belong to the next segment; none: the log is being closed.
        if *end < batch.bytes.len() {
            journals.begin(*last + 1)?;
        }
    }
    let ended = batch.ends.last();
    if ended.is_none_or(|(end, _)| *end < batch.bytes.len()) {
        write(journals, batch.bytes.len(), batch.last)?;
        if let Some((_, last)) = ended {
            journals.mark_seen(*last + 1)?;
        }
    }
    journals.note_failures(batch.last)
}

/// Wakes who waits for `synced` or less.
fn wake(shared: &Shared, synced: i64, wakers: &mut Vec<Waker>) {
    {
        let mut state = shared.state.lock();
        let ready = state.waiters.extract_if(.., |(txid, _)| *txid <= synced);
        wakers.extend(ready.map(|(_, waker)| waker));
    }
    // Outside of the lock: a woken task polls its sync.
    for waker in wakers.drain(..) {
        waker.wake();
    }
}

fn fail(shared: &Shared, error: &dyn fmt::Display, on_failure: OnFailure) {
    let (failure, waiters) = {
        let mut state = shared.state.lock();
        let failure = JournalFailed::new(error, state.is_shared);
        state.failure = Some(failure.clone());
        shared.failed.store(true, Ordering::Release);
        state.closed = true;
        state.pending = shared::Batch::default();
        (failure, std::mem::take(&mut state.waiters))
    };
    tracing::error!("{failure}");
    on_failure(&failure);
    for (_, waker) in waiters {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::super::pending_sync::PendingSync;
    use super::super::shared::State;
    use super::*;
    use std::sync::{Arc, mpsc};

    #[test]
    fn a_panic_fails_all_callers_that_wait_and_tells_the_namenode() {
        let shared =
            Arc::new(Shared::new(State { last: 1, ..State::before(1) }, 0, &Arc::default()));
        let sync = PendingSync::new(&shared, 1);
        let (told, failures) = mpsc::channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let on_failure: OnFailure =
                Box::new(move |failure| told.send(failure.clone()).unwrap());
            let _guard = FailsOnPanic { shared: &for_thread, on_failure: Some(on_failure) };
            panic!("as a bug of the committer would");
        });
        let failure = failures.recv().unwrap();
        assert!(failure.to_string().ends_with("its thread panicked"), "{failure}");
        assert_eq!(sync.wait(), Err(failure));
        assert!(thread.join().is_err());
    }
}
