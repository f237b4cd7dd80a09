//! A file being read, for plain threads.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::read::{Cursor, File, ReadStatistics, ZeroCopyRead};
use crate::types::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// A file being read. Reads go straight into the caller's buffer and are checked there; large
/// buffers make few system calls.
pub struct FileReader {
    client: Arc<Client>,
    file: Arc<File>,
    cursor: Cursor,
}

impl FileReader {
    pub(super) fn open(client: &Arc<Client>, src: String, options: OpenOptions) -> Result<Self> {
        let file = client.wait(File::open(client, src, options))?;
        Ok(Self { client: Arc::clone(client), file: Arc::new(file), cursor: Cursor::default() })
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        self.file.path()
    }

    /// Readable bytes, as of the last time the NameNode was asked.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether another client was writing the file when the NameNode was asked.
    pub fn is_under_construction(&self) -> bool {
        self.file.is_under_construction()
    }

    /// Asks how long the file is now: another client may be writing it.
    pub fn refresh(&mut self) -> Result<u64> {
        self.client.wait(self.file.refresh())
    }

    /// Offset of the next sequential read.
    pub fn pos(&self) -> u64 {
        self.cursor.pos
    }

    /// Sets the offset of the next sequential read; beyond the end is an error.
    pub fn seek_to(&mut self, pos: u64) -> Result<()> {
        if pos > self.len() {
            return Err(Error::invalid("Cannot seek after EOF"));
        }
        self.file.seek(&mut self.cursor, pos);
        Ok(())
    }

    /// Reads on; 0 at the end. Fills `buffer` unless the file ends, or what follows cannot be read:
    /// the next call then says why.
    pub fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.file.read(&mut self.cursor, buffer)
    }

    /// Reads at `offset`, independent of the sequential position; short only at the end.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.file.read_at(offset, buffer)
    }

    /// Reads exactly `buffer` at `offset`.
    pub fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(offset, buffer)
    }

    /// Reads several ranges, each exactly, in any order; they may overlap. Neighbours are read
    /// together: from replicas of this machine those that share chunks of a checksum, from DataNodes
    /// those with less than 16 KiB between them, up to 1 MiB. All ranges are tried even if
    /// one fails; then the first error is returned.
    pub fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> Result<()> {
        self.file.read_ranges(ranges)
    }

    /// Reads on without copying where the replica is mapped on this machine: at most `len` bytes, as far
    /// as their block goes; empty at the end. They are verified as the file was opened, where they lie
    /// (`HasEnhancedByteBufferAccess`).
    pub fn read_zero_copy(&mut self, len: usize) -> Result<ZeroCopyRead> {
        let read = self.file.read_zero_copy(self.cursor.pos, len)?;
        let pos = self.cursor.pos + read.len() as u64;
        self.file.seek(&mut self.cursor, pos);
        Ok(read)
    }

    /// The same at `offset`, independent of the sequential position.
    pub fn read_zero_copy_at(&self, offset: u64, len: usize) -> Result<ZeroCopyRead> {
        self.file.read_zero_copy(offset, len)
    }

    /// Closes the connection to the DataNode, and lets replicas of this machine go, until the next
    /// read; idle readers should.
    pub fn unbuffer(&mut self) {
        self.cursor = Cursor::at(self.cursor.pos);
        self.file.let_go();
    }

    /// What was read, and which way it went.
    pub fn statistics(&self) -> ReadStatistics {
        self.file.statistics()
    }
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_some(buffer).map_err(Into::into)
    }
}

impl Seek for FileReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(pos) => Some(pos),
            SeekFrom::End(distance) => self.len().checked_add_signed(distance),
            SeekFrom::Current(distance) => self.pos().checked_add_signed(distance),
        };
        let invalid =
            || io::Error::new(io::ErrorKind::InvalidInput, "Cannot seek before the start");
        let pos = target.ok_or_else(invalid)?;
        self.seek_to(pos)?;
        Ok(pos)
    }
}
