//! The log of this process: its newest lines, for pages, and its levels.
//!
//! A process has one log, as it has one subscriber of `tracing`; so there is one [`ProcessLog`], too.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// Lines that are kept.
const LINES_MAX: usize = 2000;
/// Bytes of one line that are kept.
const LINE_LEN_MAX: usize = 4096;
/// Changes of levels that are kept: each makes every line a little slower.
const CHANGES_MAX: usize = 64;

/// How much a logger writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// And what is odd.
    Warn,
    /// And what happens.
    Info,
    /// And how.
    Debug,
    /// And every step.
    Trace,
}

impl LogLevel {
    /// All, in Hadoop's order.
    pub const ALL: [Self; 6] =
        [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Off];

    /// The level of a name, whatever its case; Hadoop's `FATAL` is ours for errors, its `ALL` all.
    pub fn parse(name: &str) -> Option<Self> {
        match name.trim().to_ascii_uppercase().as_str() {
            "FATAL" => Some(Self::Error),
            "ALL" => Some(Self::Trace),
            name => Self::ALL.into_iter().find(|level| level.name() == name),
        }
    }

    /// Its name in Hadoop.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "OFF",
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        }
    }
}

/// Puts directives (`target=level,...`) in force.
pub type ApplyDirectives = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// The newest lines and the levels.
#[derive(Default)]
pub struct ProcessLog {
    lines: Mutex<VecDeque<String>>,
    /// Lines written, by level.
    counts: [AtomicU64; LogLevel::ALL.len()],
    levels: Mutex<Levels>,
    apply: OnceLock<ApplyDirectives>,
}

/// The directives in force: those at the start, and changes since.
#[derive(Default)]
struct Levels {
    base: String,
    changed: Vec<(String, LogLevel)>,
}

static PROCESS_LOG: LazyLock<ProcessLog> = LazyLock::new(ProcessLog::default);

/// The log of this process.
pub fn process_log() -> &'static ProcessLog {
    &PROCESS_LOG
}

impl ProcessLog {
    /// Levels are changed by `apply` from here on; `base` are the directives that are in force.
    pub fn begin(&self, base: &str, apply: ApplyDirectives) {
        base.clone_into(&mut locked(&self.levels).base);
        _ = self.apply.set(apply);
    }

    /// A writer of lines that keeps the newest here.
    pub fn tee<W: Write>(&'static self, to: W) -> Tee<W> {
        Tee { to, log: self }
    }

    fn keep(&self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = locked(&self.lines);
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(count) = level_of(line).and_then(|level| self.counts.get(level as usize)) {
                count.fetch_add(1, Ordering::Relaxed);
            }
            if lines.len() == LINES_MAX {
                lines.pop_front();
            }
            let end = line.floor_char_boundary(LINE_LEN_MAX);
            lines.push_back(line.get(..end).unwrap_or_default().to_owned());
        }
    }

    /// The newest lines of at least a level that contain `text`, the newest first.
    pub fn newest(&self, count: usize, level: LogLevel, text: &str) -> Vec<String> {
        let lines = locked(&self.lines);
        let is_wanted = |line: &&String| {
            let has_level = level == LogLevel::Trace || level_of(line).is_some_and(|l| l <= level);
            has_level && (text.is_empty() || line.contains(text))
        };
        lines.iter().rev().filter(is_wanted).take(count).cloned().collect()
    }

    /// Lines of a level since the process started.
    pub fn count(&self, level: LogLevel) -> u64 {
        self.counts.get(level as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// The directives in force.
    pub fn directives(&self) -> String {
        locked(&self.levels).text()
    }

    /// The level of a logger.
    pub fn level(&self, logger: &str) -> LogLevel {
        locked(&self.levels).level(logger)
    }

    /// Changes the level of a logger and of those below it.
    ///
    /// # Errors
    /// If the name is no logger's, too many were changed, or this process's log cannot be changed.
    pub fn set_level(&self, logger: &str, level: LogLevel) -> Result<(), String> {
        let Some(apply) = self.apply.get() else {
            return Err("The levels of this process cannot be changed.".to_owned());
        };
        let is_name = |char: char| char.is_ascii_alphanumeric() || "_.:$-".contains(char);
        if logger.is_empty() || logger.len() > 200 || !logger.chars().all(is_name) {
            return Err("This is no name of a logger.".to_owned());
        }
        let mut levels = locked(&self.levels);
        let mut changed = levels.changed.clone();
        changed.retain(|(name, _)| name != logger);
        if changed.len() == CHANGES_MAX {
            return Err(format!("{CHANGES_MAX} levels were changed already."));
        }
        changed.push((logger.to_owned(), level));
        let next = Levels { base: levels.base.clone(), changed };
        apply(&next.text())?;
        *levels = next;
        Ok(())
    }
}

/// A panic elsewhere leaves whole lines.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Levels {
    fn text(&self) -> String {
        let mut text = self.base.clone();
        for (name, level) in &self.changed {
            text.push_str(&format!(",{name}={}", level.name().to_ascii_lowercase()));
        }
        text
    }

    fn level(&self, logger: &str) -> LogLevel {
        let mut found = (0, LogLevel::Off);
        let text = self.text();
        for directive in text.split(',') {
            let (name, level) = directive.rsplit_once('=').unwrap_or(("", directive));
            let Some(level) = LogLevel::parse(level) else { continue };
            // As tracing matches targets: by how they begin, the longest counts, and the last of equals.
            if logger.starts_with(name) && name.len() >= found.0 {
                found = (name.len(), level);
            }
        }
        found.1
    }
}

