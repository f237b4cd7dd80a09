//! A journal's directory.
//!
//! ```text
//! <dfs.journalnode.edits.dir>/<journal id>/
//!   in_use.lock
//!   current/
//!     VERSION
//!     last-promised-epoch, last-writer-epoch   decimal digits and a newline
//!     committed-txid                           8 bytes, most significant first; empty at first
//!     edits_<first>-<last>, edits_inprogress_<first>
//!     edits_inprogress_<first>.epoch=<epoch>   a segment fetched for a recovery that is not accepted yet
//!     paxos/<first>                            what was accepted in a recovery of the segment
//!   edits.sync/                                segments being fetched
//! ```
//! Source: `JNStorage`.

mod directory;
mod number;
mod upgrade;
mod version;

pub(crate) use number::{CommittedTxid, PersistentNumber};
pub(crate) use upgrade::exists;
pub use version::StorageInfo;

use crate::calls::RequestInfo;
use crate::error::{Error, Result};
use directory::{make_directory, remove_directory};
use std::path::{Path, PathBuf};
use zerohop_daemon::storage::{self, DirectoryLock, FileError};
use zerohop_journal::segment::in_progress_name;
use zerohop_wire::TxId;

/// Segments being fetched lie here, beside `current`.
pub(crate) const FETCHED: &str = "edits.sync";

/// A journal's directory, locked.
#[derive(Debug)]
pub(crate) struct JournalStorage {
    root: PathBuf,
    mode: u32,
    /// None until the journal is formatted.
    info: Option<StorageInfo>,
    _lock: DirectoryLock,
}

impl JournalStorage {
    /// Locks a journal's directory, which is made with the permissions `mode` if it is missing, and completes an upgrade or
    /// rollback that was interrupted.
    pub(crate) fn open(root: &Path, mode: u32) -> Result<Self> {
        make_directory(root, mode)?;
        let lock = DirectoryLock::acquire(root)?;
        upgrade::complete_interrupted(root)?;
        // Downloads that a crash interrupted.
        remove_directory(&root.join(FETCHED))?;
        let info = StorageInfo::read(&root.join("current"))?;
        let storage = Self { root: root.to_owned(), mode, info, _lock: lock };
        if storage.info.is_some() {
            // After a disk was lost, VERSION alone is copied from another JournalNode.
            make_directory(&storage.paxos_directory(), mode)?;
        }
        Ok(storage)
    }

    /// The name space; none until the journal is formatted.
    pub(crate) fn info(&self) -> Option<&StorageInfo> {
        self.info.as_ref()
    }

    pub(crate) fn current(&self) -> PathBuf {
        self.root.join("current")
    }

    /// Empties the directory for a name space. What it holds is only destroyed by `force`.
    pub(crate) fn format(&mut self, info: StorageInfo, force: bool) -> Result<()> {
        self.format_with(info, force, |_| Ok(()))
    }

    /// The same, with what is to be in `current` before VERSION says that the journal is formatted.
    pub(crate) fn format_with(
        &mut self,
        info: StorageInfo,
        force: bool,
        fill: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let current = self.current();
        let occupied = std::fs::read_dir(&current).is_ok_and(|mut files| files.next().is_some());
        if occupied && !force {
            return Err(Error::NotEmpty(self.root.clone()));
        }
        self.info = None;
        remove_directory(&current)?;
        make_directory(&current, self.mode)?;
        make_directory(&self.paxos_directory(), self.mode)?;
        fill(&current)?;
        info.write(&current)?;
        storage::sync_directory(&self.root)?;
        self.info = Some(info);
        Ok(())
    }

    /// Where what was accepted for a segment is kept.
    pub(crate) fn paxos_file(&self, first: TxId) -> PathBuf {
        self.paxos_directory().join(first.0.to_string())
    }

    pub(crate) fn paxos_directory(&self) -> PathBuf {
        self.current().join("paxos")
    }

    pub(crate) fn in_progress(&self, first: TxId) -> PathBuf {
        self.current().join(in_progress_name(first))
    }

    /// Where a segment is fetched to by the recovery of an epoch.
    pub(crate) fn fetched_by(&self, first: TxId, epoch: u64) -> PathBuf {
        self.current().join(format!("{}.epoch={epoch}", in_progress_name(first)))
    }

