//! The CPU time and memory of the processes that take part, from `/proc`.

use procfs::ProcResult;
use procfs::process::{Process, Stat};
use std::io;

/// A process to watch, with the name its column gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedProcess {
    /// `NameNode`, `DataNode`, `client`...
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

impl WatchedProcess {
    /// A process by name and id.
    pub fn new(name: impl Into<String>, pid: u32) -> Self {
        Self { name: name.into(), pid }
    }

    /// This process.
    pub fn this(name: impl Into<String>) -> Self {
        Self::new(name, std::process::id())
    }

    /// Reads `NAME=PID`.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, pid) = text.split_once('=')?;
        Some(Self::new(name, pid.parse().ok()?))
    }

    /// CPU seconds, user and system, all threads, those that ended included.
    pub fn cpu_s(&self) -> io::Result<f64> {
        if let Some(seconds) = cpu_clock_s(self.pid) {
            return Ok(seconds);
        }
        let stat = self.process().and_then(|process| process.stat()).map_err(io::Error::other)?;
        Ok(cpu_ticks_s(&stat))
    }

    /// Resident bytes of its own (`RssAnon`): the pages of block files that a process maps are the page cache's, which
    /// the kernel takes back when it needs them.
    pub fn own_memory(&self) -> io::Result<u64> {
        let status = self.process().and_then(|process| process.status());
        let kib = status.map_err(io::Error::other)?.rssanon;
        Ok(kib.ok_or_else(|| io::Error::other("the kernel does not count RssAnon"))? << 10)
    }

    fn process(&self) -> ProcResult<Process> {
        Process::new(i32::try_from(self.pid).unwrap_or(i32::MAX))
    }
}

/// By the process's own clock, which counts nanoseconds; `/proc` counts hundredths of a second.
fn cpu_clock_s(pid: u32) -> Option<f64> {
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: both calls write nothing but what they are given.
    let is_read = unsafe {
        libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    is_read.then(|| time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

/// What `/proc` counts, in seconds.
fn cpu_ticks_s(stat: &Stat) -> f64 {
    (stat.utime + stat.stime) as f64 / procfs::ticks_per_second() as f64
}

/// CPU seconds of several processes since a moment.
#[derive(Debug)]
pub struct CpuMeter<'a> {
    watched: &'a [WatchedProcess],
    start: Vec<f64>,
}

impl<'a> CpuMeter<'a> {
    /// Starts now.
    pub fn start(watched: &'a [WatchedProcess]) -> Self {
        Self {
            watched,
            start: watched.iter().map(|process| process.cpu_s().unwrap_or(0.0)).collect(),
        }
    }

    /// CPU seconds of each process since the start; 0 for one that has gone.
    pub fn stop(&self) -> Vec<(String, f64)> {
        let spent = |(process, start): (&WatchedProcess, &f64)| {
            (process.name.clone(), (process.cpu_s().unwrap_or(*start) - start).max(0.0))
        };
        self.watched.iter().zip(&self.start).map(spent).collect()
    }
}

/// CPU seconds of this process's children that have ended.
pub fn children_cpu_s() -> f64 {
    // SAFETY: an all-zero rusage is valid, and getrusage only writes into it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_can_be_watched() {
        let this = WatchedProcess::this("bench");
        assert!(this.own_memory().unwrap() > 100_000);
        assert!(this.cpu_s().is_ok());
        let before = cpu_clock_s(this.pid).unwrap();
        let ticks = cpu_ticks_s(&Process::myself().unwrap().stat().unwrap());
        let after = cpu_clock_s(this.pid).unwrap();
        assert!(before - 0.1 < ticks && ticks < after + 0.1, "{before} {ticks} {after}");
        assert_eq!(WatchedProcess::parse("DataNode=12"), Some(WatchedProcess::new("DataNode", 12)));
    }
}
