//! Upgrades of a journal's directory: what was before is kept in `previous` until the upgrade is finalized.
//!
//! ```text
//! begin       current -> previous.tmp, a new current with links to the segments
//! complete    previous.tmp -> previous
//! finalize    previous -> finalized.tmp, removed
//! roll back   current -> removed.tmp, previous -> current, removed.tmp removed
//! ```
//! Source: `NNUpgradeUtil`, `Storage.StorageDirectory.analyzeStorage`.

use super::directory::{make_directory, remove_directory};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use zerohop_daemon::storage::{self, FileError};

/// Where the files from before an upgrade are.
pub(super) fn previous(root: &Path) -> PathBuf {
    root.join("previous")
}

pub(super) fn begin(root: &Path, mode: u32) -> Result<()> {
    let (current, kept) = (root.join("current"), root.join("previous.tmp"));
    if previous(root).exists() {
        let path = previous(root);
        let reason = "an upgrade before this one was not finalized".to_owned();
        return Err(Error::Unreadable { path, reason });
    }
    storage::rename(&current, &kept)?;
    make_directory(&current, mode)?;
    let entries = std::fs::read_dir(&kept).map_err(FileError::new("list", &kept))?;
    for entry in entries {
        let entry = entry.map_err(FileError::new("list", &kept))?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("edits") {
            let to = current.join(&name);
            std::fs::hard_link(entry.path(), &to).map_err(FileError::new("link", &to))?;
        }
    }
    for name in ["last-promised-epoch", "last-writer-epoch", "committed-txid"] {
        let from = kept.join(name);
        if from.exists() {
            std::fs::copy(&from, current.join(name)).map_err(FileError::new("copy", &from))?;
        }
    }
    Ok(storage::sync_directory(&current)?)
}

pub(super) fn complete(root: &Path) -> Result<()> {
    Ok(storage::rename(&root.join("previous.tmp"), &previous(root))?)
}

pub(super) fn finalize(root: &Path) -> Result<()> {
    let previous = previous(root);
    if !previous.exists() {
        return Ok(());
    }
    let removed = root.join("finalized.tmp");
    storage::rename(&previous, &removed)?;
    remove_directory(&removed)
}

pub(super) fn roll_back(root: &Path) -> Result<()> {
    let previous = previous(root);
    if !previous.exists() {
        return Ok(());
    }
    let removed = root.join("removed.tmp");
    storage::rename(&root.join("current"), &removed)?;
    storage::rename(&previous, &root.join("current"))?;
    remove_directory(&removed)
}

/// Completes what a crash interrupted, or takes it back where the new directory was not complete.
pub(super) fn complete_interrupted(root: &Path) -> Result<()> {
    let current = root.join("current");
    let is_whole = current.join("VERSION").exists();
    let kept = root.join("previous.tmp");
    if kept.exists() {
        if is_whole {
            storage::rename(&kept, &previous(root))?;
        } else {
            remove_directory(&current)?;
            storage::rename(&kept, &current)?;
        }
    }
    let removed = root.join("removed.tmp");
    if removed.exists() {
        if is_whole {
            remove_directory(&removed)?;
        } else {
            storage::rename(&removed, &current)?;
        }
    }
    remove_directory(&root.join("finalized.tmp"))
}
