//! How long a writer waits until others can read, or until the disk has it.

use super::Failure;
use crate::measure::Latencies;
use crate::memory::ready_to_write;
use crate::report::Row;
use std::io::Write;
use zerohop_client::CreateOptions;
use zerohop_client::blocking::FileSystem;

/// What a writer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushKind {
    /// All DataNodes of the pipeline have it.
    Hflush,
    /// All of them have it on disk.
    Hsync,
}

/// Writes `len` bytes and waits, `count` times, on one open file.
pub fn flush(
    fs: &FileSystem,
    path: &str,
    kind: FlushKind,
    (len, count): (usize, usize),
    replication: u16,
) -> Result<Row, Failure> {
    ready_to_write((len * count) as u64, replication)?;
    let options = CreateOptions::overwriting().replication(replication);
    let mut file = fs.create(path, options)?;
    let bytes = vec![7; len];
    let mut all = Latencies::default();
    for _ in 0..count {
        all.time(|| -> Result<(), Failure> {
            file.write_all(&bytes)?;
            match kind {
                FlushKind::Hflush => file.hflush()?,
                FlushKind::Hsync => file.hsync()?,
            }
            Ok(())
        })?;
    }
    file.close()?;
    let name = match kind {
        FlushKind::Hflush => "hflush",
        FlushKind::Hsync => "hsync",
    };
    let name = format!("{name} of {len} B, replication {replication}");
    Ok(Row::latency(name, all.percentiles()))
}
