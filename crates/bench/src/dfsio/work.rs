//! The tests of TestDFSIO: each file is moved by a thread of its own.

use super::result::{Task, Test, TestResult};
use crate::files::Failure;
use std::io::Write;
use std::time::{Duration, Instant};
use zerohop_client::blocking::{FileReader, FileSystem, FileWriter};
use zerohop_client::{AppendOptions, CreateOptions, OpenOptions, ReadPath, ReadStatistics, Verify};

/// Between two questions whether a truncated file is closed.
const TRUNCATE_POLL: Duration = Duration::from_millis(5);

/// What to do, and where.
#[derive(Clone)]
pub struct Work {
    /// The file system.
    pub fs: FileSystem,
    /// The directory of all tests.
    pub base: String,
    /// Files, a thread each.
    pub files: usize,
    /// Bytes of each file; of a truncate, those that stay.
    pub size: u64,
    /// Bytes of each call.
    pub buffer_len: usize,
    /// Bytes left out after each buffer of a skip read.
    pub skip_len: u64,
    /// Storage policy of written files.
    pub storage_policy: Option<String>,
    /// Whether checksums are checked.
    pub verify: bool,
    /// One file after the other.
    pub in_turn: bool,
}

impl Work {
    /// The path of a file.
    pub fn path(&self, number: usize) -> String {
        format!("{}/io_data/test_io_{number}", self.base)
    }

    fn open(&self, number: usize) -> Result<FileReader, Failure> {
        let verify = if self.verify { Verify::Full } else { Verify::None };
        let options = OpenOptions::verifying(verify);
        Ok(self.fs.open_with(&self.path(number), options)?)
    }

    /// Whether all files are there.
    pub fn is_prepared(&self) -> Result<bool, Failure> {
        for number in 0..self.files {
            if !self.fs.exists(&self.path(number))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Removes everything that any test left.
pub fn clean(fs: &FileSystem, base: &str) -> Result<(), Failure> {
    fs.delete(base, true)?;
    Ok(())
}

/// Runs a test; what was read and which way it went comes with the result.
pub fn run_test(test: Test, work: &Work) -> Result<(TestResult, ReadStatistics), Failure> {
    let start = Instant::now();
    if test == Test::Write {
        work.fs.delete(&format!("{}/io_data", work.base), true)?;
    }
    let done: Result<Vec<_>, Failure> = if work.in_turn {
        (0..work.files).map(|number| one(test, work, number)).collect()
    } else {
        std::thread::scope(|scope| {
            let start_one = |number| scope.spawn(move || one(test, work, number));
            let running: Vec<_> = (0..work.files).map(start_one).collect();
            running.into_iter().map(|task| task.join().map_err(|_| "a thread died")?).collect()
        })
    };
    let (tasks, statistics): (Vec<Task>, Vec<ReadStatistics>) = done?.into_iter().unzip();
    let result = TestResult { test, tasks, seconds: start.elapsed().as_secs_f64() };
    Ok((result, sum(&statistics)))
}

fn sum(all: &[ReadStatistics]) -> ReadStatistics {
    let mut sum = ReadStatistics::default();
    for one in all {
        for (at, _) in ReadPath::ALL.iter().enumerate() {
            sum.bytes[at] += one.bytes[at];
            sum.opens[at] += one.opens[at];
        }
        sum.last = one.last.or(sum.last);
    }
    sum
}

fn one(test: Test, work: &Work, number: usize) -> Result<(Task, ReadStatistics), Failure> {
    match test {
        Test::Write => write(work, make(work, number)?),
        Test::Append => write(work, work.fs.append(&work.path(number), AppendOptions::default())?),
        Test::Read => read(work, work.open(number)?),
        Test::ReadRandom => {
            let file = work.open(number)?;
            let len = file.len();
            read_at(work, file, |_| fastrand::u64(..len.max(1)))
        }
        Test::ReadBackward => {
            let file = work.open(number)?;
            let (len, step) = (file.len(), work.buffer_len as u64);
            read_at(work, file, |before| before.unwrap_or(len).saturating_sub(step))
        }
        Test::ReadSkip => {
            let step = work.buffer_len as u64 + work.skip_len;
            read_at(work, work.open(number)?, |before| before.map_or(0, |pos| pos + step))
        }
        Test::Truncate => truncate(work, number),
    }
}

fn make(work: &Work, number: usize) -> Result<FileWriter, Failure> {
    let options = CreateOptions::overwriting().storage_policy(work.storage_policy.clone());
    Ok(work.fs.create(&work.path(number), options)?)
}

fn task(bytes: u64, start: Instant) -> Task {
    Task { bytes, seconds: start.elapsed().as_secs_f64() }
}

/// TestDFSIO's bytes: fifty characters from `0` on, again and again.
fn pattern(len: usize) -> Vec<u8> {
    (b'0'..b'0' + 50).cycle().take(len).collect()
}

fn write(work: &Work, mut file: FileWriter) -> Result<(Task, ReadStatistics), Failure> {
    let buffer = pattern(work.buffer_len);
    let start = Instant::now();
    let mut left = work.size;
    while left > 0 {
        let take = left.min(buffer.len() as u64);
        file.write_all(&buffer[..take as usize])?;
        left -= take;
    }
    file.close()?;
    Ok((task(work.size, start), ReadStatistics::default()))
}

fn read(work: &Work, mut file: FileReader) -> Result<(Task, ReadStatistics), Failure> {
    let mut buffer = vec![0; work.buffer_len];
    let start = Instant::now();
    let mut total = 0;
    while total < work.size {
        match file.read_some(&mut buffer)? {
            0 => break,
            read => total += read as u64,
        }
    }
    let task = task(total, start);
    Ok((task, file.statistics()))
}

/// Reads at positions that `next` makes of the one before, until `size` bytes have been read or the
/// end of the file is met.
fn read_at(
    work: &Work,
    file: FileReader,
    mut next: impl FnMut(Option<u64>) -> u64,
) -> Result<(Task, ReadStatistics), Failure> {
    let mut buffer = vec![0; work.buffer_len];
    let start = Instant::now();
    let (mut total, mut pos) = (0, None);
    while total < work.size {
        let at = next(pos);
        match file.read_at(at, &mut buffer)? {
            0 => break,
            read => total += read as u64,
        }
        pos = Some(at);
    }
    let task = task(total, start);
    Ok((task, file.statistics()))
}

fn truncate(work: &Work, number: usize) -> Result<(Task, ReadStatistics), Failure> {
    let path = work.path(number);
    let len = work.fs.status(&path)?.len;
    let start = Instant::now();
    let mut is_closed = work.fs.truncate(&path, work.size)?;
    while !is_closed {
        // The last block is cut on the DataNodes; the client is not told when that is done.
        std::thread::sleep(TRUNCATE_POLL);
        is_closed = work.fs.is_file_closed(&path)?;
    }
    Ok((task(len - work.size.min(len), start), ReadStatistics::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_testdfsio() {
        let bytes = pattern(120);
        assert!(bytes.iter().enumerate().all(|(i, byte)| *byte == b'0' + (i % 50) as u8));
    }
}
