//! The trash of a block pool on a volume: while a rolling upgrade is under way, replicas that the NameNode has deleted are
//! kept there, so that a rollback finds them again (`BlockPoolSliceStorage`).
//!
//! ```text
//! <volume>/current/BP-<n>-<ip>-<time>/
//!     RollingUpgradeInProgress             a rolling upgrade was heard of and is not finalized
//!     trash/finalized/subdir<n>/...        replicas, where they were below `current`
//!     trash/rbw/
//! ```

use crate::error::{Error, Result};
use crate::mode::DirectoryMode;
use crate::version::sync_directory;
use parking_lot::Mutex;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) const MARKER: &str = "RollingUpgradeInProgress";

/// How far the rolling upgrade of a block pool is, as its NameNode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradePhase {
    /// Deleted replicas go to the trash.
    UnderWay,
    /// The trash is deleted.
    Finalized,
    /// There is none, or it was rolled back: deleted replicas are gone at once, and what is in the trash stays for a start
    /// with `-rollback`.
    None,
}

/// The trash of a block pool on a volume.
#[derive(Debug)]
pub struct Trash {
    /// The pool's directory.
    pub(crate) root: PathBuf,
    pub(crate) mode: DirectoryMode,
    enabled: AtomicBool,
    /// What the disk was brought to last, or is being brought to.
    phase: Mutex<Option<UpgradePhase>>,
    /// Held while the marker and the directory of the trash come and go.
    changing: Mutex<()>,
}

impl Trash {
    pub(crate) fn new(root: PathBuf, mode: DirectoryMode) -> Self {
        let (enabled, phase) = (AtomicBool::new(false), Mutex::new(None));
        Self { root, mode, enabled, phase, changing: Mutex::default() }
    }

    /// From now on deletions are as this phase wants them; no disk is asked. True if [`Trash::apply`] is to be called.
    #[must_use]
    pub fn enter(&self, phase: UpgradePhase) -> bool {
        self.enabled.store(phase == UpgradePhase::UnderWay, Ordering::Release);
        let before = self.phase.lock().replace(phase);
        before != Some(phase) && phase != UpgradePhase::None
    }

    /// Brings the disk to a phase that was entered: writes the marker, or deletes it with the trash. Blocks.
    ///
    /// # Errors
    /// If a file or directory cannot be written or deleted; the next [`Trash::enter`] asks for it again.
    pub fn apply(&self, phase: UpgradePhase) -> Result<()> {
        let applied = match phase {
            UpgradePhase::UnderWay => self.mark(),
            UpgradePhase::Finalized => self.clear(),
            UpgradePhase::None => Ok(()),
        };
        applied.inspect_err(|_| *self.phase.lock() = None)
    }

    fn mark(&self) -> Result<()> {
        let _one_at_a_time = self.changing.lock();
        let marker = self.root.join(MARKER);
        let made = fs::File::options().write(true).create(true).truncate(false).open(&marker);
        made.map_err(|e| Error::io("block pool", "create", &marker, e))?;
        sync_directory(&self.root)
    }

    /// What was kept from before the upgrade goes too: the trash, and with the marker the `previous` of a new layout.
    fn clear(&self) -> Result<()> {
        let _one_at_a_time = self.changing.lock();
        // Under another name first: what the next upgrade throws away while this is deleted stays.
        self.remove(&self.directory(), "trash.tmp")?;
        let marker = self.root.join(MARKER);
        if !marker.exists() {
            return Ok(());
        }
        self.remove(&self.root.join("previous"), "finalized.tmp")?;
        tracing::info!("the rolling upgrade is finalized: deleting {}", marker.display());
        fs::remove_file(&marker).map_err(|e| Error::io("block pool", "delete", &marker, e))
    }

    /// Deletes the `previous` of an upgrade that is finalized (`BlockPoolSliceStorage.doFinalize`). Blocks.
    ///
    /// # Errors
    /// Fails if a directory cannot be renamed or deleted; a restart deletes the rest.
    pub fn finalize_upgrade(&self) -> Result<()> {
        let _one_at_a_time = self.changing.lock();
        let previous = self.root.join("previous");
        if previous.exists() {
            tracing::info!("the upgrade is finalized: deleting {}", previous.display());
            self.remove(&previous, "finalized.tmp")?;
        }
        Ok(())
    }

    fn remove(&self, directory: &Path, aside: &str) -> Result<()> {
        let aside = self.root.join(aside);
        let gone = |done: io::Result<()>| match done {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(|e| Error::io("block pool", "delete", directory, e)),
        };
        gone(fs::remove_dir_all(&aside))?;
        gone(fs::rename(directory, &aside))?;
        gone(fs::remove_dir_all(&aside))
    }

    /// Where deleted replicas are kept.
    pub(crate) fn directory(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// Whether deleted replicas are to be kept. Where `previous` keeps them already, they are not kept twice.
    pub(crate) fn keeps_deleted(&self) -> bool {
        self.enabled.load(Ordering::Acquire) && !self.root.join("previous").exists()
    }

    /// Where a directory below `current` has its place in the trash.
    pub(crate) fn place_of(&self, directory: &Path) -> Option<PathBuf> {
        let below = directory.strip_prefix(self.root.join("current")).ok()?;
        Some(self.directory().join(below))
    }
}
