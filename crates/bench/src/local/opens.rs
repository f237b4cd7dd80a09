//! Opening a file and reading its first 4 KiB, beside the NameNode's round trip.

use super::Files;
use crate::dfsio::matrix::Way;
use crate::files::Failure;
use crate::measure::Latencies;
use crate::report::Row;
use zerohop_client::blocking::FileSystem;

const LEN: usize = 4096;
/// Opens of a known replica; every tenth is followed by one of a replica that is not known.
const COUNT: usize = 500;

pub(super) fn opens(files: &Files, out: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let mut buffer = vec![0; LEN];
    let (mut trips, mut known, mut asked) = Default::default();
    let all: [&mut Latencies; 3] = [&mut trips, &mut known, &mut asked];
    let [trips, known, asked] = all;
    let len = files.work.file_len;
    for round in 0..COUNT {
        trips.time(|| files.mapped.block_locations(&files.path, 0, len))?;
        known.time(|| files.mapped.open(&files.path)?.read_exact_at(0, &mut buffer))?;
        if round % 10 == 0 {
            // A client that has a connection and a segment, and does not know this replica yet.
            let conf = Way::LocalMapped.configure(&files.work.conf);
            let fresh = FileSystem::connect(&conf, None)?;
            fresh.open(&files.path)?.read_exact_at(0, &mut buffer)?;
            let at = len.saturating_sub(LEN as u64);
            asked.time(|| fresh.open(&files.path)?.read_exact_at(at, &mut buffer))?;
        }
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