/// The level in a line: the second word, after the time.
fn level_of(line: &str) -> Option<LogLevel> {
    line.split_ascii_whitespace().take(2).find_map(LogLevel::parse)
}

/// Writes to two places.
pub struct Tee<W> {
    to: W,
    log: &'static ProcessLog,
}

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.log.keep(bytes);
        self.to.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_are_kept() {
        let log: &'static ProcessLog = Box::leak(Box::default());
        let mut out = log.tee(Vec::new());
        for number in 0..LINES_MAX + 5 {
            let level = if number % 100 == 0 { " WARN" } else { " INFO" };
            // tracing writes a whole line at once.
            let line = format!("2026-01-01T00:00:00Z {level} x: {number}\n");
            out.write_all(line.as_bytes()).unwrap();
        }
        assert!(log.newest(1, LogLevel::Info, "")[0].ends_with(": 2004"));
        assert_eq!(log.newest(9999, LogLevel::Trace, "").len(), LINES_MAX);
        assert!(log.newest(1, LogLevel::Warn, "")[0].ends_with(": 2000"));
        assert!(log.newest(9, LogLevel::Error, "").is_empty());
        assert_eq!(log.newest(9, LogLevel::Trace, "x: 1999").len(), 1);
        out.write_all("é".repeat(LINE_LEN_MAX).as_bytes()).unwrap();
        assert!(log.newest(1, LogLevel::Trace, "")[0].len() <= LINE_LEN_MAX);
    }

    #[test]
    fn levels_are_those_of_the_longest_beginning() {
        let log = ProcessLog::default();
        assert!(log.set_level("a", LogLevel::Debug).is_err(), "nothing puts them in force");
        log.begin("info,a.audit=off", Box::new(|_| Ok(())));
        assert_eq!([log.level("b"), log.level("a.audit")], [LogLevel::Info, LogLevel::Off]);
        log.set_level("a", LogLevel::Debug).unwrap();
        assert_eq!([log.level("a.b"), log.level("a.audit")], [LogLevel::Debug, LogLevel::Off]);
        log.set_level("a.audit", LogLevel::Info).unwrap();
        assert_eq!(log.level("a.audit"), LogLevel::Info);
        assert_eq!(log.directives(), "info,a.audit=off,a=debug,a.audit=info");
        for bad in ["", "a=b", "a,b", "a b", "[x]"] {
            assert!(log.set_level(bad, LogLevel::Info).is_err(), "{bad:?}");
        }
    }
}
