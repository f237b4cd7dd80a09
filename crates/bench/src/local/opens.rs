//! Opening a file and reading its first 4 KiB, beside the NameNode's round trip.

use super::files::{BLOCK_LEN, Files};
use crate::dfsio::matrix::ReadMode;
use crate::files::Failure;
use crate::measure::Latencies;
use crate::report::Row;
use zerohop_client::blocking::FileSystem;

const LEN: usize = 4096;
const COUNT: u64 = 500;

pub(super) fn opens(files: &Files, out: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let mut buffer = vec![0; LEN];
    let (mut trips, mut known, mut asked) =
        (Latencies::default(), Latencies::default(), Latencies::default());
    let len = files.work.file_len;
    // A client that closes replicas as soon as their last reader is gone.
    let mut conf = ReadMode::LocalMapped.configure(&files.work.conf);
    conf.set("dfs.client.read.shortcircuit.streams.cache.size", "0");
    let forgetful = FileSystem::connect(&conf, None)?;
    forgetful.open(&files.path)?.read_exact_at(0, &mut buffer)?;
    for round in 0..COUNT {
        trips.time(|| files.mapped.block_locations(&files.path, 0, len))?;
        known.time(|| files.mapped.open(&files.path)?.read_exact_at(0, &mut buffer))?;
        let at = round % len.div_ceil(BLOCK_LEN) * BLOCK_LEN;
        asked.time(|| forgetful.open(&files.path)?.read_exact_at(at, &mut buffer))?;
    }
    let trip = trips.percentiles();
    out(Row::latency("the NameNode's answer with the locations", trip));
    let rows = [("known", known), ("not known", asked)];
    for (what, times) in rows {
        let name = format!("open and read 4 KiB, replica {what}");
        out(Row::latency(name, times.percentiles()).against("that answer", trip.p50_us));
    }
    Ok(())
}
