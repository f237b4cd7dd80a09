//! Data transfer over the domain socket, beside the same bytes through a raw one.

use super::{BUFFER_LEN, Files};
use crate::dfsio::matrix::Way;
use crate::files::Failure;
use crate::measure::median;
use crate::raw::{Scratch, StreamLimit, Via, stream_best};
use crate::report::Row;
use std::time::Instant;
use zerohop_client::blocking::FileSystem;
use zerohop_client::{OpenOptions, Verify};

pub(super) fn data_traffic(files: &Files, out: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let runs = files.work.runs;
    let source = Scratch::create(&files.work.local_folder, files.work.file_len)?;
    let (best, _) = stream_best(&source, Via::Unix, files.work.file_len, runs)?;
    drop(source);
    out(StreamLimit::row(&best));
    let conf = Way::DomainSocket.configure(&files.work.conf);
    let fs = FileSystem::connect(&conf, None)?;
    for (what, verify) in [("verified", Verify::Full), ("not verified", Verify::None)] {
        let options = OpenOptions::verifying(verify);
        let mut speeds = Vec::with_capacity(runs);
        for _ in 0..=runs {
            speeds.push(one(&fs, &files.path, options)?);
        }
        if let Some(missed) = Way::DomainSocket.missed(&fs.read_statistics()) {
            return Err(missed.into());
        }
        // The first one makes the connection.
        let row =
            Row::new(format!("domain-socket read, 1 MiB, {what}"), "MB/s", speeds.split_off(1));
        out(row.against(best.name(), median(&best.mb_per_s)));
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
