//! Directories with permissions of their own.

use crate::error::Result;
use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use zerohop_daemon::storage::FileError;

/// Makes a directory if it is missing, with exactly these permissions.
pub(super) fn make_directory(path: &Path, mode: u32) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(FileError::new("create", path))?;
    let permissions = Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions)
        .map_err(FileError::new("set the permissions of", path))?;
    Ok(())
}

/// Removes a directory with all that is in it, if it is there.
pub(super) fn remove_directory(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::new("remove", path)(error).into())
        }
        _ => Ok(()),
    }
}
