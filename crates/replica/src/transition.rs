//! Rollback, upgrade and format of a block pool when it is opened (`BlockPoolSliceStorage.doTransition`), and the end of an
//! upgrade.
//!
//! An upgrade is due if the NameNode's creation time is newer: the NameNode was started with `-upgrade`. The replicas stay in
//! `previous` as hard links until the upgrade is finalized, so that a rollback of the NameNode finds them.

use crate::error::{Error, Result};
use crate::mode::DirectoryMode;
use crate::storage_state::{Level, StorageRoot};
use crate::tree::link_blocks;
use crate::version::{PoolVersion, inconsistent, sync_directory};
use std::fs;
use std::path::{Path, PathBuf};

/// Options for opening a block pool.
#[derive(Clone, Copy)]
pub struct StartOptions<'a> {
    /// The DataNode was started with `-rollback`.
    pub rolls_back: bool,
    /// Called whenever the disk has answered.
    pub answered: &'a dyn Fn(),
}

impl Default for StartOptions<'_> {
    fn default() -> Self {
        Self { rolls_back: false, answered: &|| () }
    }
}

/// A block pool's directory that a start brings to the NameNode's state.
pub(crate) struct PoolStart<'a> {
    /// The volume's directory.
    pub(crate) volume: &'a Path,
    /// The pool's directory.
    pub(crate) root: &'a Path,
    pub(crate) mode: DirectoryMode,
    pub(crate) expected: &'a PoolVersion,
    pub(crate) options: StartOptions<'a>,
}

impl PoolStart<'_> {
    /// Completes what was interrupted, rolls back if the DataNode was started with `-rollback`, checks the VERSION against the NameNode's, and
    /// upgrades if the NameNode was upgraded. A new pool is formatted. `before_upgrade` is called before the replicas get links.
    ///
    /// # Errors
    /// Fails with the directory whose state cannot be completed; the next step says what to do.
    pub(crate) fn run(&self, before_upgrade: impl FnOnce() -> Result<()>) -> Result<()> {
        self.mode.create(self.root)?;
        let directories = StorageRoot::new(self.root, Level::Pool, self.options.answered);
        if !directories.settle()? {
            self.mode.create(&self.current())?;
            return self.expected.write(&self.version_path());
        }
        if self.options.rolls_back && directories.has("previous")? {
            self.roll_back(&directories)?;
        }
        let path = self.version_path();
        let Some(found) = PoolVersion::read(&path)? else {
            return Err(inconsistent(&path, "it is gone".to_owned()));
        };
        found.check(self.expected, &path)?;
        if found.ctime < self.expected.ctime {
            before_upgrade()?;
            self.upgrade(&directories, found.ctime)?;
        }
        Ok(())
    }

    /// Restores `previous` (`BlockPoolSliceStorage.doRollback`).
    fn roll_back(&self, directories: &StorageRoot<'_>) -> Result<()> {
        let previous = directories.path("previous");
        let refusal = |text: String| inconsistent(&previous, text);
        if directories.has("trash")? {
            return Err(refusal(
                "trash also exists, and only one of them can be restored".to_owned(),
            )
            .advise("move away the one that is out of date, and start again with -rollback"));
        }
        let Some(found) = PoolVersion::read(&previous.join("VERSION"))? else {
            return Err(refusal("it has no VERSION".to_owned())
                .advise("restore the VERSION file, or start without -rollback"));
        };
        if found.ctime > self.expected.ctime {
            let (own, namenode) = (found.ctime, self.expected.ctime);
            return Err(refusal(format!(
                "its cTime {own} is newer than the NameNode's, {namenode}"
            ))
            .advise("start the NameNode with -rollback first, or start without -rollback"));
        }
        found.check(self.expected, &previous)?;
        directories.rename("current", "removed.tmp")?;
        directories.rename("previous", "current")?;
        directories.delete("removed.tmp")
    }

    /// Keeps the replicas in `previous`, and links them into a new `current` (`BlockPoolSliceStorage.doUpgrade`).
    fn upgrade(&self, directories: &StorageRoot<'_>, from: i64) -> Result<()> {
        let (root, to) = (self.root.display(), self.expected.ctime);
        tracing::info!("upgrading block pool directory {root} from cTime {from} to {to}");
        StorageRoot::new(self.volume, Level::Volume, self.options.answered).delete("previous")?;
        directories.delete("previous")?;
        directories.rename("current", "previous.tmp")?;
        let create = |directory: &Path| self.mode.create(directory);
        create(&self.current())?;
        let mut links = 0;
        for name in ["finalized", "rbw"] {
            let (from, to) =
                (directories.path("previous.tmp").join(name), self.current().join(name));
            links += link_blocks(&from, &to, &create, self.options.answered)?;
        }
        // The links must be on disk before a VERSION says that all of them are.
        self.sync_file_system()?;
        self.expected.write(&self.version_path())?;
        directories.rename("previous.tmp", "previous")?;
        tracing::info!("upgraded block pool directory {root}: {links} links");
        Ok(())
    }

    fn sync_file_system(&self) -> Result<()> {
        let failed = |e: std::io::Error| Error::io("volume", "sync", self.root, e);
        let directory = fs::File::open(self.root).map_err(failed)?;
        rustix::fs::syncfs(&directory).map_err(|e| failed(e.into()))?;
        (self.options.answered)();
        sync_directory(&self.current())
    }

    fn current(&self) -> PathBuf {
        self.root.join("current")
    }

    fn version_path(&self) -> PathBuf {
        self.current().join("VERSION")
    }
}

/// Deletes the `previous` of a volume, which an upgrade from before federation left, with the replicas that were being written
/// then (`DataStorage.doFinalize`). Returns `false` if there is none: then the block pools have their own.
///
/// # Errors
/// Fails if a directory cannot be renamed or deleted; a restart deletes the rest.
pub fn finalize_volume_upgrade(root: &Path) -> Result<bool> {
    let directories = StorageRoot::new(root, Level::Volume, &|| ());
    if !directories.has("previous")? {
        return Ok(false);
    }
    directories.delete("finalized.tmp")?;
    directories.rename("previous", "finalized.tmp")?;
    directories.delete("finalized.tmp")?;
    directories.delete("blocksBeingWritten")?;
    Ok(true)
}
