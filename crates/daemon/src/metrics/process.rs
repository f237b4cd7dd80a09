//! What a process uses: memory, threads, lines of its log. Under the names of `JvmMetrics`, although there is no Java virtual
//! machine: dashboards look there. What has no meaning without one is 0.

use super::record::Record;
use crate::process_log::{LogLevel, process_log};
use procfs::Current;
use procfs::process::Process;
use std::path::Path;

/// Bytes of a megabyte, as metrics count them.
const MB: f64 = (1 << 20) as f64;
/// What Java says where there is no limit.
const NO_LIMIT: f64 = -1.0;

/// The memory of this process, in bytes; 0 where the system does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Resident memory that no file backs: what the process has allocated and used.
    pub allocated: u64,
    /// Resident memory that files back: the program, and replicas that are mapped.
    pub mapped: u64,
    /// Addresses in use.
    pub addresses: u64,
    /// What the process may use: the limit of its control group, else the machine's memory.
    pub max: u64,
}

impl Memory {
    /// The memory now.
    pub fn now() -> Self {
        let status = Process::myself().and_then(|process| process.status()).ok();
        let bytes = |kib: Option<u64>| kib.unwrap_or(0) * 1024;
        let Some(status) = status else { return Self::default() };
        Self {
            allocated: bytes(status.rssanon),
            mapped: bytes(status.rssfile) + bytes(status.rssshmem),
            addresses: bytes(status.vmsize),
            max: memory_max(),
        }
    }
}

fn memory_max() -> u64 {
    let machine = procfs::Meminfo::current().map_or(0, |memory| memory.mem_total);
    let group = Process::myself().and_then(|process| process.cgroups()).ok();
    let paths = group.into_iter().flatten().map(|group| group.pathname);
    let limits = paths.chain(["/".to_owned()]).filter_map(|path| group_limit(&path));
    limits.fold(machine, u64::min)
}

/// The limit of a control group; None without one.
fn group_limit(path: &str) -> Option<u64> {
    let root = Path::new("/sys/fs/cgroup").join(path.trim_start_matches('/'));
    std::fs::read_to_string(root.join("memory.max")).ok()?.trim().parse().ok()
}

/// The threads of this process, by what they do at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadStates {
    /// They run or could.
    pub runnable: u64,
    /// They wait for a disk.
    pub blocked: u64,
    /// They wait for anything else.
    pub waiting: u64,
}

impl ThreadStates {
    /// The threads now.
    pub fn now() -> Self {
        let mut states = Self::default();
        let tasks = Process::myself().and_then(|process| process.tasks()).ok();
        for task in tasks.into_iter().flatten().flatten() {
            // A thread that has ended since has no state.
            match task.stat().map(|stat| stat.state) {
                Ok('R') => states.runnable += 1,
                Ok('D') => states.blocked += 1,
                Ok(_) => states.waiting += 1,
                Err(_) => {}
            }
        }
        states
    }

    /// All of them.
    pub fn count(self) -> u64 {
        self.runnable + self.blocked + self.waiting
    }
}

/// The metrics of this process; `process` is the daemon's name (`NameNode`).
pub fn process_record(process: &'static str) -> Record {
    let mut record = Record::new("JvmMetrics", "JvmMetrics", "jvm").tag("ProcessName", process);
    memory_metrics(&mut record, Memory::now());
    for name in ["GcCount", "GcTimeMillis"] {
        record.counter(name, "0: there is no garbage collector", 0_u64);
    }
    for name in
        ["GcNumWarnThresholdExceeded", "GcNumInfoThresholdExceeded", "GcTotalExtraSleepTime"]
    {
        record.counter(name, "0: there is no garbage collector", 0_u64);
    }
    let threads = ThreadStates::now();
    record.gauge("ThreadsNew", "0: threads run as soon as they exist", 0_u64);
    record.gauge("ThreadsRunnable", "Threads that run or could", threads.runnable);
    record.gauge("ThreadsBlocked", "Threads that wait for a disk", threads.blocked);
    record.gauge("ThreadsWaiting", "Threads that wait", threads.waiting);
    record.gauge("ThreadsTimedWaiting", "0: waits with a limit count as waiting", 0_u64);
    record.gauge("ThreadsTerminated", "0: threads that have ended are gone", 0_u64);
    let log = process_log();
    record.counter("LogFatal", "0: what ends the process is an error", 0_u64);
    record.counter("LogError", "Lines of the log: errors", log.count(LogLevel::Error));
    record.counter("LogWarn", "Lines of the log: warnings", log.count(LogLevel::Warn));
    record.counter("LogInfo", "Lines of the log: information", log.count(LogLevel::Info));
    record
}

fn memory_metrics(record: &mut Record, memory: Memory) {
    let mb = |bytes: u64| bytes as f64 / MB;
    let mapped = "Resident memory in MB that files back";
    record.gauge("MemNonHeapUsedM", mapped, mb(memory.mapped));
    record.gauge("MemNonHeapCommittedM", mapped, mb(memory.mapped));
    record.gauge("MemNonHeapMaxM", "-1: no limit of its own", NO_LIMIT);
    let allocated = "Resident memory in MB that the process has allocated";
    record.gauge("MemHeapUsedM", allocated, mb(memory.allocated));
    record.gauge("MemHeapCommittedM", allocated, mb(memory.allocated));
    let max = "Memory in MB of the control group or the machine";
    record.gauge("MemHeapMaxM", max, mb(memory.max));
    record.gauge("MemMaxM", max, mb(memory.max));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_process_has_memory_and_threads() {
        let memory = Memory::now();
        assert!(memory.allocated > 0 && memory.addresses > memory.allocated, "{memory:?}");
        assert!(memory.max > memory.allocated, "{memory:?}");
        let threads = ThreadStates::now();
        assert!(threads.runnable > 0 && threads.count() > 1, "{threads:?}");
    }

    #[test]
    fn lines_of_the_log_are_counted_by_level() {
        let before = process_log().count(LogLevel::Warn);
        let mut log = process_log().tee(std::io::sink());
        log.write_all(b"2026-01-01T00:00:00Z  WARN x: y\nsecond line of it\n").unwrap();
        let record = process_record("NameNode");
        let warn = record.metrics.iter().find(|metric| metric.name == "LogWarn").unwrap();
        assert_eq!(warn.value, (before + 1).into());
    }
}
