//! What the machine allows: the same bytes moved and the same waits, without any HDFS.

mod calls;
mod disk;
mod round_trip;
mod stream;

pub use calls::{SmallCalls, small_calls};
pub use disk::{append_and_sync, read_cached};
pub use round_trip::round_trip;
pub use stream::{Sender, SocketKind, StreamLimit, stream, stream_best};

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file of pseudo-random bytes in the page cache, written in large calls; deleted when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// The open file.
    pub file: File,
    /// Its bytes.
    pub len: u64,
}

impl Scratch {
    /// Makes one in `directory`.
    pub fn create(directory: &Path, len: u64) -> io::Result<Self> {
        let mut part = vec![0; 4 << 20];
        fastrand::Rng::with_seed(7).fill(&mut part);
        Self::create_of(directory, len, &part)
    }

    /// The same of `part` again and again, a call each.
    pub fn create_of(directory: &Path, len: u64, part: &[u8]) -> io::Result<Self> {
        let path =
            directory.join(format!(".zerohop-bench-{}-{}", std::process::id(), fastrand::u64(..)));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
        let mut left = len;
        while left > 0 {
            let take = left.min(part.len() as u64);
            file.write_all(&part[..take as usize])?;
            left -= take;
        }
        Ok(Self { path, file, len })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it once more, at its start.
    pub fn reopen(&self) -> io::Result<File> {
        File::open(&self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
