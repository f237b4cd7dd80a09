//! States in which Apache's DataNode can leave a volume or a block pool, and how a start completes each of them
//! (`Storage.StorageDirectory.analyzeStorage` and `doRecover`).
//!
//! | beside `current` | `current` has a VERSION | it has none |
//! |---|---|---|
//! | nothing | ready | format it if it is empty, otherwise refuse |
//! | `previous` | ready; an upgrade waits to be finalized | refuse |
//! | `previous.tmp` | the upgrade is done: rename to `previous` | the upgrade is undone: rename to `current` |
//! | `removed.tmp` | the rollback is done: delete it | with `previous`, the rollback is undone: rename to `current` |
//! | `finalized.tmp` | the finalization is done: delete it | refuse |
//! | `lastcheckpoint.tmp` | rename to `previous.checkpoint` | rename to `current` |
//!
//! Other combinations are refused with the name of the directory. Two states are treated with more care than Apache's
//! DataNode does: a directory with the only name of a block file is never deleted to complete an upgrade or a checkpoint, and a
//! `previous.tmp` does not become `previous` if `current` has none of its blocks.

use crate::error::{Error, Result};
use crate::tree::{delete_tree, has_block_file};
use crate::version::{PoolVersion, VolumeVersion, inconsistent, sync_directory};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directory that a state belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// A directory of `dfs.datanode.data.dir`.
    Volume,
    /// The directory of a block pool below a volume's `current`.
    Pool,
}

/// The state of a volume or a block pool, named as in Hadoop's `StorageState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageState {
    /// `current` has a VERSION, and no step was interrupted.
    Normal,
    /// The directory is new.
    NotFormatted,
    /// An upgrade has written all of `current`.
    CompleteUpgrade,
    /// An upgrade has not written all of `current`.
    RecoverUpgrade,
    /// A rollback has restored `current`.
    CompleteRollback,
    /// A rollback has moved `current` away and has not restored another one.
    RecoverRollback,
    /// A finalization has not deleted all of `finalized.tmp`.
    CompleteFinalize,
    /// A checkpoint has written all of `current`.
    CompleteCheckpoint,
    /// A checkpoint has not written all of `current`.
    RecoverCheckpoint,
}

/// Directories that exist while a step is in progress, at most one at a time.
const TEMPORARY: [&str; 4] = ["previous.tmp", "removed.tmp", "finalized.tmp", "lastcheckpoint.tmp"];
/// Directories that Apache's DataNode deletes in the background, and forgets if it is killed meanwhile.
const FORGOTTEN: [&str; 3] = ["current.tmp", "finalized.tmp.tmp", "previous.checkpoint.tmp"];
/// A VERSION file that a crash leaves unwritten: Apache's DataNode an empty one, zerohop one beside it.
const UNWRITTEN_VERSIONS: [&str; 2] = ["VERSION", "VERSION.tmp"];

/// A volume or block pool that is being opened.
pub(crate) struct StorageRoot<'a> {
    root: &'a Path,
    level: Level,
    /// Called whenever the disk has answered.
    answered: &'a dyn Fn(),
}

impl<'a> StorageRoot<'a> {
    pub(crate) fn new(root: &'a Path, level: Level, answered: &'a dyn Fn()) -> Self {
        Self { root, level, answered }
    }

    /// Completes what was interrupted. Returns `true` if the directory is formatted, and `false` if it is new.
    ///
    /// # Errors
    /// Fails with the directory that contradicts another one, and changes nothing then.
    pub(crate) fn settle(&self) -> Result<bool> {
        let state = self.analyze()?;
        if state != StorageState::Normal && state != StorageState::NotFormatted {
            tracing::warn!("{}: an earlier start was interrupted: {state:?}", self.root.display());
        }
        match state {
            StorageState::NotFormatted => return Ok(false),
            StorageState::Normal => {}
            StorageState::CompleteUpgrade => self.rename("previous.tmp", "previous")?,
            StorageState::RecoverUpgrade => self.restore("previous.tmp")?,
            StorageState::CompleteRollback => self.delete("removed.tmp")?,
            StorageState::RecoverRollback => self.restore("removed.tmp")?,
            StorageState::CompleteFinalize => self.delete("finalized.tmp")?,
            StorageState::CompleteCheckpoint => {
                self.delete("previous.checkpoint")?;
                self.rename("lastcheckpoint.tmp", "previous.checkpoint")?;
            }
            StorageState::RecoverCheckpoint => self.restore("lastcheckpoint.tmp")?,
        }
        FORGOTTEN.iter().try_for_each(|name| self.delete(name))?;
        Ok(true)
    }

