//! Questions to a volume's disk that may never be answered.
//!
//! A disk or a network file system that hangs does not return from statvfs, open or read, and the
//! thread that asked cannot be stopped. So each question has a thread of its own, there is one at a
//! time for each volume, and a caller waits for `dfs.datanode.disk.check.timeout` at most.

use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// The check of one volume's disk that is under way, if one is.
pub(super) struct DiskCheck {
    timeout: Duration,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    began: Mutex<Option<Instant>>,
    ended: Condvar,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The disk took longer than the timeout.
    Hung,
    /// This process could not ask: it has no thread left.
    NotAsked,
}

impl DiskCheck {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, state: Arc::default() }
    }

    /// How long a disk may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether the check under way has taken too long.
    pub(super) fn is_overdue(&self) -> bool {
        self.state.began.lock().is_some_and(|began| clock::since(began) >= self.timeout)
    }

    /// Starts `work` on a thread of its own, unless one is under way.
    pub(super) fn start(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut began = self.state.began.lock();
        if began.is_some() {
            return Ok(());
        }
        self.spawn(work)?;
        *began = Some(clock::now());
        Ok(())
    }

    /// Runs `work` on a thread of its own, after the one that is under way, and waits for its result.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let answer = Arc::new(Mutex::new(None));
        let mut began = self.state.began.lock();
        self.wait_until_idle(&mut began)?;
        let for_work = Arc::clone(&answer);
        let asked = self.spawn(move || *for_work.lock() = Some(work()));
        if let Err(error) = asked {
            tracing::warn!("a disk cannot be checked: {error}");
            return Err(NoAnswer::NotAsked);
        }
        let deadline = clock::now() + self.timeout;
        *began = Some(clock::now());
        loop {
            let over = self.state.ended.wait_until(&mut began, deadline).timed_out();
            if let Some(answer) = answer.lock().take() {
                return Ok(answer);
            }
            if over {
                return Err(NoAnswer::Hung);
            }
        }
    }

    fn wait_until_idle(
        &self,
        began: &mut parking_lot::MutexGuard<'_, Option<Instant>>,
    ) -> Result<(), NoAnswer> {
        while let Some(since) = **began {
            let over = self.state.ended.wait_until(began, since + self.timeout).timed_out();
            if over && **began == Some(since) {
                return Err(NoAnswer::Hung);
            }
        }
        Ok(())
    }

    fn spawn(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let state = Arc::clone(&self.state);
        let run = move || {
            // Also when the work panics: the next check is not kept from starting.
            let _end = EndOnDrop(state);
            work();
        };
        thread::Builder::new().name("disk check".to_owned()).spawn(run).map(drop)
    }
}

/// Ends the check under way when it is dropped.
struct EndOnDrop(Arc<State>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        *self.0.began.lock() = None;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_check_that_does_not_return_is_overdue_and_keeps_no_caller_waiting() {
        let check = DiskCheck::new(Duration::from_millis(50));
        assert_eq!(check.run(|| 7), Ok(7));
        assert!(!check.is_overdue());
        let (release, hang) = mpsc::channel::<()>();
        assert_eq!(check.run(move || hang.recv().is_ok()), Err(NoAnswer::Hung));
        assert!(check.is_overdue());
        // The disk is not asked a second time meanwhile.
        assert_eq!(check.run(|| 8), Err(NoAnswer::Hung));
        check.start(|| panic!("one check at a time")).unwrap();
        release.send(()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while check.is_overdue() && Instant::now() < deadline {
            thread::yield_now();
        }
        assert_eq!(check.run(|| 9), Ok(9));
    }
}
