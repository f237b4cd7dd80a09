//! Threads for block data: grown on demand up to a limit, kept for a while, then let go.
//!
//! A block stream is a long loop of two or three blocking system calls, so each runs on a thread of
//! its own; connections that only wait for their next operation hold none (see `server`).

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_system::clock;

type Job = Box<dyn FnOnce() + Send>;

/// How long a thread without work stays.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// The pool is at its limit, or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The limit that was reached; 0 when the pool is closed.
    pub(crate) limit: usize,
}

/// A pool of threads for blocking work.
#[derive(Clone)]
pub(crate) struct Threads {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    limit: usize,
    state: Mutex<State>,
    work: Condvar,
    ended: Condvar,
}

/// Invariant: `idle <= total <= limit`, and `queue.len() <= idle` whenever the lock is free, so no
/// job ever waits for another one to end.
#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    idle: usize,
    total: usize,
    closed: bool,
}

impl Threads {
    /// A pool of at most `limit` threads; none is started yet.
    pub(crate) fn new(name: &str, limit: usize) -> Self {
        Self {
            inner: Arc::new(Inner {
                name: name.to_owned(),
                limit: limit.max(1),
                state: Mutex::default(),
                work: Condvar::new(),
                ended: Condvar::new(),
            }),
        }
    }

    /// Runs `job` at once on an idle or a new thread; refuses when all are busy.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Refused> {
        let mut state = self.inner.state.lock();
        if state.closed {
            return Err(Refused { limit: 0 });
        }
        if state.queue.len() < state.idle {
            state.queue.push_back(Box::new(job));
            drop(state);
            self.inner.work.notify_one();
            return Ok(());
        }
        if state.total >= self.inner.limit {
            return Err(Refused { limit: self.inner.limit });
        }
        state.total += 1;
        drop(state);
        self.spawn(Box::new(job))
    }

    fn spawn(&self, first: Job) -> Result<(), Refused> {
        let inner = Arc::clone(&self.inner);
        let spawned = std::thread::Builder::new()
            .name(self.inner.name.clone())
            .spawn(move || inner.work_loop(first));
        spawned.map(drop).map_err(|error| {
            tracing::error!("cannot start a data thread: {error}");
            self.inner.state.lock().total -= 1;
            Refused { limit: self.inner.limit }
        })
    }

    /// Threads at work now.
    pub(crate) fn busy(&self) -> usize {
        let state = self.inner.state.lock();
        state.total - state.idle
    }

    /// Takes no more work and waits until all threads ended, at most until `deadline`.
    pub(crate) fn close(&self, deadline: Instant) {
        let mut state = self.inner.state.lock();
        state.closed = true;
        self.inner.work.notify_all();
        while state.total > 0 {
            if self.inner.ended.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
    }
}

impl Inner {
    fn work_loop(&self, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            if std::panic::catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a data thread panicked; its connection is closed");
            }
            next = self.wait_for_work();
        }
        let mut state = self.state.lock();
        state.total -= 1;
        drop(state);
        self.ended.notify_all();
    }

    fn wait_for_work(&self) -> Option<Job> {
        let deadline = clock::now() + IDLE_MAX;
        let mut state = self.state.lock();
        state.idle += 1;
        let job = loop {
            if let Some(job) = state.queue.pop_front() {
                break Some(job);
            }
            if state.closed || self.work.wait_until(&mut state, deadline).timed_out() {
                break state.queue.pop_front();
            }
        };
        state.idle -= 1;
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_full_pool_refuses_and_serves_again() {
        let threads = Threads::new("t", 1);
        let (release, wait) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        threads.run(move || assert!(wait.recv().is_ok())).unwrap();
        assert_eq!(threads.run(|| ()), Err(Refused { limit: 1 }));
        release.send(()).unwrap();
        loop {
            let done = done.clone();
            if threads.run(move || done.send(()).unwrap()).is_ok() {
                break;
            }
            std::thread::yield_now();
        }
        finished.recv().unwrap();
        threads.close(Instant::now() + Duration::from_secs(10));
        assert_eq!(threads.run(|| ()), Err(Refused { limit: 0 }));
    }

    #[test]
    fn a_panic_costs_one_job_only() {
        let threads = Threads::new("t", 1);
        threads.run(|| std::panic::resume_unwind(Box::new(()))).unwrap();
        let (done, finished) = mpsc::channel();
        loop {
            let done = done.clone();
            if threads.run(move || done.send(()).unwrap()).is_ok() {
                break;
            }
            std::thread::yield_now();
        }
        finished.recv().unwrap();
    }
}
