//! A file that is being read, as Rust's readers of formats want it.

use std::io::{self, Read, Seek, SeekFrom};

use super::item::Item;
use super::store::{Input, OpenHow};
use crate::failure::Outcome;

/// An input with its length and its place.
pub struct Seekable {
    input: Box<dyn Input>,
    length: u64,
    at: u64,
}

impl Seekable {
    /// Opens a file that was looked up.
    pub fn open(item: &Item, how: OpenHow) -> Outcome<Seekable> {
        let length = item.found_file()?.length.max(0).unsigned_abs();
        Ok(Seekable { input: item.store.open(&item.path, how)?, length, at: 0 })
    }
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        // Behind the end there is nothing to read, and inputs need not take such a place.
        let known = at.min(self.length);
        self.input.seek_to(known).map_err(|failure| io::Error::other(failure.text))?;
        self.at = known;
        Ok(at)
    }
}
