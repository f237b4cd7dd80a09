//! The block pools of a volume that is not in use: which there are, and how one is removed.

use crate::error::{Error, Result};
use crate::tree::{has_block_file, has_file};
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

/// Directories with replicas besides `finalized` and `rbw`: copied from memory, or kept by an upgrade.
const OTHER_REPLICA_DIRECTORIES: [&str; 6] = [
    "current/lazypersist",
    "previous",
    "previous.tmp",
    "removed.tmp",
    "lastcheckpoint.tmp",
    "trash",
];

/// Returns `true` if the directories of finalized replicas and of those being written are empty, and no directory that an
/// upgrade keeps holds a replica.
pub fn is_pool_empty(root: &Path, id: &str) -> Result<bool> {
    if !pools(root)?.iter().any(|pool| pool == id) {
        return Ok(true);
    }
    let pool = root.join("current").join(id);
    for name in ["current/finalized", "current/rbw"] {
        if has_file(&pool.join(name), &|| (), &|_| Ok(true))? {
            return Ok(false);
        }
    }
    for name in OTHER_REPLICA_DIRECTORIES {
        if has_block_file(&pool.join(name), &|| (), &|_| true)? {
            return Ok(false);
        }
    }
    Ok(true)
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
