//! Opening the directories: locked, checked, and found to belong together.

use super::dir::{NEW_PREFIX, NameDir};
use super::edit_log::EditLogMetrics;
use super::error::StorageError;
use super::save::remove_unfinished;
use super::shared_edits::SharedEdits;
use super::version::StorageInfo;
use super::{NameStorage, StorageConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_daemon::storage::DirectoryLock;
use zerohop_journal::layout::LayoutVersion;

impl NameStorage {
    /// Locks and checks all directories. Empty directories beside formatted ones are taken as new copies.
    pub fn open(config: StorageConfig) -> Result<Self, StorageError> {
        let mut dirs = Vec::new();
        let mut shared: Option<StorageInfo> = None;
        let mut fresh = Vec::new();
        for (root, images, edits) in configured(&config) {
            let (dir, info) = open_dir(root, images, edits)?;
            match (&shared, info) {
                (Some(known), Some(info)) => known.check_same(&info, dir.root())?,
                (None, Some(info)) => shared = Some(info),
                (_, None) => fresh.push(dirs.len()),
            }
            dirs.push(Arc::new(dir));
        }
        let Some(info) = shared else {
            return Err(StorageError::NotFormatted { path: first_root(&dirs) });
        };
        if info.layout != LayoutVersion::CURRENT && !config.accepts_older_layout {
            let path = first_root(&dirs);
            return Err(StorageError::Older { path, found: info.layout });
        }
        for dir in fresh.into_iter().filter_map(|n: usize| dirs.get(n)) {
            let current = dir.current();
            tracing::info!("{} is new and becomes a copy of the others", current.display());
            std::fs::create_dir_all(&current).map_err(StorageError::io("create", current))?;
            // Before anything else is there: if its first image fails, it is still one of them.
            if let Err(e) = info.write(dir.root()) {
                dir.fail(&e);
            }
        }
        dirs.iter().filter(|dir| dir.holds_images()).for_each(|dir| remove_unfinished(dir));
        let shared = config.shared_edits.as_ref();
        let shared = shared.map(|config| SharedEdits::open(config, &info)).transpose()?;
        let log_metrics = Arc::new(EditLogMetrics::new(&config.percentile_intervals));
        Ok(Self { config, info, dirs, saving: Arc::default(), shared, log_metrics })
    }
}

fn first_root(dirs: &[Arc<NameDir>]) -> PathBuf {
    dirs.first().map(|dir| dir.root().to_owned()).unwrap_or_default()
}

/// The configured directories, each once, with what it is for.
pub(super) fn configured(config: &StorageConfig) -> Vec<(PathBuf, bool, bool)> {
    let mut all: Vec<(PathBuf, bool, bool)> = Vec::new();
    for dir in &config.image_dirs {
        all.push((dir.clone(), true, config.edits_dirs.contains(dir)));
    }
    for dir in config.edits_dirs.iter().filter(|dir| !config.image_dirs.contains(dir)) {
        all.push((dir.clone(), false, true));
    }
    all
}

/// Locks a directory, which must exist.
pub(super) fn open_dir(
    root: PathBuf,
    images: bool,
    edits: bool,
) -> Result<(NameDir, Option<StorageInfo>), StorageError> {
    if !root.is_dir() {
        return Err(StorageError::Missing { path: root });
    }
    let lock = DirectoryLock::acquire(&root)?;
    finish_interrupted(&root)?;
    let info = StorageInfo::read(&root)?;
    if info.is_none() {
        check_unformatted(&root)?;
    }
    if info.is_some() && root.join("previous").exists() {
        return Err(not_finalized(root));
    }
    let is_current = info.as_ref().is_some_and(|info| info.layout == LayoutVersion::CURRENT);
    Ok((NameDir::new(root, (images, edits), lock, !is_current), info))
}

/// What was there before Apache's upgrade can still be gone back to. DataNodes that reported here would be told to throw away
/// their own `previous`, so it is refused.
fn not_finalized(path: PathBuf) -> StorageError {
    let reason = "previous is there: an upgrade is not finalized. Start the release that made it, run `hdfs dfsadmin \
                  -finalizeUpgrade` (or go back with -rollback), then start this NameNode.";
    StorageError::Inconsistent { path, reason: reason.to_owned() }
}

/// Without a VERSION nothing else of value may be there: a directory half gone is not a new one.
fn check_unformatted(root: &Path) -> Result<(), StorageError> {
    let inconsistent = |reason: &str| StorageError::Inconsistent {
        path: root.to_owned(),
        reason: reason.to_owned(),
    };
    if root.join("previous").exists() {
        return Err(inconsistent("version file in current directory is missing."));
    }
    let current = root.join("current");
    // What a crash, or a full disk, leaves of the first two files.
    let is_left_over = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            name == "VERSION.tmp" || name.to_string_lossy().starts_with(NEW_PREFIX)
        })
    };
    let has_more = |mut entries: std::fs::ReadDir| entries.any(|entry| !is_left_over(entry));
    match std::fs::read_dir(&current).map(has_more) {
        Ok(true) => Err(inconsistent(
            "current holds files but no VERSION; restore it, or empty current to start from the \
             other directories.",
        )),
        Ok(false) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(StorageError::io("list", current)(e)),
    }
}

/// An upgrade, rollback or finalize of Apache's that a crash cut is theirs to finish.
fn finish_interrupted(root: &Path) -> Result<(), StorageError> {
    let names = ["previous.tmp", "removed.tmp", "finalized.tmp", "lastcheckpoint.tmp"];
    match names.iter().find(|name| root.join(name).exists()) {
        Some(name) => Err(StorageError::Inconsistent {
            path: root.to_owned(),
            reason: format!(
                "{name} is there: an upgrade, rollback or checkpoint was interrupted. Start the \
                 release that began it once, it finishes it."
            ),
        }),
        None => Ok(()),
    }
}
