//! Numbers that a journal must not forget.

use crate::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerohop_daemon::storage::{self, FileError};

/// A number in a file of its own, in decimal digits and with a newline, 0 while there is no file (`PersistentLongFile`).
#[derive(Debug)]
pub(crate) struct PersistentNumber {
    path: PathBuf,
    value: u64,
}

impl PersistentNumber {
    /// Reads the file.
    pub(crate) fn open(path: PathBuf) -> Result<Self> {
        let value = match std::fs::read_to_string(&path) {
            Ok(text) => text.trim_end().parse().map_err(|_| Error::Unreadable {
                path: path.clone(),
                reason: format!("{text:?} is no number"),
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(FileError::new("read", &path)(error).into()),
        };
        Ok(Self { path, value })
    }

    pub(crate) fn get(&self) -> u64 {
        self.value
    }

    /// Durable when this returns.
    pub(crate) fn set(&mut self, value: u64) -> Result<()> {
        if value != self.value {
            storage::replace(&self.path, format!("{value}\n").as_bytes())?;
            self.value = value;
        }
        Ok(())
    }
}

/// The last transaction known to be committed: 8 bytes, most significant first (`BestEffortLongFile`). It is a lower bound,
/// so a crash may take it back.
#[derive(Debug)]
pub(crate) struct CommittedTxid {
    path: PathBuf,
    file: File,
    value: Option<u64>,
}

impl CommittedTxid {
    /// Opens the file, and makes it if there is none.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(FileError::new("open", path))?;
        let mut bytes = [0; 8];
        let value = match file.read_exact_at(&mut bytes, 0) {
            // Apache's upgrade writes -12345 (INVALID_TXID) if no transaction was committed before.
            Ok(()) => u64::try_from(i64::from_be_bytes(bytes)).ok(),
            // Nothing was ever committed, or a crash came in between.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(FileError::new("read", path)(error).into()),
        };
        Ok(Self { path: path.to_owned(), file, value })
    }

    pub(crate) fn get(&self) -> Option<u64> {
        self.value
    }

    /// Written, not synced.
    pub(crate) fn set(&mut self, value: u64) -> Result<()> {
        let written = self.file.write_all_at(&value.to_be_bytes(), 0);
        written.map_err(FileError::new("write", &self.path))?;
        self.value = Some(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_as_apache_keeps_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("last-promised-epoch");
        let mut epoch = PersistentNumber::open(path.clone()).unwrap();
        assert_eq!(epoch.get(), 0);
        epoch.set(7).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"7\n");
        assert_eq!(PersistentNumber::open(path.clone()).unwrap().get(), 7);
        std::fs::write(&path, "x").unwrap();
        let error = PersistentNumber::open(path).unwrap_err().to_string();
        assert!(error.ends_with("\"x\" is no number"), "{error}");

        let path = directory.path().join("committed-txid");
        let mut committed = CommittedTxid::open(&path).unwrap();
        assert_eq!((committed.get(), std::fs::read(&path).unwrap().len()), (None, 0));
        committed.set(258).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(CommittedTxid::open(&path).unwrap().get(), Some(258));
        std::fs::write(&path, (-12345_i64).to_be_bytes()).unwrap();
        assert_eq!(CommittedTxid::open(&path).unwrap().get(), None, "INVALID_TXID");
    }
}
