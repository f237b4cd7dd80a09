//! The client beside the strangers, and the daemons as the system sees them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{self, check, client, put, shape};
use zerohop_interop::{Outcome, wait};

/// Memory of its own may grow by this much over the whole test: what is mapped of the program itself does not count.
/// The stacks of 150 threads that serve requests are larger where nothing is optimized.
const GROWTH_MAX: u64 = if cfg!(debug_assertions) { 96 << 20 } else { 64 << 20 };

/// Writes, reads and lists all the time.
pub struct Beside {
    rounds: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
    thread: JoinHandle<Outcome<Duration>>,
}

impl Beside {
    pub fn start(conf: &Path) -> Outcome<Self> {
        let fs = client(conf, &[])?;
        let (rounds, ends) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end) = (Arc::clone(&rounds), Arc::clone(&ends));
        let thread = std::thread::spawn(move || {
            let mut worst = Duration::ZERO;
            while !end.load(Ordering::Relaxed) {
                let since = Instant::now();
                round(&fs)?;
                worst = worst.max(since.elapsed());
                count.fetch_add(1, Ordering::Release);
            }
            Ok(worst)
        });
        Ok(Self { rounds, ends, thread })
    }

    /// Waits for so many more rounds.
    pub fn goes_on(&self, rounds: u64, limit: Duration) -> Outcome {
        let until = self.rounds.load(Ordering::Acquire) + rounds;
        wait::until("the client beside goes on", limit, || match self.thread.is_finished() {
            true => Err("it has failed".to_owned()),
            false => Ok(self.rounds.load(Ordering::Acquire) >= until),
        })
    }

    /// Ends it; the time of its slowest round.
    pub fn stop(self) -> Outcome<Duration> {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the client beside panicked".to_owned())?
    }
}

fn round(fs: &FileSystem) -> Outcome {
    put(fs, "/beside", 5, 20_000, shape(1, 1 << 20))?;
    check(fs, "/beside", 5, 20_000)?;
    fs.list("/").map(drop).map_err(|e| e.to_string())
}

/// The block pool of a cluster.
pub fn pool_id(fs: &FileSystem) -> Outcome<String> {
    put(fs, "/pool", 6, 10, shape(1, 1 << 20))?;
    let block = harm::blocks(fs, "/pool")?.swap_remove(0);
    Ok(block.block.pool.to_string())
}

/// Memory, threads, descriptors and logs of the daemons.
pub struct Watch {
    daemons: Vec<(&'static str, u32, u64)>,
    logs: Vec<PathBuf>,
}

impl Watch {
    pub fn start(cluster: &Cluster) -> Self {
        let (namenode, datanodes) = cluster.process_ids();
        let named = namenode.into_iter().map(|id| ("NameNode", id));
        let all = named.chain(datanodes.into_iter().map(|id| ("DataNode", id)));
        Self::over(all.collect(), vec![cluster.site.log("nn"), cluster.site.log("dn0")])
    }

    /// Watches processes by name and id.
    pub fn over(processes: Vec<(&'static str, u32)>, logs: Vec<PathBuf>) -> Self {
        let with_memory = |(name, id)| (name, id, resident(id));
        Self { daemons: processes.into_iter().map(with_memory).collect(), logs }
    }

    /// Prints and checks what each daemon holds now.
    pub fn look(&self, step: &str) -> Outcome {
        for (name, id, before) in &self.daemons {
            let now = resident(*id);
            let count = |what: &str| {
                std::fs::read_dir(format!("/proc/{id}/{what}")).map_or(0, Iterator::count)
            };
            println!(
                "{step}: {name}: {} KB resident ({} before), {} threads, {} descriptors",
                now >> 10,
                before >> 10,
                count("task"),
                count("fd")
            );
            if now == 0 {
                return Err(format!("{name} is gone"));
            }
            if now > before + GROWTH_MAX {
                return Err(format!("{name} grew from {before} to {now} bytes"));
            }
        }
        Ok(())
    }

    /// The threads of each daemon.
    pub fn threads(&self) -> Vec<usize> {
        let count =
            |id: &u32| std::fs::read_dir(format!("/proc/{id}/task")).map_or(0, Iterator::count);
        self.daemons.iter().map(|(_, id, _)| count(id)).collect()
    }

    /// No daemon panicked, and strangers cost a line each at most.
    pub fn logs(&self) -> Outcome {
        for log in &self.logs {
            let text = std::fs::read_to_string(log).unwrap_or_default();
            if let Some(line) = text.lines().find(|line| line.contains("panicked")) {
                return Err(format!("{}: {line}", log.display()));
            }
            println!("{}: {} lines", log.display(), text.lines().count());
        }
        Ok(())
    }
}

fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kb = line.and_then(|l| l.trim().trim_end_matches(" kB").trim().parse::<u64>().ok());
    kb.unwrap_or(0) << 10
}
