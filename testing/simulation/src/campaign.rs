//! Histories of one seed after the other, on all cores.

use crate::history::{self, Counts, Effort};
use crate::life::Failed;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A line of progress comes so often.
const PROGRESS: Duration = Duration::from_secs(60);

/// How long it goes on: until all of these are reached.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// Time.
    pub time: Duration,
    /// Histories.
    pub histories: u64,
    /// Crashes.
    pub crashes: u64,
}

/// What was tried so far, and the first broken promise.
type Sum = (Counts, Option<String>);

/// Runs histories from `seed` on. What was tried; or the seed and what went wrong with it.
///
/// # Errors
/// The first broken promise, or a machine on which this cannot be done.
pub fn run(seed: u64, until: Until, effort: Effort, threads: usize) -> Result<Counts, String> {
    let begun = Instant::now();
    let reported = AtomicU32::new(0);
    let (next, stop) = (AtomicU64::new(seed), AtomicBool::new(false));
    let sum = Mutex::new((Counts::default(), None::<String>));
    let update = |work: &dyn Fn(&mut Sum)| {
        work(&mut sum.lock().unwrap_or_else(PoisonError::into_inner));
    };
    let goes_on = || {
        let mut done = Counts::default();
        let sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
        done.add(sum.0);
        if begun.elapsed() > PROGRESS * (reported.load(Ordering::Relaxed) + 1) {
            reported.fetch_add(1, Ordering::Relaxed);
            println!("{} histories, {} crash points so far", done.histories, done.crashes);
        }
        begun.elapsed() < until.time
            || done.histories < until.histories
            || done.crashes < until.crashes
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) && goes_on() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    match one(seed, effort) {
                        Ok(counts) => update(&|sum| sum.0.add(counts)),
                        Err(error) => {
                            stop.store(true, Ordering::Relaxed);
                            update(&|sum| sum.1 = Some(error.clone()));
                        }
                    }
                }
            });
        }
    });
    match sum.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (counts, None) => Ok(counts),
        (_, Some(error)) => Err(error),
    }
}

fn one(seed: u64, effort: Effort) -> Result<Counts, String> {
    let directory = tempfile::Builder::new().prefix("zerohop-crash-").tempdir_in(fast_directory());
    let directory = directory.map_err(|e| format!("no temporary directory: {e}"))?;
    history::run(seed, directory.path(), effort).map_err(|failed| {
        // The files are the best witness.
        let kept = std::env::temp_dir().join(format!("zerohop-crash-seed-{seed}"));
        let kept = keep(directory.path(), &kept).map_or(String::new(), |()| {
            format!("; the directories are kept in {}", kept.display())
        });
        match failed {
            Failed::Promise(broken) => format!("seed {seed}: {broken}{kept}"),
            Failed::Machine(error) => format!("seed {seed}: this machine cannot simulate: {error}"),
        }
    })
}

/// A file system in memory: what is durable is the simulation's business, not the disk's.
fn fast_directory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

fn keep(from: &Path, to: &Path) -> Option<()> {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).ok()?;
    for entry in std::fs::read_dir(from).ok()?.flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().ok()?.is_dir() {
            keep(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target).ok()?;
        }
    }
    Some(())
}
