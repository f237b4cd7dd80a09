//! A directory that the machines of several NameNodes mount, as the journal that they share (`file:` in
//! `dfs.namenode.shared.edits.dir`). Unlike JournalNodes a directory promises no writer anything: fencing alone keeps a NameNode that was
//! replaced from writing on.

use super::shared_journal::SharedJournal;
use super::version::StorageInfo;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use zerohop_journal::JournalError;
use zerohop_journal::log::{
    DirectoryJournal, EditSource, EditStream, Journal, OpenSegment, Recovery, Selection,
};
use zerohop_journal::segment::{self, SegmentKind, sync_dir};
use zerohop_wire::TxId;

/// The directory, with VERSION and segments in `current`. It is not locked: several NameNodes have it open.
pub(super) struct SharedDirectory {
    root: PathBuf,
    journal: DirectoryJournal,
    op_size_max: usize,
    info: StorageInfo,
}

impl SharedDirectory {
    /// Nothing is looked at yet.
    pub(super) fn new(root: PathBuf, op_size_max: usize, info: StorageInfo) -> Self {
        let journal = DirectoryJournal::new(root.join("current"), op_size_max);
        Self { root, journal, op_size_max, info }
    }

    fn inconsistent(&self, reason: String) -> JournalError {
        JournalError::Inconsistent { path: self.root.clone(), reason }
    }

    /// The journal, if it is that of this namespace.
    fn checked(&self) -> Result<&DirectoryJournal, JournalError> {
        let found = StorageInfo::read(&self.root);
        let found = found.map_err(|error| self.inconsistent(error.to_string()))?;
        let Some(found) = found else {
            let reason =
                "it is not formatted as shared edits (namenode -format or -initializeSharedEdits)";
            return Err(self.inconsistent(reason.to_owned()));
        };
        let same = found.check_same(&self.info, &self.root);
        same.map_err(|error| self.inconsistent(error.to_string()))?;
        Ok(&self.journal)
    }
}

impl EditSource for SharedDirectory {
    fn name(&self) -> String {
        self.journal.name()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        self.checked()?.streams(selection)
    }
}

impl Journal for SharedDirectory {
    fn has_data(&self) -> Result<bool, JournalError> {
        self.journal.has_data()
    }

    fn format(&self) -> Result<(), JournalError> {
        self.journal.format()?;
        let written = self.info.write(&self.root);
        written.map_err(|error| self.inconsistent(error.to_string()))
    }

    fn recover_unfinalized_segments(&self) -> Recovery {
        match self.checked() {
            Ok(journal) => journal.recover_unfinalized_segments(),
            Err(error) => Recovery { reached: TxId(0), outcome: Err(error) },
        }
    }

    fn start_segment(&self, first: TxId) -> Result<Box<dyn OpenSegment>, JournalError> {
        self.checked()?.start_segment(first)
    }

    fn purge(&self, before: TxId, kept: Option<RangeInclusive<i64>>) {
        self.journal.purge(before, kept);
    }

    fn close(&self) {}
}

impl SharedJournal for SharedDirectory {
    fn holds(&self, txid: TxId) -> Result<bool, JournalError> {
        for file in self.checked()?.segments()? {
            let last = match file.kind {
                SegmentKind::Finalized(last) => Some(last),
                SegmentKind::InProgress => segment::scan(&file.path, self.op_size_max)?.last,
            };
            if file.first <= txid && last.is_some_and(|last| txid <= last) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn discard_segments(&self, first: TxId) -> Result<(), JournalError> {
        let files = self.checked()?.segments()?.into_iter();
        for file in files.filter(|file| file.first >= first) {
            let mut to = file.path.as_os_str().to_owned();
            to.push(".trash");
            std::fs::rename(&file.path, to).map_err(JournalError::io("rename", file.path))?;
        }
        sync_dir(&self.root.join("current"))
    }
}
