//! The compressed stream below a decoder: how far it was read, and whether it failed.

use std::io::{self, BufRead, Read};

use crate::damage::{cut, damaged};

/// Counts the bytes that a decoder takes.
pub(crate) struct Source<R> {
    input: R,
    /// Bytes that `peek` returned and nobody has taken.
    ahead: Vec<u8>,
    /// Bytes taken so far.
    offset: u64,
    /// The stream itself failed; its error is no damage.
    failed: bool,
}

impl<R: BufRead> Source<R> {
    pub(crate) fn new(input: R) -> Self {
        Source::starting_at(input, 0)
    }

    /// A source whose first byte is this far into the whole stream.
    pub(crate) fn starting_at(input: R, offset: u64) -> Self {
        Source { input, ahead: Vec::new(), offset, failed: false }
    }

    /// Returns the stream below, without the bytes that [`peek`](Self::peek) has returned.
    pub(crate) fn into_inner(self) -> R {
        self.input
    }

    /// Returns the next `count` bytes without taking them; fewer at the end of the stream.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.ahead.len() < count {
            let more = match self.input.fill_buf() {
                Ok(more) => more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            };
            let taken = more.len().min(count - self.ahead.len());
            if taken == 0 {
                break;
            }
            self.ahead.extend_from_slice(&more[..taken]);
            self.input.consume(taken);
        }
        Ok(&self.ahead[..self.ahead.len().min(count)])
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Fills as much of `buffer` as there is; less than its length at the end of the stream.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// A big-endian number of 4 bytes; `None` if the stream is at its end.
    pub(crate) fn u32_or_end(&mut self, format: &'static str) -> io::Result<Option<u32>> {
        let mut bytes = [0; 4];
        match self.fill(&mut bytes)? {
            0 => Ok(None),
            4 => Ok(Some(u32::from_be_bytes(bytes))),
            _ => Err(cut(format, self.offset)),
        }
    }

    pub(crate) fn u32(&mut self, format: &'static str) -> io::Result<u32> {
        self.u32_or_end(format)?.ok_or_else(|| cut(format, self.offset))
    }

    /// Replaces the contents of `into` by the next bytes. The buffer grows with what arrives.
    pub(crate) fn read_into(
        &mut self,
        format: &'static str,
        count: usize,
        into: &mut Vec<u8>,
    ) -> io::Result<()> {
        into.clear();
        self.by_ref().take(count as u64).read_to_end(into)?;
        if into.len() < count { Err(cut(format, self.offset)) } else { Ok(()) }
    }

    /// What a decoder's error was about: the stream's own errors pass, others are damage.
    pub(crate) fn explain(&self, format: &'static str, error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ if self.failed => error,
            io::ErrorKind::UnexpectedEof => cut(format, self.offset),
            _ => damaged(format, self.offset, error),
        }
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.ahead.is_empty() {
            return Ok(&self.ahead);
        }
        match self.input.fill_buf() {
            Ok(bytes) => Ok(bytes),
            Err(error) => {
                self.failed = error.kind() != io::ErrorKind::Interrupted;
                Err(error)
            }
        }
    }

    fn consume(&mut self, count: usize) {
        self.offset += count as u64;
        let ahead = count.min(self.ahead.len());
        self.ahead.drain(..ahead);
        self.input.consume(count - ahead);
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.ahead.is_empty() {
            let count = self.ahead.as_slice().read(buffer)?;
            self.consume(count);
            return Ok(count);
        }
        // Large reads go past the buffer of the stream below.
        let count = self.input.read(buffer).inspect_err(|error| {
            self.failed = error.kind() != io::ErrorKind::Interrupted;
        })?;
        self.offset += count as u64;
        Ok(count)
    }
}
