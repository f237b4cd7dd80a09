//! The same records into every journal.

use crate::storage::dir::NameDir;
use crate::storage::{NameStorage, StorageError};
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_journal::log::{Batch, Journal, OpenSegment};
use zerohop_wire::TxId;

/// All journals the log is written to. One that fails is dropped for the process's life, and the log fails when too few are
/// left or a required one is gone.
pub(super) struct JournalSet {
    storage: Arc<NameStorage>,
    /// Those that take part in the segment being written.
    members: Vec<Member>,
    /// How many directories of edits were in use when the others were last told.
    in_use: usize,
}

/// A journal's copy of the segment.
struct Member {
    dir: Arc<NameDir>,
    segment: Box<dyn OpenSegment>,
}

impl JournalSet {
    pub fn new(storage: Arc<NameStorage>) -> Self {
        let in_use = storage.edits_dirs().count();
        Self { storage, members: Vec::new(), in_use }
    }

    /// Begins a segment in every journal that has not failed.
    pub fn begin(&mut self, first: i64) -> Result<(), StorageError> {
        self.members.clear();
        let op_size_max = self.storage.config().op_size_max;
        for dir in self.storage.edits_dirs() {
            match dir.journal(op_size_max).start_segment(TxId(first)) {
                Ok(segment) => self.members.push(Member { dir: Arc::clone(dir), segment }),
                Err(e) => dir.fail(&e),
            }
        }
        self.check()
    }

    /// Writes records and makes them durable.
    pub fn write(&mut self, batch: &Batch<'_>) -> Result<(), StorageError> {
        match self.members.as_mut_slice() {
            [only] => only.write(batch),
            // The slowest disk's time, not the sum of all.
            several => side_by_side(several, several.len() - 1, |member| member.write(batch)),
        }
        self.check()
    }

    /// Finalizes the segment in every journal.
    pub fn end(&mut self, last: i64) -> Result<(), StorageError> {
        for member in self.members.drain(..) {
            if let Err(e) = member.segment.finalize(TxId(last)) {
                member.dir.fail(&e);
            }
        }
        if self.storage.edits_dirs().next().is_none() {
            return Err(self.storage.none_left("edits"));
        }
        Ok(())
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
        self.check()
    }

    fn check(&mut self) -> Result<(), StorageError> {
        self.members.retain(|member| !member.dir.has_failed());
        let config = self.storage.config();
        let is_open = |root: &PathBuf| self.members.iter().any(|member| member.dir.root() == root);
        if let Some(lost) = config.edits_dirs_required.iter().find(|root| !is_open(root)) {
            let message = format!("required edits directory {} failed", lost.display());
            return Err(StorageError::Config(message));
        }
        if self.members.is_empty() || self.members.len() < config.edits_dirs_min {
            return Err(self.storage.none_left("edits"));
        }
        Ok(())
    }
}

/// Does `work` for each item, on `helpers` threads beside this one, or on as many as can be had.
fn side_by_side<T: Send>(items: &mut [T], helpers: usize, work: impl Fn(&mut T) + Sync) {
    let rest = Mutex::new(items.iter_mut());
    let next = || rest.lock().next();
    let take_part = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            let helper = std::thread::Builder::new().name("edit-log".to_owned());
            // Out of threads: what nobody else takes is done here.
            if helper.spawn_scoped(scope, take_part).is_err() {
                break;
            }
        }
        take_part();
    });
}

impl Member {
    fn write(&mut self, batch: &Batch<'_>) {
        if let Err(e) = self.segment.append(batch).and_then(|completion| completion.wait()) {
            self.dir.fail(&e);
        }
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

    struct Nothing;

    impl Replay for Nothing {
        fn image(&mut self, _: &ImageReader) -> Result<(), ReplayError> {
            Ok(())
        }

        fn edit(&mut self, _: Record) -> Result<(), ReplayError> {
            Ok(())
        }
    }

    /// The first directory goes on alone, and then its segment cannot be read at all: the second one's copy, which ends
    /// before, must not pass for the whole.
    #[test]
    fn a_stale_copy_does_not_stand_in_for_a_segment_that_cannot_be_read() {
        let root = tempfile::tempdir().unwrap();
        let dirs: Vec<_> = ["a", "b"].iter().map(|name| root.path().join(name)).collect();
        let config = StorageConfig::new(dirs.clone());
        NameStorage::format(config.clone(), FormatOptions::default(), |_, image| {
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

    #[test]
    fn every_item_has_its_turn_with_and_without_helpers() {
        for helpers in 0..4 {
            let mut items = [0, 10, 20];
            side_by_side(&mut items, helpers, |item| *item += 1);
            assert_eq!(items, [1, 11, 21], "{helpers} helpers");
        }
    }
}
