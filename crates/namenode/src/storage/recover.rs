//! Segments that a crash left in progress: cut behind their last good record, and finished.

use super::NameStorage;
use super::dir::NameDir;
use super::error::StorageError;
use super::load::inconsistent;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use zerohop_journal::JournalError;
use zerohop_journal::segment::{
    self, HEADER_LEN, Scan, SegmentFile, SegmentKind, Tail, finalized_name, sync_dir,
};
use zerohop_wire::TxId;

impl NameStorage {
    /// Finishes what a crash left in progress, and returns the last transaction that is in any of
    /// it. A directory whose segment is damaged is dropped if another one is whole; what is left of
    /// its records says how far the other one must go.
    pub(super) fn recover_segments(&self) -> Result<i64, StorageError> {
        let mut reach = 0;
        let mut first_error = None;
        for dir in self.edits_dirs().cloned().collect::<Vec<_>>() {
            if let Err(e) = recover_dir(&dir, self.config.op_size_max, &mut reach) {
                dir.fail(&e);
                first_error.get_or_insert(e);
            }
        }
        match first_error {
            Some(error) if self.edits_dirs().next().is_none() => Err(error),
            _ => Ok(reach),
        }
    }
}

/// All segments, even behind one that fails: each may reach further.
fn recover_dir(
    dir: &Arc<NameDir>,
    op_size_max: usize,
    reach: &mut i64,
) -> Result<(), StorageError> {
    let mut result = Ok(());
    for file in segment::list(&dir.current())? {
        if file.kind == SegmentKind::InProgress {
            result = result.and(recover_segment(&file, op_size_max, reach));
        }
    }
    result
}

/// Cuts a segment behind its last good record and gives it its final name.
fn recover_segment(
    file: &SegmentFile,
    op_size_max: usize,
    reach: &mut i64,
) -> Result<(), StorageError> {
    let path = &file.path;
    let len = std::fs::metadata(path).map_err(StorageError::io("stat", path))?.len();
    if len == 0 {
        tracing::info!("deleting zero-length edit log file {}", path.display());
        return std::fs::remove_file(path).map_err(StorageError::io("remove", path));
    }
    let scan = match segment::scan(path, op_size_max) {
        Ok(scan) => scan,
        Err(JournalError::Header { .. } | JournalError::Newer { .. }) if holds_no_record(path)? => {
            tracing::warn!(
                "moving aside {}: there is only padding, probably the disk was full",
                path.display()
            );
            return move_aside(path);
        }
        Err(error) => {
            let until = reach_of_damaged(file, &error, op_size_max);
            *reach = (*reach).max(until);
            return Err(damaged(error, until));
        }
    };
    *reach = (*reach).max(scan.last.map_or(0, |last| last.0));
    match (scan.first, scan.last) {
        (Some(first), Some(last)) if first == file.first => finish(file, last, &scan, len),
        (Some(first), _) => {
            let reason = format!("its first transaction is {first}, its name says {}", file.first);
            Err(inconsistent(path, reason))
        }
        (None, _) => {
            tracing::info!("moving aside {}: it has no transactions", path.display());
            move_aside(path)
        }
    }
}

/// The last transaction of a segment that cannot be read through, as far as the file can be read.
fn reach_of_damaged(file: &SegmentFile, error: &JournalError, op_size_max: usize) -> i64 {
    let before = file.first.0 - 1;
    let (last, offset) = match error {
        JournalError::Corrupt { last_txid, offset, .. } => ((*last_txid).max(before), *offset + 1),
        JournalError::Gap { expected, offset, .. } => (*expected - 1, *offset),
        _ => (before, 0),
    };
    match segment::last_record_behind(&file.path, offset, TxId(last), op_size_max) {
        Ok(found) => found.map_or(last, |txid| txid.0),
        Err(e) => {
            tracing::error!("{e}");
            last
        }
    }
}

fn damaged(source: JournalError, until: i64) -> StorageError {
    let advice = match &source {
        JournalError::Corrupt { path, offset, .. } => format!(
            "whole records up to transaction {until} follow. If the machine lost power just then, \
             they may be of a batch that was never acknowledged: keep a copy of the file, cut it \
             with truncate -s {offset} {}, and start again. Otherwise they are changes that were \
             acknowledged: bring back a copy of the directory",
            path.display()
        ),
        JournalError::Header { .. } => format!(
            "its records go up to transaction {until}: bring back a copy of the directory, or move \
             the file elsewhere where another directory goes as far"
        ),
        _ => return source.into(),
    };
    StorageError::Damaged { source, advice }
}

fn finish(file: &SegmentFile, last: TxId, scan: &Scan, len: u64) -> Result<(), StorageError> {
    let path = &file.path;
    if let Tail::Torn(error) = &scan.tail {
        tracing::warn!(
            "{}: cutting a torn record at offset {}, behind transaction {last}: {error}",
            path.display(),
            scan.valid_len
        );
    }
    if scan.valid_len < len {
        let file = std::fs::OpenOptions::new().write(true).open(path);
        file.and_then(|file| file.set_len(scan.valid_len).and_then(|()| file.sync_all()))
            .map_err(StorageError::io("truncate", path))?;
    }
    let to = path.with_file_name(finalized_name(file.first, last));
    tracing::info!("finalizing edits file {} -> {}", path.display(), to.display());
    if to.exists() {
        return Err(inconsistent(
            &to,
            "it exists already beside the segment in progress".to_owned(),
        ));
    }
    Ok(zerohop_daemon::storage::rename(path, &to)?)
}

/// Whether a segment holds nothing behind its header but what fills it in advance: then nothing that was acknowledged can
/// be in it, whatever the header says. Of a file that was just made, a power cut may keep some pages and leave zeros for
/// the others, and keep a part of the header.
fn holds_no_record(path: &Path) -> Result<bool, StorageError> {
    let mut file = std::fs::File::open(path).map_err(StorageError::io("open", path))?;
    let mut piece = vec![0; 256 * 1024];
    let mut header_len = usize::try_from(HEADER_LEN).unwrap_or_default();
    loop {
        let len = file.read(&mut piece).map_err(StorageError::io("read", path))?;
        if len == 0 {
            return Ok(true);
        }
        let records = piece.get(header_len.min(len)..len).unwrap_or_default();
        if records.iter().any(|byte| !matches!(byte, 0 | 0xff)) {
            return Ok(false);
        }
        header_len = header_len.saturating_sub(len);
    }
}

fn move_aside(path: &Path) -> Result<(), StorageError> {
    let mut to = path.as_os_str().to_owned();
    to.push(".empty");
    std::fs::rename(path, &to).map_err(StorageError::io("rename", path))?;
    Ok(sync_dir(path.parent().unwrap_or(path))?)
}
