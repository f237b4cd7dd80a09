//! Long files, from one end to the other, as TestDFSIO does it.

use super::{Failure, repeat};
use crate::GB;
use crate::memory::ready_to_write;
use crate::process::WatchedProcess;
use crate::report::Row;
use std::io::{Read, Write};
use std::time::Instant;
use zerohop_client::CreateOptions;
use zerohop_client::blocking::FileSystem;

/// How much is moved, and how.
#[derive(Clone)]
pub struct Sequential {
    /// The file system.
    pub fs: FileSystem,
    /// A directory for the files; the caller deletes it.
    pub directory: String,
    /// Bytes of each file.
    pub file_len: u64,
    /// Files, each moved by a thread of its own.
    pub files: usize,
    /// Bytes of each call.
    pub buffer_len: usize,
    /// Replicas of each block.
    pub replication: u16,
    /// Runs.
    pub runs: usize,
}

/// Writes the files anew in each run, into memory that is [ready](crate::memory).
pub fn write(work: &Sequential, watched: &[WatchedProcess]) -> Result<Row, Failure> {
    let name = format!("write, replication {}, {}", work.replication, threads(work, "writer"));
    let buffer: Vec<u8> =
        std::iter::repeat_with(|| fastrand::u8(..)).take(work.buffer_len).collect();
    let all_len = work.file_len * work.files as u64;
    let prepare = || ready_to_write(all_len, work.replication);
    repeat(name, "MB/s", (work.runs, "s/GB"), watched, prepare, |_| {
        each_file(work, |path| {
            let options = CreateOptions::overwriting().replication(work.replication);
            let mut file = work.fs.create(path, options)?;
            let mut left = work.file_len;
            while left > 0 {
                let take = left.min(buffer.len() as u64);
                file.write_all(&buffer[..take as usize])?;
                left -= take;
            }
            file.close()?;
            Ok(work.file_len)
        })
    })
}

/// Reads the files that [`write()`] left, verified.
pub fn read(work: &Sequential, watched: &[WatchedProcess]) -> Result<Row, Failure> {
    let name = format!("read, {}", threads(work, "reader"));
    repeat(
        name,
        "MB/s",
        (work.runs, "s/GB"),
        watched,
        || Ok(()),
        |_| {
            each_file(work, |path| {
                let mut file = work.fs.open(path)?;
                let mut buffer = vec![0; work.buffer_len];
                let mut total = 0;
                loop {
                    match file.read(&mut buffer)? {
                        0 => return Ok(total),
                        read => total += read as u64,
                    }
                }
            })
        },
    )
}

fn threads(work: &Sequential, one: &str) -> String {
    let plural = if work.files == 1 { "" } else { "s" };
    format!("{} {one}{plural}, {} KiB buffer", work.files, work.buffer_len / 1024)
}

/// Megabytes a second of all files together, and how many gigabytes they are.
fn each_file(
    work: &Sequential,
    move_file: impl Fn(&str) -> Result<u64, Failure> + Sync,
) -> Result<(f64, f64), Failure> {
    let start = Instant::now();
    let moved: Result<u64, Failure> = std::thread::scope(|scope| {
        let move_file = &move_file;
        let start_one = |number| {
            let path = format!("{}/file-{number}", work.directory);
            scope.spawn(move || move_file(&path))
        };
        let running: Vec<_> = (0..work.files).map(start_one).collect();
        running.into_iter().map(|one| one.join().map_err(|_| "a thread died")?).sum()
    });
    let moved = moved?;
    if moved != work.file_len * work.files as u64 {
        return Err(format!("{moved} bytes were moved, not {}", work.file_len).into());
    }
    Ok((moved as f64 / 1e6 / start.elapsed().as_secs_f64(), moved as f64 / GB))
}