    /// Finds the state; changes nothing.
    pub(crate) fn analyze(&self) -> Result<StorageState> {
        if self.level == Level::Volume && self.has("storage")? {
            return Err(self.refusal("storage", "it is from a release before Hadoop 0.13").advise(
                "upgrade the directory with the releases of Apache Hadoop in between first",
            ));
        }
        let has_version = self.has_version("current")?;
        let has_previous = self.has("previous")?;
        let mut temporary = None;
        for name in TEMPORARY {
            if !self.has(name)? {
                continue;
            }
            if let Some(other) = temporary.replace(name) {
                return Err(self.contradiction(name, &format!("{other} also exists")));
            }
        }
        let Some(temporary) = temporary else {
            return match has_version {
                true => Ok(StorageState::Normal),
                false => self.analyze_unformatted(has_previous),
            };
        };
        match temporary {
            "lastcheckpoint.tmp" if has_version => Ok(StorageState::CompleteCheckpoint),
            "lastcheckpoint.tmp" => {
                self.check_restorable(temporary)?;
                Ok(StorageState::RecoverCheckpoint)
            }
            "removed.tmp" if has_version == has_previous => {
                let text = match has_previous {
                    true => "both current and previous exist",
                    false => "neither current nor previous has a VERSION",
                };
                Err(self.contradiction(temporary, text))
            }
            "removed.tmp" if has_version => Ok(StorageState::CompleteRollback),
            "removed.tmp" if !self.is_bare("current")? => {
                Err(self.contradiction("current", "it has no VERSION, and removed.tmp exists"))
            }
            "removed.tmp" => {
                self.check_restorable(temporary)?;
                Ok(StorageState::RecoverRollback)
            }
            _ if has_previous => Err(self.contradiction(temporary, "previous also exists")),
            "finalized.tmp" if has_version => Ok(StorageState::CompleteFinalize),
            // Apache's DataNode deletes it, and only then misses the VERSION.
            "finalized.tmp" => Err(self.contradiction(temporary, "current has no VERSION")),
            _ if has_version && !self.lacks_blocks_of(temporary)? => {
                Ok(StorageState::CompleteUpgrade)
            }
            _ => {
                self.check_restorable(temporary)?;
                Ok(StorageState::RecoverUpgrade)
            }
        }
    }

    /// Returns the state of a directory without a VERSION, which is new only if it holds nothing else.
    fn analyze_unformatted(&self, has_previous: bool) -> Result<StorageState> {
        if has_previous {
            return Err(self.contradiction("previous", "current has no VERSION"));
        }
        if self.has("current.tmp")? {
            return Err(self.contradiction("current.tmp", "current has no VERSION"));
        }
        if !self.is_bare("current")? {
            return Err(self
                .refusal("current", "it holds files but no VERSION")
                .advise("restore the VERSION file, or move the directory away"));
        }
        Ok(StorageState::NotFormatted)
    }

    /// Returns `true` if a directory without a VERSION does not exist, or holds nothing but one that a crash left unwritten.
    fn is_bare(&self, name: &str) -> Result<bool> {
        let directory = self.path(name);
        let io = |e: std::io::Error| Error::io("volume", "list", &directory, e);
        let entries = match fs::read_dir(&directory) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(true),
            entries => entries.map_err(io)?,
        };
        for entry in entries {
            let name = entry.map_err(io)?.file_name();
            if !UNWRITTEN_VERSIONS.iter().any(|unwritten| name == *unwritten) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `true` if `current` has no block, and `name` has one. No upgrade of Apache's leaves that: a DataNode that did
    /// not know `name` has made this `current`.
    fn lacks_blocks_of(&self, name: &str) -> Result<bool> {
        let has_block = |name: &str| has_block_file(&self.path(name), self.answered, &|_| true);
        Ok(!has_block("current")? && has_block(name)?)
    }

    /// Refuses to restore `current` from a directory that is not complete, or over blocks that have no other name.
    fn check_restorable(&self, name: &str) -> Result<()> {
        if !self.has_version(name)? {
            return Err(
                self.contradiction(name, "neither current nor this directory has a VERSION")
            );
        }
        let is_only_name = |file: &fs::Metadata| file.nlink() < 2;
        if has_block_file(&self.path("current"), self.answered, &is_only_name)? {
            return Err(self.contradiction(
                "current",
                &format!("it has no VERSION, and blocks that are not in {name}"),
            ));
        }
        Ok(())
    }

    /// Replaces `current` by the directory `name`.
    fn restore(&self, name: &str) -> Result<()> {
        self.delete("current")?;
        self.rename(name, "current")
    }

    /// Renames a directory durably.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<()> {
        tracing::info!("{}: renaming {from} to {to}", self.root.display());
        let path = self.path(from);
        fs::rename(&path, self.path(to)).map_err(|e| Error::io("volume", "rename", &path, e))?;
        (self.answered)();
        sync_directory(self.root)
    }

    /// Deletes a directory with all that is in it, if it exists.
    pub(crate) fn delete(&self, name: &str) -> Result<()> {
        if self.has(name)? {
            tracing::info!("{}: deleting {name}", self.root.display());
            delete_tree(&self.path(name), self.answered)?;
            sync_directory(self.root)?;
        }
        Ok(())
    }

    /// Returns `true` if there is a file or directory of this name.
    pub(crate) fn has(&self, name: &str) -> Result<bool> {
        let path = self.path(name);
        let found = path.try_exists().map_err(|e| Error::io("volume", "look for", &path, e))?;
        (self.answered)();
        Ok(found)
    }

    /// Returns `true` if a directory has a VERSION; fails if it is not a DataNode's or not of this layout.
    fn has_version(&self, name: &str) -> Result<bool> {
        let path = self.path(name).join("VERSION");
        match self.level {
            Level::Volume => Ok(VolumeVersion::read(&path)?.is_some()),
            Level::Pool => Ok(PoolVersion::read(&path)?.is_some()),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn refusal(&self, name: &str, text: &str) -> Error {
        inconsistent(&self.path(name), text.to_owned())
    }

    fn contradiction(&self, name: &str, text: &str) -> Error {
        self.refusal(name, text).advise(
            "no interrupted step of Apache's DataNode leaves this: keep a copy of the directory, move \
             away what is out of date, and start again",
        )
    }
}
