//! How much of a segment is good.

use super::reader::{Found, SegmentReader};
use crate::error::{DecodeError, JournalError};
use crate::layout::LayoutVersion;
use crate::op;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerohop_wire::TxId;

/// What is behind the last good record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The end, or padding only.
    Clean,
    /// Part of a record that a crash cut, and no record behind it.
    Torn(DecodeError),
}

/// What a segment holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Its layout.
    pub layout: LayoutVersion,
    /// The first record's transaction.
    pub first: Option<TxId>,
    /// The last good record's transaction.
    pub last: Option<TxId>,
    /// Bytes up to the end of the last good record.
    pub valid_len: u64,
    /// What follows.
    pub tail: Tail,
}

/// Checks frames, CRCs and the sequence of ids, not the records' contents.
///
/// A record that does not check out is a torn tail if no record is behind it: a crash in the midst
/// of a write, never acknowledged. With a record behind it, acknowledged changes are lost or
/// damaged: that is an error which says where.
pub fn scan(path: &Path, op_size_max: usize) -> Result<Scan, JournalError> {
    let mut reader = SegmentReader::open(path, op_size_max)?;
    let mut first = None;
    loop {
        let tail = match reader.next_frame()? {
            Found::Record(txid, _) => {
                first.get_or_insert(txid);
                continue;
            }
            Found::End => Tail::Clean,
            Found::Bad(error) => {
                let last = reader.last().map_or(0, |txid| txid.0);
                if record_follows(path, reader.offset(), last, op_size_max)? {
                    return Err(reader.corrupt(error));
                }
                Tail::Torn(error)
            }
        };
        return Ok(Scan {
            layout: reader.layout(),
            first,
            last: reader.last(),
            valid_len: reader.offset(),
            tail,
        });
    }
}

/// Whether a record with a later id begins anywhere behind `bad`.
fn record_follows(
    path: &Path,
    bad: u64,
    last: i64,
    op_size_max: usize,
) -> Result<bool, JournalError> {
    const WINDOW: usize = 1024 * 1024;
    let file = File::open(path).map_err(JournalError::io("open", path))?;
    let end = file.metadata().map_err(JournalError::io("stat", path))?.len();
    let mut at = bad + 1;
    let mut window = vec![0; WINDOW + op::OP_SIZE_MIN];
    loop {
        let len = read_at(&file, &mut window, at).map_err(JournalError::io("read", path))?;
        let bytes = window.get(..len).unwrap_or_default();
        for skip in 0..len.min(WINDOW) {
            let head = bytes.get(skip..).unwrap_or_default();
            let offset = at + skip as u64;
            let Some(size) = candidate(head, last, op_size_max) else { continue };
            if size as u64 > end.saturating_sub(offset) {
                continue;
            }
            let mut record = vec![0; size];
            let read = read_at(&file, &mut record, offset);
            let read = read.map_err(JournalError::io("read", path))?;
            if read == size && op::check(&record, op_size_max).is_ok() {
                return Ok(true);
            }
        }
        if len < window.len() {
            return Ok(false);
        }
        at += WINDOW as u64;
    }
}

/// The size of a record that might begin here: a known code, a length that can be, and an id that
/// could follow (no segment holds more than 2^40 transactions).
fn candidate(head: &[u8], last: i64, op_size_max: usize) -> Option<usize> {
    let (code, size, txid) = op::peek(head, op_size_max).ok()?;
    let known = op::OP_CODES.iter().any(|(known, _)| *known == code);
    let follows = txid.0 > last && txid.0 - last < 1 << 40;
    (known && follows).then_some(size)
}

fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + done as u64)? {
            0 => break,
            len => done += len,
        }
    }
    Ok(done)
}
