//! A wall clock that a test steps, for the processes that it starts: libfaketime stands between them and the system. Their steady
//! clock is left alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// The wall clock of some processes.
pub struct SteppedClock {
    library: PathBuf,
    /// How far the clock is off; libfaketime reads it again every second.
    offset: PathBuf,
}

impl SteppedClock {
    /// A clock that is right; `offset` is a file that it makes. `None` where libfaketime is not installed, and that is said.
    pub fn new(offset: PathBuf) -> Outcome<Option<Self>> {
        let Some(library) = library() else {
            println!("no clock is stepped: apt-get install libfaketime");
            return Ok(None);
        };
        let clock = Self { library, offset };
        clock.set(0)?;
        Ok(Some(clock))
    }

    /// Gives a process this clock, and all processes that it starts.
    pub fn give_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_TIMESTAMP_FILE", &self.offset);
        // Releases of libfaketime call the same thing by either name. A file's times are those that the disk has.
        for name in ["FAKETIME_DONT_FAKE_MONOTONIC", "DONT_FAKE_MONOTONIC", "NO_FAKE_STAT"] {
            command.env(name, "1");
        }
        command.env("FAKETIME_CACHE_DURATION", "1");
    }

    /// Steps the clock: it is off by so many seconds from now on.
    pub fn set(&self, offset_s: i64) -> Outcome {
        let new = self.offset.with_extension("new");
        let written = std::fs::write(&new, format!("{offset_s:+}\n"));
        written
            .and_then(|()| std::fs::rename(&new, &self.offset))
            .map_err(|e| format!("{}: {e}", self.offset.display()))
    }
}

fn library() -> Option<PathBuf> {
    let directories = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    let found = |directory: &Path| directory.join("faketime/libfaketime.so.1");
    directories.map(|directory| found(&directory)).find(|path| path.exists())
}
