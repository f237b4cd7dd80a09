//! The files' names.

use crate::error::JournalError;
use std::path::{Path, PathBuf};
use zerohop_wire::TxId;

/// What state a segment's name says it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Complete up to this transaction.
    Finalized(TxId),
    /// Being written, or left behind by a crash.
    InProgress,
}

/// A segment found in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its first transaction.
    pub first: TxId,
    /// Its state.
    pub kind: SegmentKind,
}

/// `edits_inprogress_<first>`
pub fn in_progress_name(first: TxId) -> String {
    format!("edits_inprogress_{:019}", first.0)
}

/// `edits_<first>-<last>`
pub fn finalized_name(first: TxId, last: TxId) -> String {
    format!("edits_{:019}-{:019}", first.0, last.0)
}

/// First transaction and state from a name; none for other files.
pub fn parse_name(name: &str) -> Option<(TxId, SegmentKind)> {
    if let Some(first) = name.strip_prefix("edits_inprogress_") {
        return Some((txid(first)?, SegmentKind::InProgress));
    }
    let (first, last) = name.strip_prefix("edits_")?.split_once('-')?;
    let (first, last) = (txid(first)?, txid(last)?);
    (first <= last).then_some((first, SegmentKind::Finalized(last)))
}

fn txid(digits: &str) -> Option<TxId> {
    let numeric = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    numeric.then(|| digits.parse().ok().map(TxId)).flatten()
}

/// All segments of a directory, by first transaction.
pub fn list(dir: &Path) -> Result<Vec<SegmentFile>, JournalError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(JournalError::io("list", dir))? {
        let entry = entry.map_err(JournalError::io("list", dir))?;
        if let Some((first, kind)) = entry.file_name().to_str().and_then(parse_name) {
            found.push(SegmentFile { path: entry.path(), first, kind });
        }
    }
    found.sort_by(|a, b| (a.first, &a.path).cmp(&(b.first, &b.path)));
    Ok(found)
}
