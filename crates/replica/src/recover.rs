//! How much of a replica that was being written is good (`BlockPoolSlice`): all chunks before the
//! last are trusted, the last one is checked; bytes without a checksum are cut off.
//!
//! A packet's data is written before its checksums. A DataNode that dies in between leaves the last
//! chunk longer than its checksum says: the bytes that the checksum covers were acknowledged, and are
//! kept.

use crate::error::{Error, Result};
use crate::reader::{file_len, read_header};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerohop_wire::{Block, DataChecksum, meta_header};

/// Bytes of a chunk that are read at a time.
const PIECE_LEN: u64 = 64 << 10;

/// The good length of a replica in `rbw`; its data file is cut to it. 0 if the meta file cannot be
/// used.
pub(crate) fn recover_len(block: &Block, data_path: &Path, meta_path: &Path) -> Result<u64> {
    let io = |verb, path| move |e: io::Error| Error::io(format!("replica {block}"), verb, path, e);
    let meta = match File::open(meta_path) {
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
        len = kept.map_err(io("read", data_path))?;
    }
    if len < data_len {
        data.set_len(len).map_err(io("truncate", data_path))?;
    }
    Ok(len)
}

/// The end of the longest prefix of a chunk that has the checksum of the meta file; the start of the
/// chunk if none has.
fn summed_prefix(
    data: &File,
    meta: &File,
    checksum: DataChecksum,
    chunk: std::ops::Range<u64>,
) -> io::Result<u64> {
    let Some(algorithm) = checksum.kind().algorithm() else { return Ok(chunk.end) };
    let mut sum = [0; 4];
    meta.read_exact_at(&mut sum, meta_header::sum_offset(checksum, chunk.start))?;
    let sum = u32::from_be_bytes(sum);
    let mut piece = vec![0; (chunk.end - chunk.start).min(PIECE_LEN) as usize];
    let (mut at, mut crc, mut good) = (chunk.start, 0, chunk.start);
    while at < chunk.end {
        let len = (chunk.end - at).min(PIECE_LEN) as usize;
        let bytes = piece.get_mut(..len).unwrap_or_default();
        data.read_exact_at(bytes, at)?;
        for byte in bytes {
            crc = algorithm.update(crc, &[*byte]);
            at += 1;
            if crc == sum {
                good = at;
            }
        }
    }
    Ok(good)
}
