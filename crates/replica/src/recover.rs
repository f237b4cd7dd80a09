//! How much of a replica that was being written is good (`BlockPoolSlice`): all chunks before the
//! last are trusted, the last one is checked; bytes without a checksum are cut off.
//!
//! A packet's data is written before its checksums. A DataNode that dies in between leaves the last
//! chunk longer than its checksum says: the bytes that the checksum covers were acknowledged, and are
//! kept.
//!
//! A killed process may also leave a checksum half written where it lies across two pages: its first bytes are those of
//! the new checksum, the others those of the one before. What the one before covers is kept.

use crate::error::{Error, Result};
use crate::reader::{file_len, read_header};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerohop_wire::{Block, DataChecksum, meta_header};

/// The smallest page there is; larger ones begin at multiples of it.
const PAGE_LEN: u64 = 4096;
/// Bytes of a chunk that are read at a time.
const PIECE_LEN: u64 = 64 << 10;

/// The good length of a replica in `rbw`; its data file is cut to it. 0 if the meta file cannot be
/// used.
pub(crate) fn recover_len(block: &Block, data_path: &Path, meta_path: &Path) -> Result<u64> {
    let io = |verb, path| move |e: io::Error| Error::io(format!("replica {block}"), verb, path, e);
    let meta = match OpenOptions::new().read(true).write(true).open(meta_path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        meta => meta.map_err(io("open", meta_path))?,
    };
    let open = OpenOptions::new().read(true).write(true).open(data_path);
    let data = open.map_err(io("open", data_path))?;
    let Ok(checksum) = read_header(block, &meta, meta_path) else { return Ok(0) };
    let data_len = file_len(block, &data, data_path)?;
    let covered = meta_header::covered_len(checksum, file_len(block, &meta, meta_path)?);
    let mut len = data_len.min(covered);
    if len > 0 && checksum.sum_len() != 0 {
        let chunk = checksum.chunk_start(len - 1);
        let kept = summed_prefix(&data, &meta, checksum, chunk..len);
        let kept = kept.map_err(io("read", data_path))?;
        if let Some(sum) = kept.new_sum {
            let at = meta_header::sum_offset(checksum, chunk);
            meta.write_all_at(&sum.to_be_bytes(), at).map_err(io("write", meta_path))?;
        }
        len = kept.end;
    }
    if len < data_len {
        data.set_len(len).map_err(io("truncate", data_path))?;
    }
    Ok(len)
}

/// The part of a chunk that is good.
struct Prefix {
    /// Where it ends; the start of the chunk if nothing is good.
    end: u64,
    /// Its checksum, where the meta file has a half written one.
    new_sum: Option<u32>,
}

/// The longest prefix of a chunk that has the checksum of the meta file.
fn summed_prefix(
    data: &File,
    meta: &File,
    checksum: DataChecksum,
    chunk: std::ops::Range<u64>,
) -> io::Result<Prefix> {
    let Some(algorithm) = checksum.kind().algorithm() else {
        return Ok(Prefix { end: chunk.end, new_sum: None });
    };
    let mut sum = [0; 4];
    let sum_at = meta_header::sum_offset(checksum, chunk.start);
    meta.read_exact_at(&mut sum, sum_at)?;
    let sum = u32::from_be_bytes(sum);
    let old_part = part_on_next_page(sum_at);
    let mut piece = vec![0; (chunk.end - chunk.start).min(PIECE_LEN) as usize];
    let (mut at, mut crc) = (chunk.start, 0);
    let mut good = Prefix { end: chunk.start, new_sum: None };
    let mut half_written = None;
    while at < chunk.end {
        let len = (chunk.end - at).min(PIECE_LEN) as usize;
        let bytes = piece.get_mut(..len).unwrap_or_default();
        data.read_exact_at(bytes, at)?;
        for byte in bytes {
            crc = algorithm.update(crc, &[*byte]);
            at += 1;
            if crc == sum {
                good.end = at;
            } else if old_part.is_some_and(|mask| crc & mask == sum & mask) {
                half_written = Some(Prefix { end: at, new_sum: Some(crc) });
            }
        }
    }
    let is_good = good.end > chunk.start;
    Ok(half_written.filter(|_| !is_good).unwrap_or(good))
}

/// The bytes of a checksum at this place that lie on the next page, as a mask; `None` if there are none. A
/// write that a kill interrupts ends with a page.
fn part_on_next_page(sum_at: u64) -> Option<u32> {
    let on_this = PAGE_LEN - sum_at % PAGE_LEN;
    (on_this < 4).then(|| u32::MAX >> (8 * on_this))
}
