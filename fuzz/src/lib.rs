//! What fuzz targets share: a file in memory, for decoders that read files; compressed streams.

pub mod codec;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file in memory with a path, made once and filled for each input.
pub struct MemoryFile {
    file: File,
    path: PathBuf,
    len: u64,
}

impl MemoryFile {
    /// An empty one.
    pub fn new() -> Self {
        let fd = memfd_create("fuzz-input", MemfdFlags::CLOEXEC).expect("memory for a file");
        let file = File::from(fd);
        let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
        Self { file, path, len: 0 }
    }

    /// Its only contents are these parts, one after the other.
    pub fn fill(&mut self, parts: &[&[u8]]) -> &Path {
        let mut at = 0;
        for part in parts {
            self.file.write_all_at(part, at).expect("memory for an input");
            at += part.len() as u64;
        }
        if at < self.len {
            ftruncate(&self.file, at).expect("a shorter file");
        }
        self.len = at;
        &self.path
    }
}

impl Default for MemoryFile {
    fn default() -> Self {
        Self::new()
    }
}
