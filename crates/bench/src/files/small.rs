//! Many short files at once: the NameNode, the DataNode and their reports, hardly any bytes.

use super::{Failure, repeat};
use crate::memory::ready_to_write;
use crate::process::WatchedProcess;
use crate::report::Row;
use std::io::{Read, Write};
use std::time::Instant;
use zerohop_client::CreateOptions;
use zerohop_client::blocking::FileSystem;

/// What a short file takes of the memory: a page of data, one of checksums, two inodes, entries of
/// directories.
const FOOTPRINT: u64 = 16 << 10;

/// How many, and how short.
#[derive(Clone)]
pub struct SmallFiles {
    /// The file system.
    pub fs: FileSystem,
    /// A directory for the files; the caller deletes it.
    pub directory: String,
    /// Bytes of each file.
    pub len: usize,
    /// Threads.
    pub threads: usize,
    /// Files of each thread.
    pub files: usize,
    /// Runs.
    pub runs: usize,
}

/// Files made (create, write, close) a second, then files read (open, read all) a second.
pub fn small_files(work: &SmallFiles, watched: &[WatchedProcess]) -> Result<[Row; 2], Failure> {
    let name = |what: &str| format!("{what} files of {} B, {} threads", work.len, work.threads);
    let bytes = vec![7; work.len];
    let all_len = (work.threads * work.files) as u64 * FOOTPRINT;
    let prepare = || ready_to_write(all_len, 1);
    let made = repeat(name("make"), "files/s", (work.runs, "us/op"), watched, prepare, |run| {
        all_files(work, run, |path| {
            let mut file = work.fs.create(path, CreateOptions::overwriting())?;
            file.write_all(&bytes)?;
            Ok(file.close()?)
        })
    })?;
    let read = repeat(
        name("read"),
        "files/s",
        (work.runs, "us/op"),
        watched,
        || Ok(()),
        |run| {
            all_files(work, run, |path| {
                let mut found = Vec::with_capacity(work.len);
                work.fs.open(path)?.read_to_end(&mut found)?;
                if found == bytes {
                    Ok(())
                } else {
                    Err(format!("{path} came back changed").into())
                }
            })
        },
    )?;
    Ok([made, read])
}

/// Files a second; CPU seconds count for a million files, which makes them microseconds for one.
fn all_files(
    work: &SmallFiles,
    run: usize,
    one: impl Fn(&str) -> Result<(), Failure> + Sync,
) -> Result<(f64, f64), Failure> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let one = &one;
        let start_one = |thread: usize| {
            scope.spawn(move || {
                let path = |file| format!("{}/run-{run}/t{thread}/f{file}", work.directory);
                (0..work.files).try_for_each(|file| one(&path(file)))
            })
        };
        let running: Vec<_> = (0..work.threads).map(start_one).collect();
        running.into_iter().try_for_each(|one| one.join().map_err(|_| "a thread died")?)
    })?;
    let files = (work.threads * work.files) as f64;
    Ok((files / start.elapsed().as_secs_f64(), files / 1e6))
}
