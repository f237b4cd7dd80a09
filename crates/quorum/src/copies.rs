//! Two JournalNodes' copies of a segment, fetched and compared.

use crate::download::{fetch_segment, segment_url};
use crate::journal_node::SegmentState;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::time::Duration;
use tempfile::NamedTempFile;
use zerohop_journal::segment::{Scan, scan};

/// Bytes compared at once.
const PIECE_LEN: usize = 64 << 10;

/// Fetches the copies of one segment.
#[derive(Clone, Debug)]
pub(crate) struct SegmentCopies {
    pub(crate) journal: String,
    /// The name space, as `/getJournal` asks for it.
    pub(crate) namespace: String,
    /// What a copy must hold.
    pub(crate) state: SegmentState,
    pub(crate) op_size_max: usize,
    pub(crate) patience: Duration,
}

impl SegmentCopies {
    /// Where a JournalNode gives its copy. `base` is `http://host:port`.
    pub(crate) fn url(&self, base: &str) -> String {
        segment_url(base, &self.journal, &self.namespace, self.state.first, true)
    }

    /// Returns true if the copy of a JournalNode holds the same records as that of the first of `others` that can be read. Padding
    /// and half a record behind the last one do not count.
    ///
    /// # Errors
    /// Why a copy cannot be read.
    pub(crate) fn are_same(&self, one: &str, others: &[String]) -> Result<bool, String> {
        let (one, one_scan) = self.fetch(one)?;
        let mut fetched = Err("no JournalNode with the chosen one says where it is".to_owned());
        for other in others {
            fetched = self.fetch(other);
            if fetched.is_ok() {
                break;
            }
        }
        let (other, other_scan) = fetched?;
        if one_scan.valid_len != other_scan.valid_len {
            return Ok(false);
        }
        let same = start_alike(one.as_file(), other.as_file(), one_scan.valid_len);
        same.map_err(|error| format!("cannot read what was fetched: {error}"))
    }

    fn fetch(&self, base: &str) -> Result<(NamedTempFile, Scan), String> {
        let url = self.url(base);
        let mut file =
            NamedTempFile::new().map_err(|error| format!("cannot create a file: {error}"))?;
        fetch_segment(&url, &mut file, self.patience).map_err(|error| error.to_string())?;
        let scan = scan(file.path(), self.op_size_max).map_err(|error| error.to_string())?;
        if scan.last != Some(self.state.last) {
            let last = scan.last.map(|last| last.0);
            return Err(format!("{url}: it ends with {last:?}, not {}", self.state.last));
        }
        file.rewind().map_err(|error| format!("{}: {error}", file.path().display()))?;
        Ok((file, scan))
    }
}

/// Compares the first `length` bytes from where the files are read.
fn start_alike(mut one: &File, mut other: &File, length: u64) -> io::Result<bool> {
    let (mut piece, mut other_piece) = (vec![0; PIECE_LEN], vec![0; PIECE_LEN]);
    let mut left = length;
    while left > 0 {
        let size = usize::try_from(left).map_or(PIECE_LEN, |left| left.min(PIECE_LEN));
        one.read_exact(&mut piece[..size])?;
        other.read_exact(&mut other_piece[..size])?;
        if piece[..size] != other_piece[..size] {
            return Ok(false);
        }
        left -= size as u64;
    }
    Ok(true)
}
