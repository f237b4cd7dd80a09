//! Reading a segment record by record.

use super::format::{HEADER_LEN, OP_INVALID};
use crate::error::{DecodeError, JournalError};
use crate::layout::LayoutVersion;
use crate::op::{self, OP_SIZE_MIN, Record};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerohop_wire::TxId;

/// Bytes asked of the file at a time.
const READ_LEN: usize = 512 * 1024;
/// The same of a file that is being written: most of what is read behind its last record is padding.
const READ_LEN_IN_PROGRESS: usize = 64 * 1024;

/// The records of a segment in order. Ids must follow one another.
#[derive(Debug)]
pub struct SegmentReader {
    path: PathBuf,
    file: File,
    layout: LayoutVersion,
    size_max: usize,
    /// What is read and not consumed: `buffer[start..]`; start <= buffer.len().
    buffer: Vec<u8>,
    start: usize,
    /// The offset in the file of `buffer[start]`.
    offset: u64,
    at_eof: bool,
    last: Option<TxId>,
    /// Someone writes it: what stands behind the last whole record is no damage.
    in_progress: bool,
}

/// What is at the reader's offset.
pub(super) enum Found<T> {
    /// A record, and its bytes.
    Record(T, usize),
    /// The end of the file, or only padding until there.
    End,
    /// Bytes that are no record.
    Bad(DecodeError),
}

