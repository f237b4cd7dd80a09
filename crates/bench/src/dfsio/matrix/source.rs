//! What can be read: files of the cluster, and plain files of the same bytes.

use crate::files::Failure;
use crate::raw::Scratch;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Seek};
use std::os::unix::fs::FileExt;
use zerohop_client::blocking::{FileReader, FileSystem};
use zerohop_client::{OpenOptions, ReadStatistics};

/// Files by number.
pub trait Source: Sync {
    /// Opens one, at its start.
    fn open(&self, number: usize) -> Result<Box<dyn Reader>, Failure>;
}

/// An open file.
pub trait Reader: Send {
    /// Reads on; 0 at the end.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure>;
    /// Fills the buffer from `offset` on.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure>;
    /// How its bytes were read.
    fn statistics(&self) -> ReadStatistics;

    /// The next bytes where they lie, or copied where that cannot be; how many there are. With `look` each
    /// line of the processor's cache is read, as verifying does: a zero-copy read alone moves nothing.
    fn read_zero_copy(&mut self, buffer: &mut [u8], _look: bool) -> Result<usize, Failure> {
        self.read(buffer)
    }

    /// Fills each buffer from its offset on.
    fn read_ranges(&mut self, ranges: &mut [(u64, &mut [u8])]) -> Result<(), Failure> {
        ranges.iter_mut().try_for_each(|(offset, buffer)| self.read_at(*offset, buffer))
    }
}

/// Files of the cluster.
pub struct Cluster {
    /// A client that reads in the mode to be measured.
    pub fs: FileSystem,
    /// The files by number.
    pub paths: Vec<String>,
    /// How they are opened.
    pub options: OpenOptions,
}

impl Source for Cluster {
    fn open(&self, number: usize) -> Result<Box<dyn Reader>, Failure> {
        let path = self.paths.get(number).ok_or("no such file")?;
        Ok(Box::new(self.fs.open_with(path, self.options)?))
    }
}

impl Reader for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        Ok(self.read_some(buffer)?)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        Ok(self.read_exact_at(offset, buffer)?)
    }

    fn statistics(&self) -> ReadStatistics {
        FileReader::statistics(self)
    }

    fn read_zero_copy(&mut self, buffer: &mut [u8], look: bool) -> Result<usize, Failure> {
        let read = FileReader::read_zero_copy(self, buffer.len())?;
        if look {
            // SAFETY: the files are the benchmark's own, and are not written any more.
            let bytes = unsafe { read.as_slice() };
            black_box(bytes.iter().step_by(64).fold(0, |all, byte| all ^ byte));
        }
        Ok(read.len())
    }

    fn read_ranges(&mut self, ranges: &mut [(u64, &mut [u8])]) -> Result<(), Failure> {
        Ok(FileReader::read_ranges(self, ranges)?)
    }
}

/// Plain files.
pub struct Plain(pub Vec<Scratch>);

impl Source for Plain {
    fn open(&self, number: usize) -> Result<Box<dyn Reader>, Failure> {
        let file = self.0.get(number).ok_or("no such file")?;
        Ok(Box::new(file.reopen()?))
    }
}

impl Reader for File {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        Ok(Read::read(self, buffer)?)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        Ok(self.read_exact_at(buffer, offset)?)
    }

    fn statistics(&self) -> ReadStatistics {
        ReadStatistics::default()
    }
}

/// The open block files of the files of a cluster, as one source for random reads.
pub struct Blocks {
    /// For each file, its blocks: their offset in it, and the block file.
    pub files: Vec<Vec<(u64, std::path::PathBuf)>>,
}

impl Source for Blocks {
    fn open(&self, number: usize) -> Result<Box<dyn Reader>, Failure> {
        let blocks = self.files.get(number).ok_or("no such file")?;
        let open = |(offset, path): &(u64, std::path::PathBuf)| Ok((*offset, File::open(path)?));
        let blocks: Result<Vec<_>, std::io::Error> = blocks.iter().map(open).collect();
        Ok(Box::new(OpenBlocks { blocks: blocks?, at: 0 }))
    }
}

struct OpenBlocks {
    blocks: Vec<(u64, File)>,
    at: usize,
}

impl Reader for OpenBlocks {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        while let Some((_, file)) = self.blocks.get_mut(self.at) {
            match Read::read(file, buffer)? {
                0 => {
                    self.at += 1;
                    if let Some((_, next)) = self.blocks.get_mut(self.at) {
                        next.rewind()?;
                    }
                }
                read => return Ok(read),
            }
        }
        Ok(0)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        let after = self.blocks.partition_point(|(start, _)| *start <= offset);
        let (start, file) =
            after.checked_sub(1).and_then(|at| self.blocks.get(at)).ok_or("no such block")?;
        Ok(file.read_exact_at(buffer, offset - start)?)
    }

    fn statistics(&self) -> ReadStatistics {
        ReadStatistics::default()
    }
}
