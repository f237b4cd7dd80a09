//! The journals, and the directories that remember which edits exist.

use super::journal_set::JournalSet;
use super::member::{Member, Role, Usability};
use crate::storage::dir::NameDir;
use crate::storage::{NameStorage, StorageError};
use std::sync::{Arc, OnceLock};
use zerohop_journal::JournalError;
use zerohop_journal::log::Batch;
use zerohop_wire::TxId;

/// The log as the committer writes it.
pub(super) struct StoredLog {
    storage: Arc<NameStorage>,
    journals: JournalSet,
    /// How many directories of edits were in use when the others were last told.
    in_use: usize,
}

impl Usability for NameDir {
    fn drop_journal(&self, reason: &JournalError) {
        self.fail(reason);
    }

    fn failure(&self) -> Option<String> {
        self.has_failed().then(|| self.failure().unwrap_or_default().to_owned())
    }
}

/// Whether the shared journal can be written: not by a log that it once failed.
#[derive(Default)]
struct SharedUsability(OnceLock<String>);

impl Usability for SharedUsability {
    fn drop_journal(&self, reason: &JournalError) {
        // The first reason stays.
        _ = self.0.set(reason.to_string());
    }

    fn failure(&self) -> Option<String> {
        self.0.get().cloned()
    }
}

impl StoredLog {
    /// Nothing is written yet.
    pub fn new(storage: Arc<NameStorage>) -> Self {
        let config = storage.config();
        let member = |dir: &Arc<NameDir>| {
            let is_required = config.edits_dirs_required.iter().any(|root| root == dir.root());
            let role = if is_required { Role::Required } else { Role::Redundant };
            let usability: Arc<dyn Usability> = dir.clone();
            Member::new(Arc::new(dir.journal(config.op_size_max)), role, usability)
        };
        // Those that have failed, too: a required one may be among them.
        let edits = storage.dirs().iter().filter(|dir| dir.holds_edits());
        let mut members: Vec<Member> = edits.map(member).collect();
        if let Some(shared) = &storage.shared {
            let usability = Arc::<SharedUsability>::default();
            members.push(Member::new(shared.clone(), Role::Shared, usability));
        }
        let journals = JournalSet::new(members, config.edits_dirs_min);
        let in_use = storage.edits_dirs().count();
        Self { storage, journals, in_use }
    }

    /// Begins a segment.
    pub fn begin(&mut self, first: i64) -> Result<(), StorageError> {
        self.storage.shared.iter().for_each(|shared| shared.set_writer(true));
        self.journals.begin(TxId(first))
    }

    /// Writes records and makes them durable.
    pub fn write(&mut self, batch: &Batch<'_>) -> Result<(), StorageError> {
        self.journals.append(batch)
    }

    /// Finalizes the segment.
    pub fn end(&mut self, last: i64) -> Result<(), StorageError> {
        self.journals.finalize(TxId(last))
    }

    /// If a directory has failed since this was asked last, notes in the others that edits up to `last` exist: its copy of the
    /// segment ends before, and must not stand in for theirs when they cannot be read one day.
    pub fn note_failures(&mut self, last: i64) -> Result<(), StorageError> {
        if self.storage.edits_dirs().count() < self.in_use { self.mark_seen(last) } else { Ok(()) }
    }

    /// Notes in every directory, image directories included, that the edit `txid` exists, so that a directory left behind is
    /// recognized later.
    pub fn mark_seen(&mut self, txid: i64) -> Result<(), StorageError> {
        for dir in self.storage.dirs().iter().filter(|dir| !dir.has_failed()) {
            if let Err(e) = dir.write_seen_txid(txid) {
                dir.fail(&e);
            }
        }
        self.in_use = self.storage.edits_dirs().count();
        self.journals.check()
    }
}

impl Drop for StoredLog {
    fn drop(&mut self) {
        self.storage.shared.iter().for_each(|shared| shared.set_writer(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{EditLog, FormatOptions, Replay, ReplayError, StorageConfig};
    use std::fs;
    use zerohop_journal::image::{ImageReader, SectionName};
    use zerohop_journal::op::{AllowSnapshot, EditOp, Record};
    use zerohop_journal::types::RpcIds;
    use zerohop_proto::hdfs::fsimage::NameSystemSection;

    struct Nothing;

    impl Replay for Nothing {
        fn image(&mut self, _: &ImageReader) -> Result<(), ReplayError> {
            Ok(())
        }

        fn edit(&mut self, _: Record) -> Result<(), ReplayError> {
            Ok(())
        }
    }

    /// Only the first directory is written to, and then its segment cannot be read at all: the second one's copy, which ends
    /// before, must not pass for the whole.
    #[test]
    fn a_stale_copy_does_not_stand_in_for_a_segment_that_cannot_be_read() {
        let root = tempfile::tempdir().unwrap();
        let dirs: Vec<_> = ["a", "b"].iter().map(|name| root.path().join(name)).collect();
        let config = StorageConfig::new(dirs.clone());
        NameStorage::format(config.clone(), FormatOptions::default(), |_, image| {
            image.message(&NameSystemSection { transaction_id: Some(0), ..Default::default() })?;
            image.end(SectionName::NsInfo)?;
            Ok(())
        })
        .unwrap();
        let open = || {
            let storage = Arc::new(NameStorage::open(config.clone()).unwrap());
            storage.load(&mut Nothing).map(|_| storage)
        };
        let storage = open().unwrap();
        let log = EditLog::start(storage.clone(), 1, |failure| panic!("{failure}")).unwrap();
        let edit: EditOp = AllowSnapshot { root: "/x".to_owned() }.into();
        log.log([(&edit, &RpcIds::NONE)]).wait().unwrap();
        let segment = |n: usize| dirs[n].join("current/edits_inprogress_0000000000000000001");
        let stale = fs::read(segment(1)).unwrap();
        storage.dirs()[1].fail(&"as by an I/O error");
        log.log([(&edit, &RpcIds::NONE)]).wait().unwrap();
        drop((log, storage));
        fs::write(segment(1), stale).unwrap();
        let kept = fs::read(segment(0)).unwrap();
        fs::remove_file(segment(0)).unwrap();
        fs::create_dir(segment(0)).unwrap();
        let error = open().unwrap_err().to_string();
        assert!(error.contains("up until at least txid 3"), "{error}");
        fs::remove_dir(segment(0)).unwrap();
        fs::write(segment(0), kept).unwrap();
        open().unwrap();
    }
}
