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

/// Returns `true` if a directory belongs to a journal that was formatted. The journal may be in the middle of an upgrade
/// or rollback.
pub(crate) fn exists(root: &Path) -> bool {
    ["current", "previous"].iter().chain(&TEMPORARY).any(|name| root.join(name).is_dir())
}

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

/// Directories that exist while a step is in progress, at most one at a time.
const TEMPORARY: [&str; 4] = ["previous.tmp", "removed.tmp", "finalized.tmp", "lastcheckpoint.tmp"];

/// Refuses directories that contradict each other (`StorageDirectory.analyzeStorage`); changes nothing.
fn check_consistent(root: &Path) -> Result<()> {
    let has = |name: &str| root.join(name).exists();
    let (is_whole, has_previous) = (has("current/VERSION"), has("previous"));
    let refuse = |name: &str, reason: &str| {
        let advice = "keep a copy of the directory, and move away what is out of date";
        Err(Error::Unreadable { path: root.join(name), reason: format!("{reason}; {advice}") })
    };
    let mut found = TEMPORARY.into_iter().filter(|name| has(name));
    let temporary = found.next();
    if let (Some(_), Some(other)) = (temporary, found.next()) {
        return refuse(other, "another step was interrupted as well");
    }
    match temporary {
        None if has_previous && !is_whole => refuse("previous", "current has no VERSION"),
        Some("removed.tmp") if is_whole == has_previous => {
            refuse("removed.tmp", "exactly one of current and previous must exist")
        }
        Some(name @ ("previous.tmp" | "finalized.tmp")) if has_previous => {
            refuse(name, "previous also exists")
        }
        Some("previous.tmp") if !is_whole && !has("previous.tmp/VERSION") => {
            refuse("previous.tmp", "neither current nor this directory has a VERSION")
        }
        Some("finalized.tmp") if !is_whole => refuse("finalized.tmp", "current has no VERSION"),
        Some("lastcheckpoint.tmp") => {
            refuse("lastcheckpoint.tmp", "no JournalNode makes such a directory")
        }
        _ => Ok(()),
    }
}

/// Completes what a crash interrupted, or takes it back where the new directory was not complete.
///
/// # Errors
/// Fails with the directory that contradicts another one.
pub(super) fn complete_interrupted(root: &Path) -> Result<()> {
    check_consistent(root)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Directories that contradict each other were guessed at: one of them was deleted, or replaced another one.
    #[test]
    fn contradicting_directories_were_guessed_at() {
        for (names, refused) in [
            (&["previous.tmp"][..], None),
            (&["current", "previous.tmp"], None),
            (&["current", "previous"], None),
            (&["removed.tmp", "previous"], None),
            (&["current", "removed.tmp"], None),
            (&["current", "finalized.tmp"], None),
            (&["previous"], Some("previous")),
            (&["previous", "previous.tmp"], Some("previous.tmp")),
            (&["current", "previous", "finalized.tmp"], Some("finalized.tmp")),
            (&["finalized.tmp"], Some("finalized.tmp")),
            (&["removed.tmp"], Some("removed.tmp")),
            (&["current", "removed.tmp", "previous"], Some("removed.tmp")),
            (&["current", "removed.tmp", "previous.tmp"], Some("removed.tmp")),
            (&["lastcheckpoint.tmp"], Some("lastcheckpoint.tmp")),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path();
            for name in names {
                fs::create_dir(root.join(name)).unwrap();
                fs::write(root.join(name).join("VERSION"), name).unwrap();
            }
            match (complete_interrupted(root), refused) {
                (Ok(()), None) => assert!(root.join("current/VERSION").exists(), "{names:?}"),
                (Err(Error::Unreadable { path, .. }), Some(name)) => {
                    assert_eq!(path, root.join(name), "{names:?}");
                    assert!(names.iter().all(|name| root.join(name).join("VERSION").exists()));
                }
                (result, _) => panic!("{names:?}: {result:?}"),
            }
        }
    }
}
