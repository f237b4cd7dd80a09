//! How much of a segment is good.

use super::format::HEADER_LEN;
use super::reader::{Found, SegmentReader};
use crate::error::{DecodeError, JournalError};
use crate::layout::LayoutVersion;
use crate::op;
use std::fs::File;
use std::io::Read;
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
/// of a write, never acknowledged. With a record behind it that is an error which says where: almost
/// always acknowledged changes are damaged. It may also be a batch of several blocks that was being
/// written when the power went, and of which a later block reached the disk and an earlier one did
/// not; nothing in the file tells the one from the other.
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
                let behind = reader.offset() + 1;
                if last_record_behind(path, behind, TxId(last), op_size_max)?.is_some() {
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

/// Whether a segment holds nothing behind its header but what fills it in advance: then nothing that was acknowledged can
/// be in it, whatever the header says. Of a file that was just made, a power cut may keep some pages and leave zeros for
/// the others, and keep a part of the header.
///
/// # Errors
/// If the file cannot be read.
pub fn holds_no_record(path: &Path) -> Result<bool, JournalError> {
    let mut file = std::fs::File::open(path).map_err(JournalError::io("open", path))?;
    let mut piece = vec![0; 256 * 1024];
    let mut header_len = usize::try_from(HEADER_LEN).unwrap_or_default();
    loop {
        let len = file.read(&mut piece).map_err(JournalError::io("read", path))?;
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

/// The last whole record from `offset` on, whatever lies between, with an id above `last`, and above
/// that of each one found before: how far a damaged segment reached.
pub fn last_record_behind(
    path: &Path,
    offset: u64,
    last: TxId,
    op_size_max: usize,
) -> Result<Option<TxId>, JournalError> {
    const WINDOW_MAX: u64 = 1024 * 1024;
    let io = |source| JournalError::Io { verb: "read", path: path.to_owned(), source };
    let file = File::open(path).map_err(JournalError::io("open", path))?;
    let end = file.metadata().map_err(JournalError::io("stat", path))?.len();
    let mut found = None;
    let mut at = offset;
    let window_len = end.saturating_sub(offset).clamp(1, WINDOW_MAX) as usize;
    let mut window = vec![0; window_len + op::OP_SIZE_MIN];
    loop {
        let len = read_at(&file, &mut window, at).map_err(io)?;
        let bytes = window.get(..len).unwrap_or_default();
        let mut skip = 0;
        while skip < len.min(window_len) {
            let head = bytes.get(skip..).unwrap_or_default();
            let offset = at + skip as u64;
            let after = found.unwrap_or(last).0;
            skip += 1;
            let Some(size) = candidate(head, after, op_size_max) else { continue };
            if size as u64 > end.saturating_sub(offset) {
                continue;
            }
            let mut record = vec![0; size];
            if read_at(&file, &mut record, offset).map_err(io)? < size {
                continue;
            }
            if let Ok((txid, _)) = op::check(&record, op_size_max) {
                found = Some(txid);
                skip += size - 1;
            }
        }
        if len < window.len() {
            return Ok(found);
        }
        at += skip as u64;
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
