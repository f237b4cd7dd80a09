//! Decides whether to copy a file (`CopyMapper.checkUpdate`), and copies it (`RetriableFileCopyCommand`).

use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zerohop_system::{clock, random};

use super::filter::{in_one_store, qualified};
use super::options::DistcpOptions;
use crate::failure::{Failure, Kind, Outcome};
use crate::fs::interrupt::{Closed, Unfinished};
use crate::fs::location::{child, parent};
use crate::fs::progress::Progress;
use crate::fs::status::Status;
use crate::fs::store::{Input, OpenHow, Output, Store};
use crate::units::now_ms;

/// Attempts to copy a file.
const TRIES: u32 = 3;
/// Delay before the second attempt; doubled before the third.
const DELAY: Duration = Duration::from_millis(500);

/// Action for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Skip,
    Append,
    Overwrite,
}

/// The failure of a copy.
#[derive(Debug)]
pub struct Trouble {
    pub failure: Failure,
    /// The source could not be read (Hadoop's `CopyReadException`); `-i` ignores such failures.
    pub reading: bool,
}

impl Trouble {
    pub fn reading(failure: Failure) -> Trouble {
        Trouble { failure, reading: true }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble { failure, reading: false }
    }
}

/// A file to copy, with the status of source and target.
pub struct FileCopy<'a> {
    pub asked: &'a DistcpOptions,
    /// Replace the target without a comparison.
    pub overwrite: bool,
    pub source: Arc<dyn Store>,
    pub from: String,
    pub status: Status,
    pub target: Arc<dyn Store>,
    pub to: String,
    pub found: Option<Status>,
    pub progress: &'a Progress,
}

