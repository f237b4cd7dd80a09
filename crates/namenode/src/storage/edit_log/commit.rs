//! The committer: takes what has gathered, writes it, wakes who waits for it.

use super::journals::Journals;
use super::{Batch, JournalFailed, OnFailure, Shared};
use crate::storage::StorageError;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::{Duration, Instant};

/// Callers answered together call again together: where a sync is slow, the committer waits until as
/// many have logged something again, for half a sync at most; else the next batch takes the quick
/// ones and leaves the rest to another sync. A lone caller never waits; below this, waking up costs
/// more than is won.
const GATHER_MIN: Duration = Duration::from_micros(50);

/// The longest wait for callers to gather.
const GATHER_MAX: Duration = Duration::from_micros(500);

/// A batch's memory is given back above this.
const BATCH_KEPT_MAX: usize = 4 * 1024 * 1024;

pub(super) fn run(shared: &Shared, mut journals: Journals, on_failure: OnFailure) {
    let mut batch = Batch::default();
    let mut wakers = Vec::new();
    while take(shared, &mut batch) {
        let begun = Instant::now();
        if let Err(e) = write(&mut journals, &batch) {
            fail(shared, &e, on_failure);
            return;
        }
        let took = begun.elapsed();
        shared.synced.store(batch.last, Ordering::Release);
        shared.syncs.fetch_add(1, Ordering::Relaxed);
        shared.sync_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
        let woken = wake(shared, batch.last, &mut wakers);
        let wait = (took / 2).min(GATHER_MAX);
        if woken > 1 && wait >= GATHER_MIN {
            gather(shared, woken, Instant::now() + wait);
        }
    }
}

/// Waits until as many callers as were woken have logged something.
fn gather(shared: &Shared, woken: usize, until: Instant) {
    let mut state = shared.state.lock();
    while state.pending.callers < woken && !state.closed {
        state.gather = woken;
        if shared.work.wait_until(&mut state, until).timed_out() {
            break;
        }
    }
    state.gather = 0;
}

/// Waits for work; false when the log is closed and nothing is left.
fn take(shared: &Shared, batch: &mut Batch) -> bool {
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

impl Batch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BATCH_KEPT_MAX);
        self.ends.clear();
        self.callers = 0;
    }
}

fn write(journals: &mut Journals, batch: &Batch) -> Result<(), StorageError> {
    let mut from = 0;
    for (end, last) in &batch.ends {
        journals.write(batch.bytes.get(from..*end).unwrap_or_default())?;
        journals.end(*last)?;
        from = *end;
        // Records behind the end belong to the next segment; none: the log is being closed.
        if from < batch.bytes.len() {
            journals.begin(*last + 1)?;
        }
    }
    let rest = batch.bytes.get(from..).unwrap_or_default();
    if !rest.is_empty() {
        journals.write(rest)?;
        if let Some((_, last)) = batch.ends.last() {
            journals.mark_seen(*last + 1)?;
        }
    }
    Ok(())
}

/// Wakes who waits for `synced` or less; returns how many.
fn wake(shared: &Shared, synced: i64, wakers: &mut Vec<Waker>) -> usize {
    {
        let mut state = shared.state.lock();
        let ready = state.waiters.extract_if(.., |(txid, _)| *txid <= synced);
        wakers.extend(ready.map(|(_, waker)| waker));
    }
    let count = wakers.len();
    // Outside of the lock: a woken task polls its ticket.
    for waker in wakers.drain(..) {
        waker.wake();
    }
    count
}

fn fail(shared: &Shared, error: &StorageError, on_failure: OnFailure) {
    let failure = JournalFailed::new(error);
    tracing::error!("{failure}");
    let waiters = {
        let mut state = shared.state.lock();
        state.failure = Some(failure.clone());
        state.closed = true;
        state.pending = Batch::default();
        std::mem::take(&mut state.waiters)
    };
    on_failure(&failure);
    for (_, waker) in waiters {
        waker.wake();
    }
}
