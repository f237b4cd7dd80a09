//! Data transfer over the domain socket, beside the same bytes through a raw one.

use super::files::{BUFFER_LEN, Files};
use super::turns::in_turn;
use crate::dfsio::matrix::ReadMode;
use crate::files::Failure;
use crate::measure::median;
use crate::raw::{Scratch, SocketKind, StreamLimit, stream, stream_best};
use crate::report::Row;
use std::time::Instant;
use zerohop_client::blocking::FileSystem;
use zerohop_client::{OpenOptions, Verify};

/// Runs of each way to send, to find the fastest.
const RUNS_TO_FIND_THE_BEST: usize = 2;

/// The fastest raw stream and our reads take turns; the way to send that is fastest is found first.
pub(super) fn data_traffic(files: &Files, out: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let len = files.work.file_len;
    let source = Scratch::create(&files.work.local_directory, len)?;
    let (best, _) = stream_best(&source, SocketKind::Unix, len, RUNS_TO_FIND_THE_BEST)?;
    let fs = FileSystem::connect(&ReadMode::DomainSocket.configure(&files.work.conf), None)?;
    let ours = |verify| one(&fs, &files.path, OpenOptions::verifying(verify));
    let mut cpu = Vec::new();
    let mut raw = || {
        let run = stream(&source, SocketKind::Unix, best.sender, best.buffer_len, len, 1)?;
        cpu.push(run.cpu_s_per_gb);
        Ok(run.median())
    };
    let figures = in_turn(
        files.work.runs,
        &mut [&mut raw, &mut || ours(Verify::Full), &mut || ours(Verify::None)],
    )?;
    let [raw, full, none] = <[Vec<f64>; 3]>::try_from(figures).unwrap_or_default();
    if let Some(missed) = ReadMode::DomainSocket.missed(&fs.read_statistics()) {
        return Err(missed.into());
    }
    let limit = StreamLimit { mb_per_s: raw, cpu_s_per_gb: median(&cpu), ..best };
    out(limit.row());
    for (what, speeds) in [("verified", full), ("not verified", none)] {
        let row = Row::new(format!("domain-socket read, 1 MiB, {what}"), "MB/s", speeds);
        out(row.against(limit.name(), limit.median()));
    }
    Ok(())
}

fn one(fs: &FileSystem, path: &str, options: OpenOptions) -> Result<f64, Failure> {
    let mut file = fs.open_with(path, options)?;
    let mut buffer = vec![0; BUFFER_LEN];
    let start = Instant::now();
    let mut total = 0;
    loop {
        match file.read_some(&mut buffer)? {
            0 => return Ok(total as f64 / 1e6 / start.elapsed().as_secs_f64()),
            read => total += read,
        }
    }
}
