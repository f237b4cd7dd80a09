//! Work on several disks at once, any of which may hang.
//!
//! A thread that waits for a hung disk cannot be stopped. So each disk's work runs on a thread of its
//! own, which is left behind when it makes no progress any more.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// The longest time between two looks at who makes progress.
const LOOK_INTERVAL_MAX: Duration = Duration::from_secs(1);
const LOOK_INTERVAL_MIN: Duration = Duration::from_millis(5);

/// When a disk answered last.
pub(super) struct Progress(Mutex<Instant>);

impl Progress {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(clock::now())))
    }

    /// The disk has just answered.
    pub(super) fn answered(&self) {
        *self.0.lock() = clock::now();
    }

    fn is_overdue(&self, timeout: Duration) -> bool {
        clock::since(*self.0.lock()) >= timeout
    }
}

/// Runs `work` for each item on a thread of its own; gives the results in the order of the items. There is
/// none for an item whose disk has not answered for `timeout`.
pub(super) fn run<T, R>(
    items: Vec<T>,
    timeout: Duration,
    work: impl Fn(T, &Progress) -> R + Send + Sync + 'static,
) -> Vec<Option<R>>
where
    T: Send + 'static,
    R: Send + 'static,
{
    let (sender, receiver) = channel();
    let work = Arc::new(work);
    let mut results: Vec<Option<R>> = Vec::new();
    let mut waited_for = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        results.push(None);
        let progress = Progress::new();
        let for_thread = Arc::clone(&progress);
        let (sender, work) = (sender.clone(), Arc::clone(&work));
        let run = move || {
            // An answer after the time limit is not received.
            let _late = sender.send((index, work(item, &for_thread)));
        };
        match thread::Builder::new().name("volume".to_owned()).spawn(run) {
            Ok(_detached) => waited_for.push((index, progress)),
            Err(error) => tracing::error!("no thread can be started for a volume: {error}"),
        }
    }
    drop(sender);
    let look_interval = LOOK_INTERVAL_MAX.min(timeout / 2).max(LOOK_INTERVAL_MIN);
    while !waited_for.is_empty() {
        match receiver.recv_timeout(look_interval) {
            Ok((index, result)) => {
                if let Some(place) = results.get_mut(index) {
                    *place = Some(result);
                }
                waited_for.retain(|(waiting, _)| *waiting != index);
            }
            Err(RecvTimeoutError::Timeout) => {
                waited_for.retain(|(_, progress)| !progress.is_overdue(timeout));
            }
            // A thread panicked.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hung_disk_is_left_behind_and_a_slow_one_is_waited_for() {
        let timeout = Duration::from_millis(200);
        let (release, hang) = channel::<()>();
        let hang = Mutex::new(Some(hang));
        let results =
            run(vec!["good", "hung", "slow"], timeout, move |disk, progress| match disk {
                "hung" => {
                    let hang = hang.lock().take();
                    hang.map(|hang| hang.recv());
                    disk
                }
                "slow" => {
                    let end = Instant::now() + 3 * timeout;
                    while Instant::now() < end {
                        progress.answered();
                        thread::yield_now();
                    }
                    disk
                }
                _ => disk,
            });
        assert_eq!(results, [Some("good"), None, Some("slow")]);
        drop(release);
    }
}
