//! Small files written so that a crash leaves the old or the new one.

use super::error::StorageError;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Replaces a file's contents atomically and durably.
pub(super) fn replace(path: &Path, contents: &[u8]) -> Result<(), StorageError> {
    let mut tmp = path.as_os_str().to_owned();
    tmp.push(".tmp");
    let tmp = Path::new(&tmp);
    let mut file = File::create(tmp).map_err(StorageError::io("create", tmp))?;
    file.write_all(contents)
        .and_then(|()| file.sync_all())
        .map_err(StorageError::io("write", tmp))?;
    rename(tmp, path)
}

/// Renames durably.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), StorageError> {
    std::fs::rename(from, to).map_err(StorageError::io("rename to", to))?;
    match to.parent() {
        Some(dir) => Ok(zerohop_journal::segment::sync_dir(dir)?),
        None => Ok(()),
    }
}
