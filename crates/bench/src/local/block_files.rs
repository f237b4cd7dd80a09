//! Our DataNode's block files beside a file as `dd bs=4M` writes it, both read by read(2).

use super::files::{BUFFER_LEN, Files};
use super::turns::in_turn;
use crate::dfsio::matrix::{Blocks, Reader, Source};
use crate::files::Failure;
use crate::measure::median;
use crate::raw::Scratch;
use crate::report::Row;
use std::hint::black_box;
use std::time::Instant;

/// No rows where the block files cannot be opened from here.
pub(super) fn block_files(files: &Files, out: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let Some(blocks) = files.blocks.first() else { return Ok(()) };
    let blocks = Blocks { files: vec![blocks.blocks()] };
    let other = Scratch::create(&files.work.local_directory, files.work.file_len)?;
    let figures = in_turn(
        files.work.runs,
        &mut [&mut || scan(&mut other.reopen()?), &mut || scan(&mut *blocks.open(0)?)],
    )?;
    let [dd, ours] = <[Vec<f64>; 2]>::try_from(figures).unwrap_or_default();
    let limit = median(&dd);
    out(Row::new("read(2) of a file written in calls of 4 MiB", "MB/s", dd));
    let row = Row::new("read(2) of the DataNode's block files", "MB/s", ours);
    out(row.against("that file", limit));
    Ok(())
}

/// Megabytes a second from start to end.
fn scan(file: &mut dyn Reader) -> Result<f64, Failure> {
    let mut buffer = vec![1; BUFFER_LEN];
    let start = Instant::now();
    let mut total = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(total as f64 / 1e6 / start.elapsed().as_secs_f64()),
            read => total += read,
        }
        black_box(&buffer);
    }
}
