//! Small files that survive a crash: afterwards either the old or the new content is there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A system call on a file failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {}: {source}", path.display())]
pub struct FileError {
    /// What was tried: "create", "rename to".
    pub verb: &'static str,
    /// On which file.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl FileError {
    /// For `map_err` of the call that was tried.
    pub fn new(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { verb, path, source }
    }
}

/// Replaces a file's content atomically and durably, by way of a file beside it whose name ends in `.tmp`.
///
/// # Errors
/// If the file beside it cannot be written or synced, or not be renamed.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = Path::new(&temporary);
    let mut file = File::create(temporary).map_err(FileError::new("create", temporary))?;
    file.write_all(content)
        .and_then(|()| file.sync_all())
        .map_err(FileError::new("write", temporary))?;
    rename(temporary, path)
}

/// Renames a file durably.
///
/// # Errors
/// If it cannot be renamed, or its directory not be synced.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::new("rename to", to))?;
    to.parent().map_or(Ok(()), sync_directory)
}

/// Makes names that were created in a directory, or moved there, survive a power cut.
///
/// # Errors
/// If the directory cannot be opened or synced.
pub fn sync_directory(directory: &Path) -> Result<(), FileError> {
    let synced = File::open(directory).and_then(|opened| opened.sync_all());
    synced.map_err(FileError::new("sync the directory", directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("seen_txid");
        replace(&path, b"1\n").unwrap();
        replace(&path, b"2\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2\n");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let error = replace(&directory.path().join("none/x"), b"").unwrap_err().to_string();
        assert!(error.starts_with("cannot create ") && error.contains("none/x.tmp: "), "{error}");
    }
}