impl FileCopy<'_> {
    fn len(&self) -> u64 {
        u64::try_from(self.status.length).unwrap_or(0)
    }

    pub fn action(&self) -> Action {
        let Some(found) = self.found.as_ref().filter(|_| !self.overwrite) else {
            return Action::Overwrite;
        };
        if self.can_skip(found) {
            return Action::Skip;
        }
        let is_start = self.asked.append
            && found.length < self.status.length
            && self.sums_are_equal(u64::try_from(found.length).unwrap_or(0), &self.to)
                == Ok(Some(true));
        if is_start { Action::Append } else { Action::Overwrite }
    }

    fn can_skip(&self, found: &Status) -> bool {
        if !self.asked.update {
            return true;
        }
        if found.length != self.status.length {
            return false;
        }
        if found.length == 0 {
            return true;
        }
        if self.asked.keep.block_size && found.block_size != self.status.block_size {
            return false;
        }
        let compared = match self.asked.skip_checksums {
            true => Ok(None),
            false => self.sums_are_equal(self.len(), &self.to),
        };
        match compared {
            Ok(Some(equal)) => equal,
            // HADOOP-18596: only the times can show a change of equal length.
            Ok(None) => !self.asked.compare_times || self.status.modified_ms <= found.modified_ms,
            // Hadoop would compare the times, and could skip a target that is unreadable.
            Err(_) => false,
        }
    }

    /// Compares the checksum of the first `len` bytes of the source with that of a target file; `None` if a file
    /// system has no checksums.
    fn sums_are_equal(&self, len: u64, target: &str) -> Result<Option<bool>, NoChecksum> {
        let Some(ours) = self.source.checksum_of(&self.from, len)? else { return Ok(None) };
        let Some(theirs) = self.target.checksum(target)? else { return Ok(None) };
        Ok(Some(ours.algorithm == theirs.algorithm && ours.bytes == theirs.bytes))
    }

    /// Copies the file, with retries, and returns the number of bytes copied.
    pub fn run(&self, action: Action, goes_on: &dyn Fn() -> bool) -> Result<u64, Trouble> {
        let ends = in_one_store((&self.source, &self.from), (&self.target, &self.to))?;
        if self.asked.direct && ends.is_some_and(|(from, to)| from == to) {
            // Creating the target would truncate the source.
            let (from, to) = self.names();
            return Err(Failure::io(format!("`{from}' to `{to}': are identical")).into());
        }
        let mut tries = 1;
        loop {
            let done = match action {
                Action::Append => self.append(),
                _ if self.asked.direct => self.write_to(&self.to, true),
                _ => self.replace(),
            };
            let trouble = match done {
                Ok(bytes) => return Ok(bytes),
                Err(trouble) => trouble,
            };
            let may_pass = !matches!(trouble.failure.kind, Kind::Denied | Kind::Unsupported);
            if tries >= TRIES || !may_pass || !goes_on() {
                let (from, to) = self.names();
                let text = format!("File copy failed: {from} --> {to}: {}", trouble.failure.text);
                return Err(Trouble { failure: Failure { text, ..trouble.failure }, ..trouble });
            }
            clock::sleep_thread(DELAY * tries);
            tries += 1;
        }
    }

    pub fn names(&self) -> (String, String) {
        (qualified(&*self.source, &self.from), qualified(&*self.target, &self.to))
    }

    /// Writes a temporary file in the target's directory, verifies it, and renames it over the target.
    fn replace(&self) -> Result<u64, Trouble> {
        let directory = parent(&self.to).unwrap_or("/");
        let number = random::u64(..);
        let temporary = child(directory, &format!(".distcp.tmp.{number:x}.{}", now_ms()));
        let unfinished = Unfinished::new(&self.target, &temporary);
        let bytes = self.write_to(&temporary, false)?;
        if self.found.is_some() {
            self.target.replace(&temporary, &self.to)?;
        } else if !self.target.rename(&temporary, &self.to)? {
            let (to, target) = (qualified(&*self.target, &temporary), self.names().1);
            return Err(Failure::io(format!("Failed to promote tmp-file:{to} to: {target}")).into());
        }
        unfinished.keep();
        Ok(bytes)
    }

    /// If `stays`, a failure or signal closes the file with the bytes written so far.
    fn write_to(&self, path: &str, stays: bool) -> Result<u64, Trouble> {
        let mut reading = self.open(0)?;
        let how = self.asked.keep.create_how(&*self.source, &self.from, &self.status)?;
        let output = self.target.create(path, how)?;
        let bytes = self.fill(output, &mut reading, stays)?;
        self.verify(bytes, path)?;
        Ok(bytes)
    }

    fn append(&self) -> Result<u64, Trouble> {
        let there = u64::try_from(self.target.status(&self.to)?.length).unwrap_or(0);
        let mut reading = self.open(there)?;
        let output = self.target.append(&self.to, false)?;
        let bytes = self.fill(output, &mut reading, true)?;
        self.verify(there + bytes, &self.to)?;
        Ok(bytes)
    }

    fn open(&self, offset: u64) -> Result<Reading<'_>, Trouble> {
        let open = || {
            let mut input = self.source.open(&self.from, OpenHow::default())?;
            if offset > 0 {
                input.seek_to(offset)?;
            }
            Ok(input)
        };
        let input = open().map_err(Trouble::reading)?;
        let left = self.len().saturating_sub(offset);
        let (bandwidth, progress) = (self.asked.bandwidth, self.progress);
        let start = clock::now();
        Ok(Reading { input, left, through: 0, failed: false, bandwidth, start, progress })
    }

    fn fill(
        &self,
        mut output: Box<dyn Output>,
        reading: &mut Reading,
        stays: bool,
    ) -> Result<u64, Trouble> {
        let done = if stays {
            Closed::with(output, |output| reading.pour(output))
        } else {
            reading.pour(&mut *output).and_then(|()| output.finish())
        };
        match done {
            Ok(()) => Ok(reading.through),
            Err(failure) => Err(Trouble { failure, reading: reading.failed }),
        }
    }

    /// Compares lengths and checksums (`compareFileLengthsAndChecksums`).
    fn verify(&self, bytes: u64, path: &str) -> Outcome {
        let (from, to) = (qualified(&*self.source, &self.from), qualified(&*self.target, path));
        if bytes != self.len() {
            let len = self.len();
            return Err(Failure::io(format!(
                "Mismatch in length of source:{from} ({len}) and target:{to} ({bytes})"
            )));
        }
        if bytes == 0 || self.asked.skip_checksums {
            return Ok(());
        }
        let equal = self.sums_are_equal(self.len(), path).map_err(|NoChecksum(failure)| failure)?;
        if equal != Some(false) {
            return Ok(());
        }
        let hint = match self.target.status(path)?.block_size == self.status.block_size {
            true => "",
            false => {
                "; they differ in block size: -pb keeps it, -D dfs.checksum.combine.mode=COMPOSITE_CRC compares \
                 nevertheless, -skipcrccheck does not compare"
            }
        };
        Err(Failure::io(format!("Checksum mismatch between {from} and {to}{hint}")))
    }
}

/// The checksum of a file could not be read.
struct NoChecksum(Failure);

impl PartialEq for NoChecksum {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

impl From<Failure> for NoChecksum {
    fn from(failure: Failure) -> NoChecksum {
        NoChecksum(failure)
    }
}

/// A source, read up to the length in its status.
struct Reading<'a> {
    input: Box<dyn Input>,
    left: u64,
    through: u64,
    failed: bool,
    /// Limit in bytes per second.
    bandwidth: Option<f64>,
    start: Instant,
    progress: &'a Progress,
}

impl Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if room == 0 {
            return Ok(0);
        }
        let Some(buffer) = buffer.get_mut(..room) else { return Ok(0) };
        let count = self.input.read(buffer).inspect_err(|error| {
            self.failed |= error.kind() != ErrorKind::Interrupted;
        })?;
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }
}

impl Reading<'_> {
    fn pour(&mut self, output: &mut dyn Output) -> Outcome {
        let mut buffer = Vec::new();
        loop {
            let count = match output.write_from(self, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::io(error.to_string())),
            };
            self.through += count;
            self.progress.done(count);
            if let Some(bandwidth) = self.bandwidth {
                let due = Duration::try_from_secs_f64(self.through as f64 / bandwidth);
                let passed = clock::since(self.start);
                clock::sleep_thread(due.unwrap_or_default().saturating_sub(passed));
            }
        }
    }
}
