//! The block pools of a volume that is not in use: which there are, and how one is removed.

use crate::error::{Error, Result};
use crate::version::sync_directory;
use std::fs;
use std::path::Path;

/// The ids of the block pools that have a directory on the volume at `root`.
pub(crate) fn pools(root: &Path) -> Result<Vec<String>> {
    let current = root.join("current");
    let io = |e: std::io::Error| Error::io("volume", "list", &current, e);
    let entries = match fs::read_dir(&current) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io)?,
    };
    let names = entries.map(|entry| Ok(entry.map_err(io)?.file_name().into_string().ok()));
    let names: Result<Vec<_>> = names.collect();
    Ok(names?.into_iter().flatten().filter(|name| name.starts_with("BP-")).collect())
}

/// Whether a pool's directory, if it has one on the volume at `root`, is without a replica that was
/// finalized or is being written.
pub fn is_pool_empty(root: &Path, id: &str) -> Result<bool> {
    let current = root.join("current").join(id).join("current");
    let has = pools(root)?.iter().any(|pool| pool == id);
    Ok(!has || (is_bare(&current.join("finalized"))? && is_bare(&current.join("rbw"))?))
}

/// Removes a pool's directory with all that is in it, if it has one on the volume at `root`. No DataNode may
/// have the pool open.
pub fn delete_pool(root: &Path, id: &str) -> Result<()> {
    // Of the ids that may come from anywhere, those count that are names of directories here.
    if !pools(root)?.iter().any(|pool| pool == id) {
        return Ok(());
    }
    let directory = root.join("current").join(id);
    fs::remove_dir_all(&directory).map_err(|e| Error::io("block pool", "delete", &directory, e))?;
    sync_directory(&root.join("current"))
}

/// Whether there is no file below a directory, which need not be there.
fn is_bare(directory: &Path) -> Result<bool> {
    let io = |e: std::io::Error| Error::io("block pool", "list", directory, e);
    let entries = match fs::read_dir(directory) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        entries => entries.map_err(io)?,
    };
    for entry in entries {
        let entry = entry.map_err(io)?;
        if !entry.file_type().map_err(io)?.is_dir() || !is_bare(&entry.path())? {
            return Ok(false);
        }
    }
    Ok(true)
}
