//! The CPU time and memory of the processes that take part, from `/proc`.

use std::fs;
use std::io;

/// A process to watch, with the name its column gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// `NameNode`, `DataNode`, `client`...
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

impl Watched {
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
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid))?;
        let ticks = cpu_ticks(&stat).ok_or(io::ErrorKind::InvalidData)?;
        Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// Resident bytes.
    pub fn resident(&self) -> io::Result<u64> {
        let statm = fs::read_to_string(format!("/proc/{}/statm", self.pid))?;
        let pages =
            statm.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
        Ok(pages.ok_or(io::ErrorKind::InvalidData)? * rustix::param::page_size() as u64)
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

/// Fields 14 and 15 of a stat file; the name in field 2 may hold blanks and brackets.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// CPU seconds of several processes since a moment.
#[derive(Debug)]
pub struct CpuMeter<'a> {
    watched: &'a [Watched],
    start: Vec<f64>,
}

impl<'a> CpuMeter<'a> {
    /// Starts now.
    pub fn start(watched: &'a [Watched]) -> Self {
        Self {
            watched,
            start: watched.iter().map(|process| process.cpu_s().unwrap_or(0.0)).collect(),
        }
    }

    /// CPU seconds of each process since the start; 0 for one that has gone.
    pub fn stop(&self) -> Vec<(String, f64)> {
        let spent = |(process, start): (&Watched, &f64)| {
            (process.name.clone(), (process.cpu_s().unwrap_or(*start) - start).max(0.0))
        };
        self.watched.iter().zip(&self.start).map(spent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20";
        assert_eq!(cpu_ticks(stat), Some(300));
    }

    #[test]
    fn this_process_can_be_watched() {
        let this = Watched::this("bench");
        assert!(this.resident().unwrap() > 100_000);
        assert!(this.cpu_s().is_ok());
        let before = cpu_clock_s(this.pid).unwrap();
        let ticks = cpu_ticks(&fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        let ticks = ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        let after = cpu_clock_s(this.pid).unwrap();
        assert!(before - 0.1 < ticks && ticks < after + 0.1, "{before} {ticks} {after}");
        assert_eq!(Watched::parse("DataNode=12"), Some(Watched::new("DataNode", 12)));
    }
}
