//! How much of a replica that was being written is good (`BlockPoolSlice`): all chunks before the
//! last are trusted, the last one is checked; bytes without a checksum are cut off.

use crate::error::Result;
use crate::reader::{file_len, read_header};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerohop_wire::{Block, DataChecksum, meta_header};

/// The good length of a replica in `rbw`; its data file is cut to it. 0 if the meta file cannot be
/// used.
pub(crate) fn recover_len(block: &Block, data_path: &Path, meta_path: &Path) -> Result<u64> {
    let Ok(meta) = File::open(meta_path) else { return Ok(0) };
    let open = OpenOptions::new().read(true).write(true).open(data_path);
    let data =
        open.map_err(|e| crate::Error::io(format!("replica {block}"), "open", data_path, e))?;
    let Ok(checksum) = read_header(block, &meta, meta_path) else { return Ok(0) };
    let data_len = file_len(block, &data, data_path)?;
    let covered = meta_header::covered_len(checksum, file_len(block, &meta, meta_path)?);
    let mut len = data_len.min(covered);
    if len > 0 && !last_chunk_matches(&data, &meta, checksum, len) {
        len = checksum.chunk_start(len - 1);
    }
    if len < data_len {
        let cut = data.set_len(len);
        cut.map_err(|e| crate::Error::io(format!("replica {block}"), "truncate", data_path, e))?;
    }
    Ok(len)
}

/// Whether the chunk that ends at `len` has the sum the meta file says; a read error is a no.
fn last_chunk_matches(data: &File, meta: &File, checksum: DataChecksum, len: u64) -> bool {
    let start = checksum.chunk_start(len - 1);
    let mut chunk = vec![0; (len - start) as usize];
    let mut sum = vec![0; checksum.sum_len()];
    let at = meta_header::sum_offset(checksum, start);
    data.read_exact_at(&mut chunk, start).is_ok()
        && meta.read_exact_at(&mut sum, at).is_ok()
        && checksum.verify(&chunk, &sum).is_ok()
}