    /// Returns the file that a segment is fetched to for one call. Creates its directory, beside `current`.
    pub(crate) fn fetched_for(&self, first: TxId, request: RequestInfo) -> Result<PathBuf> {
        let directory = self.root.join(FETCHED);
        make_directory(&directory, self.mode)?;
        let RequestInfo { epoch, serial, .. } = request;
        Ok(directory.join(format!("{}.epoch={epoch}.{serial}", in_progress_name(first))))
    }

    /// Removes what was accepted for segments before a transaction.
    pub(crate) fn purge_paxos(&self, before: TxId) {
        for file in self.paxos_files(|first| first < before) {
            if let Err(error) = std::fs::remove_file(&file) {
                tracing::warn!("cannot remove {}: {error}", file.display());
            }
        }
    }

    /// Removes what was accepted for segments that begin with `first` or later.
    pub(crate) fn discard_paxos_from(&self, from: TxId) -> Result<()> {
        for file in self.paxos_files(|first| first >= from) {
            std::fs::remove_file(&file).map_err(FileError::new("remove", &file))?;
        }
        Ok(())
    }

    fn paxos_files(&self, is_wanted: impl Fn(TxId) -> bool) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.paxos_directory()) else { return Vec::new() };
        let is_wanted = |entry: &std::fs::DirEntry| {
            let first = entry.file_name().to_str().and_then(|name| name.parse::<i64>().ok());
            first.is_some_and(|first| is_wanted(TxId(first)))
        };
        entries.flatten().filter(is_wanted).map(|entry| entry.path()).collect()
    }

    /// Moves `current` aside and makes a new one with links to its segments.
    pub(crate) fn begin_upgrade(&self) -> Result<()> {
        upgrade::begin(&self.root, self.mode)
    }

    /// Ends what [`Self::begin_upgrade`] began: the directory has another creation time and layout now.
    pub(crate) fn complete_upgrade(&mut self, c_time_ms: i64, layout: i32) -> Result<()> {
        let Some(info) = &mut self.info else { return Ok(()) };
        info.c_time_ms = c_time_ms;
        info.layout = layout;
        info.write(&self.root.join("current"))?;
        make_directory(&self.paxos_directory(), self.mode)?;
        upgrade::complete(&self.root)
    }

    /// Removes what an upgrade kept.
    pub(crate) fn finalize_upgrade(&self) -> Result<()> {
        upgrade::finalize(&self.root)
    }

    /// Whether an upgrade to `now` can be rolled back to `before`, whose layout must be one that the NameNode reads.
    pub(crate) fn can_roll_back(
        &self,
        now: &StorageInfo,
        before: &StorageInfo,
        target_layout: i32,
    ) -> Result<bool> {
        match StorageInfo::read(&upgrade::previous(&self.root))? {
            Some(kept) if kept.layout < target_layout => Err(Error::BadRequest(format!(
                "Cannot rollback to storage version {}, its cTime is {} and the newest layout version is {target_layout}",
                kept.layout, now.c_time_ms
            ))),
            Some(_) => Ok(true),
            // Nothing was upgraded here: what is there is what the NameNode goes back to.
            None => Ok(self.info.as_ref().is_some_and(|own| {
                (own.layout, own.c_time_ms) == (before.layout, before.c_time_ms)
            })),
        }
    }

    /// That a NameNode belongs to the name space that the journal was formatted for.
    pub(crate) fn check_namespace(&self, theirs: &StorageInfo) -> Result<()> {
        let Some(own) = &self.info else { return Ok(()) };
        let directory = self.root.display();
        if theirs.namespace_id != own.namespace_id {
            return Err(Error::OtherNamespace(format!(
                "Incompatible namespaceID for journal {directory}: NameNode has nsId {} but storage has nsId {}",
                theirs.namespace_id, own.namespace_id
            )));
        }
        if theirs.cluster_id != own.cluster_id {
            return Err(Error::OtherNamespace(format!(
                "Incompatible clusterID for journal {directory}: NameNode has clusterId '{}' but storage has clusterId '{}'",
                theirs.cluster_id, own.cluster_id
            )));
        }
        Ok(())
    }

    /// Brings back what an upgrade kept.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        upgrade::roll_back(&self.root)?;
        self.info = StorageInfo::read(&self.current())?;
        Ok(())
    }
}
