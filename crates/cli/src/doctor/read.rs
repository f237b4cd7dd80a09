//! What the client makes of it all: one read as every program does it, and the way it went.

use zerohop_client::{ReadPath, ReadStatistics};

use super::report::Report;
use super::target::{READ_MAX, Target};

/// Bytes read at a time.
const READ_LEN: usize = 1 << 20;

/// Reads the file; every byte must come from a replica's file.
pub fn examine(target: &Target, report: &mut Report) {
    let fix = "see the faults above";
    match read(target) {
        Ok(statistics) if statistics.total() == statistics.local_bytes() => {
            report.ok("client-read", ways(&statistics));
        }
        Ok(statistics) => {
            let why = statistics.last.map_or("", |(_, reason)| reason.name());
            let detail = statistics.detail.as_deref().unwrap_or_default();
            report.fault("client-read", format!("{}; {why}: {detail}", ways(&statistics)), fix);
        }
        Err(error) => report.fault("client-read", error.to_string(), fix),
    }
}

fn read(target: &Target) -> zerohop_client::Result<ReadStatistics> {
    let mut reader = target.fs.open(&target.path)?;
    let mut buffer = vec![0; READ_LEN];
    while reader.pos() < READ_MAX && reader.read_some(&mut buffer)? > 0 {}
    Ok(reader.statistics())
}

/// Bytes by way: `local-mapped 1048676`.
fn ways(statistics: &ReadStatistics) -> String {
    let used = ReadPath::ALL.iter().filter(|path| statistics.bytes_by(**path) > 0);
    let ways: Vec<String> =
        used.map(|path| format!("{} {}", path.name(), statistics.bytes_by(*path))).collect();
    format!("bytes read by way: {}", ways.join(", "))
}
