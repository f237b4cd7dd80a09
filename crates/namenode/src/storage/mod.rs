//! The NameNode's directories: what is on disk, how it is opened, loaded, written and kept.
//!
//! Each `dfs.namenode.name.dir` holds images, each `dfs.namenode.edits.dir` segments of the edit
//! log (by default they are the same directories), and every directory is a full copy:
//! ```text
//! <dir>/in_use.lock
//! <dir>/current/VERSION                                  ids and layout
//! <dir>/current/seen_txid                                edits exist up to this one at least: the newest segment's first
//! <dir>/current/fsimage_<txid>, fsimage_<txid>.md5       checkpoints
//! <dir>/current/fsimage_rollback_<txid>, ...             what a rolling upgrade can be rolled back to
//! <dir>/current/edits_<first>-<last>                     finished segments
//! <dir>/current/edits_inprogress_<first>                 the segment being written
//! ```
//! The life of a directory: [`NameStorage::format`] once; [`NameStorage::open`], which locks;
//! [`NameStorage::load`], newest image and then every later edit; [`EditLog::start`];
//! [`NameStorage::save_image`] at a transaction that [`EditLog::roll`] gave.
//! Where the edits are shared with another NameNode, the shared journal is the one that counts: it is written first, and
//! edits are read from it alone.
//! A directory whose edits fail is dropped with one log line while others remain. One that gets no image
//! keeps its edits, and is tried again with the next image.

mod config;
mod copy_edits;
mod dir;
mod edit_log;
mod error;
mod format;
mod history;
mod load;
mod open;
mod receive;
mod rollback;
mod salvage;
mod save;
mod saving;
mod shared_directory;
mod shared_edits;
mod shared_journal;
mod version;

pub use config::StorageConfig;
pub use copy_edits::copy_edits_to_shared;
pub use dir::{ImageKind, NameDir};
pub use edit_log::{EditLog, EditLogMetrics, EditLogStats, JournalFailed, PendingSync};
pub use error::{ReplayError, StorageError};
pub use format::FormatOptions;
pub use history::EditHistory;
pub use load::{LoadReport, Replay};
pub use receive::{ReceivedImage, Transfers};
pub use rollback::RollbackImages;
pub use salvage::{RecoveryChoice, RecoveryQuestions};
pub use shared_edits::{QuorumConfig, SharedEditsConfig};
pub use version::StorageInfo;

use shared_edits::SharedEdits;
use std::sync::Arc;
use zerohop_journal::log::{DirectoryJournal, Journal};
use zerohop_quorum::NodeStatus;

/// The NameNode's directories, open and locked.
#[derive(Debug)]
pub struct NameStorage {
    config: StorageConfig,
    info: StorageInfo,
    dirs: Vec<Arc<NameDir>>,
    saving: Arc<saving::Saving>,
    /// Holds all edits where there is one.
    shared: Option<Arc<SharedEdits>>,
    log_metrics: Arc<EditLogMetrics>,
}

impl NameStorage {
    /// The ids all directories share.
    pub fn info(&self) -> &StorageInfo {
        &self.info
    }

    /// The settings they were opened with.
    pub fn config(&self) -> &StorageConfig {
        &self.config
    }

    /// What the edit logs of these directories do.
    pub fn log_metrics(&self) -> &Arc<EditLogMetrics> {
        &self.log_metrics
    }

    /// Whether other NameNodes have the edits, too.
    pub fn has_shared_edits(&self) -> bool {
        self.shared.is_some()
    }

    /// How this NameNode stands with each of the JournalNodes that it writes to.
    pub fn journal_nodes(&self) -> Vec<NodeStatus> {
        self.shared.as_ref().map(|shared| shared.nodes()).unwrap_or_default()
    }

    fn none_left(&self, what: &'static str) -> StorageError {
        let reason = self.dirs.iter().find_map(|dir| dir.failure());
        StorageError::NoneLeft { what, reason: reason.unwrap_or("none is configured").to_owned() }
    }

    /// Identifies the namespace to other NameNodes (`StorageInfo.toColonSeparatedString`).
    pub fn colon_separated_info(&self) -> String {
        let info = &self.info;
        format!("{}:{}:{}:{}", info.layout, info.namespace_id, info.c_time_ms, info.cluster_id)
    }

    /// Notes in every directory that edits up to `txid` exist.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn note_seen_txid(&self, txid: i64) -> Result<(), StorageError> {
        self.dirs.iter().try_for_each(|dir| dir.write_seen_txid(txid))
    }

    /// All directories, failed ones included.
    pub fn dirs(&self) -> &[Arc<NameDir>] {
        &self.dirs
    }

    /// Unlocks the directories, although this value may still be held: the NameNode has stopped.
    pub fn unlock(&self) {
        self.saving.end();
        self.journals().for_each(|journal| journal.close());
        self.shared.iter().for_each(|journal| journal.close());
        self.dirs.iter().for_each(|dir| dir.unlock());
    }

    fn image_dirs(&self) -> impl Iterator<Item = &Arc<NameDir>> {
        self.dirs.iter().filter(|dir| dir.holds_images() && !dir.has_failed())
    }

    fn edits_dirs(&self) -> impl Iterator<Item = &Arc<NameDir>> {
        self.dirs.iter().filter(|dir| dir.holds_edits() && !dir.has_failed())
    }

    /// The journals of the directories of edits that have not failed.
    fn journals(&self) -> impl Iterator<Item = DirectoryJournal> {
        self.edits_dirs().map(|dir| dir.journal(self.config.op_size_max))
    }
}
