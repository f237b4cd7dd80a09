//! Writing a segment.

use super::direct::Direct;
use super::format::OP_INVALID;
use crate::error::JournalError;
use crate::layout::LayoutVersion;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How far ahead of the records the file is filled.
const PREALLOCATION_LEN: usize = 1024 * 1024;

/// A segment being written. After any failed call it is poisoned: what is on disk is unknown, and
/// every later call fails.
#[derive(Debug)]
pub struct SegmentWriter {
    path: PathBuf,
    file: File,
    /// Takes the records, where the file system allows it.
    direct: Option<Direct>,
    /// Where the next record goes.
    position: u64,
    /// Up to where the file is filled; position <= filled.
    filled: u64,
    poisoned: bool,
}

impl SegmentWriter {
    /// Creates the file (or empties one that a crash left without a record) and writes its header.
    pub fn create(path: &Path, layout: LayoutVersion) -> Result<Self, JournalError> {
        let file = File::create(path).map_err(JournalError::io("create", path))?;
        let mut writer = Self {
            path: path.to_owned(),
            file,
            direct: Direct::open(path),
            position: 0,
            filled: 0,
            poisoned: false,
        };
        let mut header = layout.0.to_be_bytes().to_vec();
        // No layout flags.
        header.extend_from_slice(&[0; 4]);
        writer.append(&header)?;
        Ok(writer)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of header and records.
    pub fn len(&self) -> u64 {
        self.position
    }

    /// Whether not even the header is there.
    pub fn is_empty(&self) -> bool {
        self.position == 0
    }

    /// Writes whole records; they are durable after [`Self::sync`].
    pub fn append(&mut self, records: &[u8]) -> Result<(), JournalError> {
        self.guarded("write", |this| {
            this.preallocate(records.len() as u64)?;
            this.write(records)?;
            this.position += records.len() as u64;
            Ok(())
        })
    }

    /// Makes everything appended durable.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.guarded("sync", |this| this.file.sync_data())
    }

    /// Takes the padding off and makes the file durable as it is.
    pub fn finish(mut self) -> Result<(), JournalError> {
        self.guarded("truncate", |this| {
            this.file.set_len(this.position)?;
            this.file.sync_all()
        })
    }

    fn guarded(
        &mut self,
        verb: &'static str,
        work: impl FnOnce(&mut Self) -> std::io::Result<()>,
    ) -> Result<(), JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned { path: self.path.clone() });
        }
        self.poisoned = true;
        work(self).map_err(JournalError::io(verb, &self.path))?;
        self.poisoned = false;
        Ok(())
    }

    fn write(&mut self, records: &[u8]) -> std::io::Result<()> {
        match &mut self.direct {
            Some(direct) => match direct.append(records, self.position) {
                // Some file systems open such a descriptor and then refuse what is written; what
                // was written before by it is there.
                Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                    self.direct = None;
                    self.file.write_all_at(records, self.position)
                }
                done => done,
            },
            None => self.file.write_all_at(records, self.position),
        }
    }

    fn preallocate(&mut self, len: u64) -> std::io::Result<()> {
        // In parts: these bytes lie in the program's file.
        const PART: &[u8; 1 << 16] = &[OP_INVALID; 1 << 16];
        while self.position + len > self.filled {
            for _ in 0..PREALLOCATION_LEN / PART.len() {
                self.file.write_all_at(PART, self.filled)?;
                self.filled += PART.len() as u64;
            }
        }
        Ok(())
    }
}

/// Renames a file durably.
pub fn rename(from: &Path, to: &Path) -> Result<(), JournalError> {
    std::fs::rename(from, to).map_err(JournalError::io("rename to", to))?;
    sync_dir(to.parent().unwrap_or(to))
}

/// Makes creations, renames and removals in a directory durable.
pub fn sync_dir(dir: &Path) -> Result<(), JournalError> {
    File::open(dir)
        .and_then(|file| file.sync_all())
        .map_err(JournalError::io("sync directory", dir))
}
