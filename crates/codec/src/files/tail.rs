//! The end of a file, where columnar formats keep what they say of themselves.

use std::io::{self, Read, Seek, SeekFrom};

use crate::damage::{cut, damaged};

/// Footers are believed up to this length.
const FOOTER_MAX: u64 = 256 << 20;

/// A file that is read from its end.
pub(super) struct Tail<R> {
    input: R,
    format: &'static str,
    pub length: u64,
}

impl<R: Read + Seek> Tail<R> {
    pub(super) fn new(mut input: R, format: &'static str) -> io::Result<Self> {
        let length = input.seek(SeekFrom::End(0))?;
        Ok(Tail { input, format, length })
    }

    /// `length` bytes, the last of which is `behind` bytes before the end.
    pub(super) fn bytes(&mut self, length: u64, behind: u64) -> io::Result<Vec<u8>> {
        let start = length.checked_add(behind).and_then(|back| self.length.checked_sub(back));
        let Some(start) = start.filter(|_| length <= FOOTER_MAX) else {
            let cause = format!("a footer of {length} bytes");
            return Err(damaged(self.format, self.length - behind.min(self.length), cause));
        };
        self.input.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Err(cut(self.format, start + bytes.len() as u64));
        }
        Ok(bytes)
    }

    pub(super) fn wrong<T>(&self, behind: u64, cause: impl ToString) -> io::Result<T> {
        Err(damaged(self.format, self.length.saturating_sub(behind), cause))
    }
}