impl SegmentReader {
    /// Opens a segment and reads its header.
    pub fn open(path: &Path, op_size_max: usize) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(JournalError::io("open", path))?;
        Self::of_file(file, path, op_size_max)
    }

    /// As [`Self::open`], of a file that is open at its beginning; errors name it `name`.
    pub fn of_file(mut file: File, name: &Path, op_size_max: usize) -> Result<Self, JournalError> {
        let layout = read_header(&mut file, name)?;
        Ok(Self {
            path: name.to_owned(),
            file,
            layout,
            size_max: op_size_max,
            buffer: Vec::new(),
            start: 0,
            offset: HEADER_LEN,
            at_eof: false,
            last: None,
            in_progress: false,
        })
    }

    /// Whether the file is being written: then [`Self::next`] gives none where there is no further whole record yet, and goes
    /// on there when it is asked again.
    pub fn set_in_progress(&mut self, in_progress: bool) {
        self.in_progress = in_progress;
        self.at_eof = false;
    }

    /// The layout it was written in.
    pub fn layout(&self) -> LayoutVersion {
        self.layout
    }

    /// The offset of the next record.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next record; none at the end. Any damage is an error that says where.
    #[expect(clippy::should_implement_trait, reason = "a cursor: after an error there is no next")]
    pub fn next(&mut self) -> Result<Option<Record>, JournalError> {
        let (layout, size_max) = (self.layout, self.size_max);
        match self.find(|bytes| op::decode(bytes, layout, size_max))? {
            Found::Record(record, len) => {
                self.follow(record.txid, len)?;
                Ok(Some(record))
            }
            // What was read behind the last record may be half of the next one, or what it will replace.
            Found::End | Found::Bad(_) if self.in_progress => {
                self.buffer.clear();
                self.start = 0;
                self.at_eof = false;
                Ok(None)
            }
            Found::End => Ok(None),
            Found::Bad(source) => Err(self.corrupt(source)),
        }
    }

    /// As [`Self::next`], without decoding what the CRC already vouches for.
    pub(super) fn next_frame(&mut self) -> Result<Found<TxId>, JournalError> {
        let size_max = self.size_max;
        let found = self.find(|bytes| op::check(bytes, size_max))?;
        if let Found::Record(txid, len) = &found {
            self.follow(*txid, *len)?;
        }
        Ok(found)
    }

    /// Passes over records before `txid`, without decoding what the CRC already vouches for. Ends early at anything but a record:
    /// [`Self::next`] says what it is.
    ///
    /// # Errors
    /// If the file cannot be read, or an id is left out.
    pub fn skip_before(&mut self, txid: TxId) -> Result<(), JournalError> {
        let size_max = self.size_max;
        while let Found::Record(found, len) = self.find(|bytes| op::check(bytes, size_max))?
            && found < txid
        {
            self.follow(found, len)?;
        }
        Ok(())
    }

    /// Moves to the first record that can be read from here on, whatever its transaction is; false if there is none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn resync(&mut self) -> Result<bool, JournalError> {
        let (layout, size_max) = (self.layout, self.size_max);
        self.last = None;
        self.at_eof = false;
        loop {
            self.fill(OP_SIZE_MIN)?;
            match self.buffer.get(self.start) {
                None => return Ok(false),
                // Padding, or what was overwritten by it.
                Some(&OP_INVALID) => {}
                Some(_) => {
                    let found = self.find(|bytes| op::decode(bytes, layout, size_max))?;
                    if matches!(found, Found::Record(..)) {
                        return Ok(true);
                    }
                }
            }
            self.start += 1;
            self.offset += 1;
        }
    }

    /// The last record's transaction.
    pub fn last(&self) -> Option<TxId> {
        self.last
    }

    pub(super) fn corrupt(&self, source: DecodeError) -> JournalError {
        JournalError::Corrupt {
            path: self.path.clone(),
            offset: self.offset,
            last_txid: self.last.map_or(0, |txid| txid.0),
            source,
        }
    }

    fn find<T>(
        &mut self,
        decode: impl Fn(&[u8]) -> Result<(T, usize), DecodeError>,
    ) -> Result<Found<T>, JournalError> {
        let mut want = OP_SIZE_MIN;
        loop {
            self.fill(want)?;
            let bytes = self.buffer.get(self.start..).unwrap_or_default();
            match bytes.first() {
                None => return Ok(Found::End),
                Some(&OP_INVALID) if self.in_progress => return Ok(Found::End),
                Some(&OP_INVALID) => return self.padding(),
                Some(_) => {}
            }
            match decode(bytes) {
                Ok((found, len)) => return Ok(Found::Record(found, len)),
                Err(DecodeError::Short { needed }) if !self.at_eof => want = bytes.len() + needed,
                Err(error) => return Ok(Found::Bad(error)),
            }
        }
    }

    /// Behind the first padding byte only padding may follow, of 0xff or of zeros.
    fn padding<T>(&mut self) -> Result<Found<T>, JournalError> {
        let is_padding = |byte: &u8| matches!(byte, 0 | &OP_INVALID);
        let mut at = self.offset + (self.buffer.len() - self.start) as u64;
        let mut rest = self.buffer.split_off(self.start);
        self.start = self.buffer.len();
        loop {
            if !rest.iter().all(is_padding) {
                let value = i64::from(OP_INVALID);
                return Ok(Found::Bad(DecodeError::Value { what: "byte behind padding", value }));
            }
            rest.clear();
            match self.read_more(&mut rest, at)? {
                0 => return Ok(Found::End),
                len => at += len as u64,
            }
        }
    }

    fn follow(&mut self, txid: TxId, len: usize) -> Result<(), JournalError> {
        if let Some(last) = self.last
            && txid.0 != last.0 + 1
        {
            return Err(JournalError::Gap {
                path: self.path.clone(),
                offset: self.offset,
                expected: last.0 + 1,
                found: txid.0,
            });
        }
        self.last = Some(txid);
        self.start += len;
        self.offset += len as u64;
        Ok(())
    }

    /// Has at least `want` bytes unread in the buffer unless the file ends before.
    fn fill(&mut self, want: usize) -> Result<(), JournalError> {
        if self.buffer.len() - self.start >= want || self.at_eof {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut buffer = std::mem::take(&mut self.buffer);
        while buffer.len() < want && !self.at_eof {
            let at = self.offset + buffer.len() as u64;
            self.read_more(&mut buffer, at)?;
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Appends what stands from `at` on, a piece of it.
    fn read_more(&mut self, buffer: &mut Vec<u8>, at: u64) -> Result<usize, JournalError> {
        let before = buffer.len();
        let len = if self.in_progress { READ_LEN_IN_PROGRESS } else { READ_LEN };
        buffer.resize(before + len, 0);
        let piece = buffer.get_mut(before..).unwrap_or_default();
        let read = loop {
            match self.file.read_at(piece, at) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let len = *read.as_ref().unwrap_or(&0);
        buffer.truncate(before + len);
        self.at_eof |= len == 0;
        read.map_err(JournalError::io("read", &self.path))
    }
}

fn read_header(file: &mut File, path: &Path) -> Result<LayoutVersion, JournalError> {
    let bad = |reason: String| JournalError::Header { path: path.to_owned(), reason };
    let mut header = Vec::with_capacity(HEADER_LEN as usize);
    file.take(HEADER_LEN).read_to_end(&mut header).map_err(JournalError::io("read", path))?;
    let Some((layout, flags)) = header.split_first_chunk::<4>() else {
        return Err(bad("it is shorter than a header".to_owned()));
    };
    let layout = LayoutVersion(i32::from_be_bytes(*layout));
    if layout.0 == -1 {
        return Err(bad("there is only padding, probably the disk was full".to_owned()));
    }
    if layout.is_from_the_future() {
        return Err(JournalError::Newer { path: path.to_owned(), found: layout });
    }
    if !layout.is_readable() {
        return Err(bad(format!("layout version {layout} is not one this build reads")));
    }
    match flags {
        [0, 0, 0, 0] => Ok(layout),
        [_, _, _, _] => Err(bad("it has feature flags this build does not know".to_owned())),
        _ => Err(bad("it ends within the layout flags".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{EditOp, EndLogSegment, StartLogSegment};
    use crate::segment::SegmentWriter;
    use crate::types::RpcIds;

    #[test]
    fn reading_goes_on_behind_a_damaged_part() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("edits");
        let mut writer = SegmentWriter::create(&path, LayoutVersion::CURRENT).unwrap();
        let mut ends = Vec::new();
        for txid in 1..=5 {
            let op: EditOp =
                if txid == 1 { StartLogSegment {}.into() } else { EndLogSegment {}.into() };
            let mut record = Vec::new();
            op::encode(&op, TxId(txid), &RpcIds::NONE, LayoutVersion::CURRENT, &mut record);
            writer.append(&record).unwrap();
            ends.push(writer.len());
        }
        writer.sync().unwrap();
        drop(writer);
        let mut bytes = std::fs::read(&path).unwrap();
        // Padding and something else where two records were.
        let (from, to) = (ends[1] as usize, ends[3] as usize);
        bytes[from..to].fill(OP_INVALID);
        bytes[to - 1] = 7;
        std::fs::write(&path, &bytes).unwrap();
        let mut reader = SegmentReader::open(&path, 1 << 20).unwrap();
        for txid in 1..=2 {
            assert_eq!(reader.next().unwrap().unwrap().txid, TxId(txid));
        }
        reader.next().unwrap_err();
        assert!(reader.resync().unwrap());
        assert_eq!(reader.next().unwrap().unwrap().txid, TxId(5));
        assert!(reader.next().unwrap().is_none());
        assert!(!reader.resync().unwrap());
    }
}
