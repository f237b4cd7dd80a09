//! The local file system: forced appends and cached reads.

use super::Scratch;
use crate::measure::{Latencies, Percentiles};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Instant;

/// Appends `len` bytes and forces them to disk (fdatasync), `count` times.
pub fn append_and_sync(directory: &Path, len: usize, count: usize) -> io::Result<Percentiles> {
    let path = directory.join(format!(".zerohop-bench-sync-{}", std::process::id()));
    let mut file = File::options().append(true).create_new(true).open(&path)?;
    let bytes = vec![5; len];
    let mut all = Latencies::default();
    let done = (0..count).try_for_each(|_| {
        all.time(|| {
            file.write_all(&bytes)?;
            file.sync_data()
        })
    });
    fs::remove_file(&path)?;
    done.map(|()| all.percentiles())
}

/// Reads a cached file with buffers of `buffer_len`; megabytes a second of each run.
pub fn read_cached(source: &Scratch, buffer_len: usize, runs: usize) -> io::Result<Vec<f64>> {
    let mut buffer = vec![0; buffer_len];
    let mut file = &source.file;
    (0..runs)
        .map(|_| {
            file.rewind()?;
            let start = Instant::now();
            while file.read(&mut buffer)? > 0 {}
            Ok(source.len as f64 / 1e6 / start.elapsed().as_secs_f64())
        })
        .collect()
}
