//! One directory.

use super::error::StorageError;
use super::version::StorageInfo;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_daemon::storage::{self, DirectoryLock};
use zerohop_journal::log::DirectoryJournal;

/// How the names of images begin while they are written.
pub(super) const NEW_PREFIX: &str = "fsimage.ckpt_";

/// What an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// To start from.
    Image,
    /// To roll back to, should a rolling upgrade fail.
    Rollback,
}

impl ImageKind {
    /// How the names of its files begin; the transaction follows.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Image => "fsimage_",
            Self::Rollback => "fsimage_rollback_",
        }
    }
}

/// A locked directory of images, of edits, or of both.
#[derive(Debug)]
pub struct NameDir {
    root: PathBuf,
    images: bool,
    edits: bool,
    failed: AtomicBool,
    reason: OnceLock<String>,
    /// It had no VERSION when it was opened, or that of an older layout; what the next image brings.
    version_due: AtomicBool,
    lock: Mutex<Option<DirectoryLock>>,
}

impl NameDir {
    pub(super) fn new(
        root: PathBuf,
        (images, edits): (bool, bool),
        lock: DirectoryLock,
        version_due: bool,
    ) -> Self {
        let (failed, reason) = (AtomicBool::new(false), OnceLock::new());
        let (version_due, lock) = (AtomicBool::new(version_due), Mutex::new(Some(lock)));
        Self { root, images, edits, failed, reason, version_due, lock }
    }

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
    pub(crate) fn failure(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    pub(super) fn current(&self) -> PathBuf {
        self.root.join("current")
    }

    /// Its segments.
    pub(super) fn journal(&self, op_size_max: usize) -> DirectoryJournal {
        DirectoryJournal::new(self.current(), op_size_max)
    }

    pub(super) fn is_version_due(&self) -> bool {
        self.version_due.load(Ordering::Relaxed)
    }

    /// Writes VERSION if it is due.
    pub(super) fn write_version_if_due(&self, info: &StorageInfo) -> Result<(), StorageError> {
        if self.is_version_due() {
            info.write(&self.root)?;
            self.version_due.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(super) fn image_path(&self, kind: ImageKind, txid: i64) -> PathBuf {
        self.root.join(format!("current/{}{txid:019}", kind.prefix()))
    }

    pub(super) fn image_new_path(&self, txid: i64) -> PathBuf {
        self.root.join(format!("current/{NEW_PREFIX}{txid:019}"))
    }

    /// Returns the path of an image while it arrives from another NameNode. Its name is one of an unfinished image too, which
    /// the next start removes.
    pub(super) fn image_received_path(&self, kind: ImageKind, txid: i64) -> PathBuf {
        self.root.join(format!("current/{NEW_PREFIX}received_{}{txid:019}", kind.prefix()))
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
        let path = self.root.join("current/seen_txid");
        Ok(storage::replace(&path, format!("{txid}\n").as_bytes())?)
    }
}
