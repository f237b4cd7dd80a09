//! Directories with all that is in them: whether they hold blocks, and how they are deleted and linked.

use crate::error::{Error, Result};
use std::fs;
use std::io;
use std::path::Path;

/// Prefix of the names of block and meta files.
const BLOCK_PREFIX: &str = "blk_";
/// Prefix of the names of directories with finalized blocks.
const SUBDIR_PREFIX: &str = "subdir";

/// Returns `true` if there is a block or meta file below a directory for which `matches` is true. `answered` is called for
/// each directory that was read.
pub(crate) fn has_block_file(
    directory: &Path,
    answered: &dyn Fn(),
    matches: &dyn Fn(&fs::Metadata) -> bool,
) -> Result<bool> {
    let is_match = |entry: &fs::DirEntry| Ok(is_block_file(entry) && matches(&entry.metadata()?));
    has_file(directory, answered, &is_match)
}

/// Like [`has_block_file`], for all files and by their directory entries.
pub(crate) fn has_file(
    directory: &Path,
    answered: &dyn Fn(),
    matches: &dyn Fn(&fs::DirEntry) -> io::Result<bool>,
) -> Result<bool> {
    let io = |e: io::Error| Error::io("volume", "list", directory, e);
    let entries = match fs::read_dir(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries.map_err(io)?,
    };
    answered();
    let mut below = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        if entry.file_type().map_err(io)?.is_dir() {
            below.push(entry.path());
        } else if matches(&entry).map_err(io)? {
            return Ok(true);
        }
    }
    for path in below {
        if has_file(&path, answered, matches)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes a directory with all that is in it. `answered` is called for each directory that was deleted.
pub(crate) fn delete_tree(directory: &Path, answered: &dyn Fn()) -> Result<()> {
    let io = |e: io::Error| Error::io("volume", "delete", directory, e);
    if !fs::symlink_metadata(directory).map_err(io)?.is_dir() {
        return fs::remove_file(directory).map_err(io);
    }
    for entry in fs::read_dir(directory).map_err(io)? {
        let entry = entry.map_err(io)?;
        match entry.file_type().map_err(io)?.is_dir() {
            true => delete_tree(&entry.path(), answered)?,
            false => fs::remove_file(entry.path()).map_err(io)?,
        }
    }
    answered();
    fs::remove_dir(directory).map_err(io)
}

/// Makes a directory with hard links of the block and meta files of another one, and of those in its directories of
/// blocks (`DataStorage.linkBlocksHelper`). A source that does not exist is skipped. Returns the number of links.
pub(crate) fn link_blocks(
    from: &Path,
    to: &Path,
    create: &dyn Fn(&Path) -> Result<()>,
    answered: &dyn Fn(),
) -> Result<usize> {
    let entries = match fs::read_dir(from) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(|e| Error::io("volume", "list", from, e))?,
    };
    create(to)?;
    answered();
    let mut links = 0;
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("volume", "list", from, e))?;
        let target = to.join(entry.file_name());
        let is_subdir = || entry.file_name().to_string_lossy().starts_with(SUBDIR_PREFIX);
        if is_block_file(&entry) {
            let linked = fs::hard_link(entry.path(), &target);
            linked.map_err(|e| Error::io("volume", "make a link at", &target, e))?;
            links += 1;
        } else if is_subdir() {
            links += link_blocks(&entry.path(), &target, create, answered)?;
        }
    }
    Ok(links)
}

fn is_block_file(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(BLOCK_PREFIX)
}
