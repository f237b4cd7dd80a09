//! Segments that a crash left in progress: cut behind their last good record, and finished.

use super::writer::Recovery;
use crate::error::JournalError;
use crate::segment::{
    self, Scan, SegmentFile, SegmentKind, Tail, finalized_name, rename, sync_dir,
};
use std::path::Path;
use zerohop_wire::TxId;

/// Finalizes what a crash left in progress. All segments are tried, even behind one that fails: each may reach further.
pub(super) fn recover(current: &Path, op_size_max: usize) -> Recovery {
    let mut reached = TxId(0);
    let mut outcome = Ok(());
    match segment::list(current) {
        Ok(files) => {
            for file in files.iter().filter(|file| file.kind == SegmentKind::InProgress) {
                outcome = outcome.and(recover_segment(file, op_size_max, &mut reached));
            }
        }
        Err(error) => outcome = Err(error),
    }
    Recovery { reached, outcome }
}

/// Cuts a segment behind its last good record and gives it its final name.
fn recover_segment(
    file: &SegmentFile,
    op_size_max: usize,
    reached: &mut TxId,
) -> Result<(), JournalError> {
    let path = &file.path;
    let len = std::fs::metadata(path).map_err(JournalError::io("stat", path))?.len();
    if len == 0 {
        tracing::info!("deleting zero-length edit log file {}", path.display());
        return std::fs::remove_file(path).map_err(JournalError::io("remove", path));
    }
    let scan = match segment::scan(path, op_size_max) {
        Ok(scan) => scan,
        Err(JournalError::Header { .. } | JournalError::Newer { .. })
            if segment::holds_no_record(path)? =>
        {
            tracing::warn!(
                "moving aside {}: there is only padding, probably the disk was full",
                path.display()
            );
            return move_aside(path);
        }
        Err(error) => {
            let until = last_of_damaged(file, &error, op_size_max);
            *reached = (*reached).max(until);
            return Err(damaged(error, until));
        }
    };
    *reached = (*reached).max(scan.last.unwrap_or(TxId(0)));
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

/// Gives damaged segments that a crash left in progress the names of finished ones, as far as whole records go; those without a
/// record are moved aside.
pub(super) fn finalize_damaged(current: &Path, op_size_max: usize) -> Result<(), JournalError> {
    for file in segment::list(current)? {
        if file.kind != SegmentKind::InProgress {
            continue;
        }
        let last = match segment::scan(&file.path, op_size_max) {
            Ok(scan) => scan.last.unwrap_or(TxId(file.first.0 - 1)),
            Err(error) => last_of_damaged(&file, &error, op_size_max),
        };
        if last < file.first {
            move_aside(&file.path)?;
            continue;
        }
        let to = file.path.with_file_name(finalized_name(file.first, last));
        tracing::warn!(
            "{} is damaged, and counts as finished up to transaction {last}",
            file.path.display()
        );
        rename(&file.path, &to)?;
    }
    Ok(())
}

/// The last transaction of a segment that cannot be read through, as far as the file can be read.
fn last_of_damaged(file: &SegmentFile, error: &JournalError, op_size_max: usize) -> TxId {
    let before = file.first.0 - 1;
    let (last, offset) = match error {
        JournalError::Corrupt { last_txid, offset, .. } => ((*last_txid).max(before), *offset + 1),
        JournalError::Gap { expected, offset, .. } => (*expected - 1, *offset),
        _ => (before, 0),
    };
    match segment::last_record_behind(&file.path, offset, TxId(last), op_size_max) {
        Ok(found) => found.unwrap_or(TxId(last)),
        Err(e) => {
            tracing::error!("{e}");
            TxId(last)
        }
    }
}

fn damaged(source: JournalError, until: TxId) -> JournalError {
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
        _ => return source,
    };
    JournalError::Damaged { source: Box::new(source), advice }
}

fn finish(file: &SegmentFile, last: TxId, scan: &Scan, len: u64) -> Result<(), JournalError> {
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
            .map_err(JournalError::io("truncate", path))?;
    }
    let to = path.with_file_name(finalized_name(file.first, last));
    tracing::info!("finalizing edits file {} -> {}", path.display(), to.display());
    if to.exists() {
        return Err(inconsistent(
            &to,
            "it exists already beside the segment in progress".to_owned(),
        ));
    }
    rename(path, &to)
}

fn move_aside(path: &Path) -> Result<(), JournalError> {
    let mut to = path.as_os_str().to_owned();
    to.push(".empty");
    std::fs::rename(path, &to).map_err(JournalError::io("rename", path))?;
    sync_dir(path.parent().unwrap_or(path))
}

fn inconsistent(path: &Path, reason: String) -> JournalError {
    JournalError::Inconsistent { path: path.to_owned(), reason }
}
