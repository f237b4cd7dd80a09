//! One folder.

use super::error::StorageError;
use super::file;
use super::lock::FolderLock;
use super::version::StorageInfo;
use super::{NameStorage, StorageConfig};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use zerohop_journal::layout::LayoutVersion;

/// A locked folder of images, of edits, or of both.
#[derive(Debug)]
pub struct NameDir {
    root: PathBuf,
    images: bool,
    edits: bool,
    failed: AtomicBool,
    reason: OnceLock<String>,
    /// It had no VERSION when it was opened, or that of an older layout; it gets ours with the next
    /// image.
    version_due: AtomicBool,
    lock: Mutex<Option<FolderLock>>,
}

impl NameDir {
    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Lets others have it; nothing may be written after.
    pub(super) fn unlock(&self) {
        self.lock.lock().take();
    }

    /// Whether it is for images.
    pub fn holds_images(&self) -> bool {
        self.images
    }

    /// Whether it is for edits.
    pub fn holds_edits(&self) -> bool {
        self.edits
    }

    /// Whether it failed and is not used any more.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Drops it; the line is logged once.
    pub(super) fn fail(&self, reason: &dyn std::fmt::Display) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            let _ = self.reason.set(reason.to_string());
            tracing::error!(
                "storage directory {} is not used any more: {reason}",
                self.root.display()
            );
        }
    }

    /// Why it failed.
    pub(super) fn failure(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    pub(super) fn current(&self) -> PathBuf {
        self.root.join("current")
    }

    pub(super) fn is_version_due(&self) -> bool {
        self.version_due.load(Ordering::Relaxed)
    }

    /// Writes VERSION if it is due.
    pub(super) fn settle(&self, info: &StorageInfo) -> Result<(), StorageError> {
        if self.is_version_due() {
            info.write(&self.root)?;
            self.version_due.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(super) fn image_path(&self, txid: i64) -> PathBuf {
        self.root.join(format!("current/fsimage_{txid:019}"))
    }

    pub(super) fn image_new_path(&self, txid: i64) -> PathBuf {
        self.root.join(format!("current/fsimage.ckpt_{txid:019}"))
    }

    /// `seen_txid`; 0 where there is none.
    pub(super) fn read_seen_txid(&self) -> Result<i64, StorageError> {
        let path = self.root.join("current/seen_txid");
        match std::fs::read_to_string(&path) {
            Ok(text) => text.trim().parse().map_err(|_| StorageError::Inconsistent {
                path: self.root.clone(),
                reason: "file seen_txid holds no number.".to_owned(),
            }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(e) => Err(StorageError::io("read", path)(e)),
        }
    }

    pub(super) fn write_seen_txid(&self, txid: i64) -> Result<(), StorageError> {
        file::replace(&self.root.join("current/seen_txid"), format!("{txid}\n").as_bytes())
    }
}

/// The configured folders, each once, with what it is for.
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

/// Locks a folder, which must exist.
pub(super) fn open_dir(
    root: PathBuf,
    images: bool,
    edits: bool,
) -> Result<(NameDir, Option<StorageInfo>), StorageError> {
    if !root.is_dir() {
        return Err(StorageError::Missing { path: root });
    }
    let lock = FolderLock::take(&root)?;
    finish_interrupted(&root)?;
    let info = StorageInfo::read(&root)?;
    if info.is_none() {
        check_unformatted(&root)?;
    }
    let is_current = info.as_ref().is_some_and(|info| info.layout == LayoutVersion::CURRENT);
    let version_due = AtomicBool::new(!is_current);
    let failed = AtomicBool::new(false);
    let (reason, lock) = (OnceLock::new(), Mutex::new(Some(lock)));
    let dir = NameDir { root, images, edits, failed, reason, version_due, lock };
    Ok((dir, info))
}

/// Without a VERSION nothing else of value may be there: a folder half gone is not a new one.
fn check_unformatted(root: &Path) -> Result<(), StorageError> {
    let inconsistent = |reason: &str| StorageError::Inconsistent {
        path: root.to_owned(),
        reason: reason.to_owned(),
    };
    if root.join("previous").exists() {
        return Err(inconsistent("version file in current directory is missing."));
    }
    let current = root.join("current");
    match std::fs::read_dir(&current).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(inconsistent(
            "current holds files but no VERSION; restore it, or empty current to start from the \
             other folders.",
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

impl NameStorage {
    /// Locks and checks all folders. Empty folders beside formatted ones are taken as new copies.
    pub fn open(config: StorageConfig) -> Result<Self, StorageError> {
        let mut dirs = Vec::new();
        let mut shared: Option<StorageInfo> = None;
        let mut fresh = Vec::new();
        for (root, images, edits) in configured(&config) {
            let (dir, info) = open_dir(root, images, edits)?;
            match (&shared, info) {
                (Some(known), Some(info)) => known.check_same(&info, dir.root())?,
                (None, Some(info)) => shared = Some(info),
                (_, None) => fresh.push(dir.current()),
            }
            dirs.push(Arc::new(dir));
        }
        let Some(info) = shared else {
            let path = dirs.first().map(|dir| dir.root().to_owned()).unwrap_or_default();
            return Err(StorageError::NotFormatted { path });
        };
        if info.layout != LayoutVersion::CURRENT && !config.accepts_older_layout {
            return Err(StorageError::Older { found: info.layout });
        }
        for current in fresh {
            tracing::info!("{} is new and becomes a copy of the others", current.display());
            std::fs::create_dir_all(&current).map_err(StorageError::io("create", current))?;
        }
        Ok(Self { config, info, dirs })
    }
}
