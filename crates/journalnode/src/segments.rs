//! The segments of a journal's directory.

use crate::error::{Error, Result};
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zerohop_journal::JournalError;
use zerohop_journal::segment::{
    self, Scan, SegmentFile, SegmentKind, finalized_name, in_progress_name,
};
use zerohop_wire::TxId;

/// The segments in a directory `current`.
#[derive(Debug)]
pub(crate) struct Segments {
    current: PathBuf,
    op_size_max: usize,
    /// What the last segment that was scanned, or closed by its writer, holds. A recovery asks five times, and a segment of a million
    /// records is long to read.
    scanned: RefCell<Option<(FileState, Option<Scan>)>>,
    /// The last segment whose writer closed it with all that it holds synced.
    synced: RefCell<Option<FileState>>,
}

/// A file as it was at some time; any change of it makes another one.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    path: PathBuf,
    inode: u64,
    len: u64,
    /// Seconds and nanoseconds of its last change.
    changed: (i64, i64),
}

impl FileState {
    fn of(path: &Path) -> Result<Self> {
        let meta = std::fs::metadata(path).map_err(JournalError::io("look at", path))?;
        let changed = (meta.ctime(), meta.ctime_nsec());
        Ok(Self { path: path.to_owned(), inode: meta.ino(), len: meta.len(), changed })
    }
}

/// How far a segment goes (`SegmentStateProto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentState {
    pub(crate) first: TxId,
    pub(crate) last: TxId,
    pub(crate) in_progress: bool,
}

impl SegmentState {
    pub(crate) fn contains(&self, txid: u64) -> bool {
        i64::try_from(txid).is_ok_and(|txid| (self.first.0..=self.last.0).contains(&txid))
    }
}

impl Segments {
    pub(crate) fn new(current: PathBuf, op_size_max: usize) -> Self {
        Self { current, op_size_max, scanned: RefCell::default(), synced: RefCell::default() }
    }

    /// All segments, by first transaction.
    pub(crate) fn list(&self) -> Result<Vec<SegmentFile>> {
        Ok(segment::list(&self.current)?)
    }

    /// The segment that begins with a transaction.
    pub(crate) fn find(&self, first: TxId) -> Result<Option<SegmentFile>> {
        let mut found = self.list()?.into_iter().filter(|file| file.first == first);
        let segment = found.next();
        if let Some(other) = found.next() {
            let reason = "it begins with the same transaction as another segment".to_owned();
            return Err(JournalError::Inconsistent { path: other.path, reason }.into());
        }
        Ok(segment)
    }

    /// The last transaction of a segment; none if it holds no record.
    pub(crate) fn last_of(&self, file: &SegmentFile) -> Result<Option<TxId>> {
        match file.kind {
            SegmentKind::Finalized(last) => Ok(Some(last)),
            SegmentKind::InProgress => Ok(self.scan_once(&file.path)?.and_then(|scan| scan.last)),
        }
    }

    /// Remembers the content of a segment whose writer has synced and closed it, unless its file no longer exists.
    pub(crate) fn remember(&self, path: &Path, scan: Scan) {
        self.scanned.replace(FileState::of(path).ok().map(|state| (state, Some(scan))));
        self.synced.replace(FileState::of(path).ok());
    }

    /// A segment is about to be written: changes within a tick of the clock would not show in its [`FileState`].
    pub(crate) fn forget_scan(&self) {
        self.scanned.take();
        self.synced.take();
    }

    /// [`Self::scan`] of a segment that no writer has open, or what it said before.
    fn scan_once(&self, path: &Path) -> Result<Option<Scan>> {
        let state = FileState::of(path)?;
        let mut scanned = self.scanned.borrow_mut();
        match &*scanned {
            Some((before, scan)) if *before == state => Ok(scan.clone()),
            _ => {
                let scan = self.scan(path)?;
                *scanned = Some((state, scan.clone()));
                Ok(scan)
            }
        }
    }

    /// The state of the segment that begins with a transaction. One without a record is moved aside: none, then.
    pub(crate) fn state(&self, first: TxId) -> Result<Option<SegmentState>> {
        let Some(file) = self.find(first)? else { return Ok(None) };
        match self.last_of(&file)? {
            Some(last) => {
                let in_progress = file.kind == SegmentKind::InProgress;
                Ok(Some(SegmentState { first, last, in_progress }))
            }
            None => {
                move_aside(&file.path)?;
                Ok(None)
            }
        }
    }

    /// The last segment that holds a record, and its last transaction. Segments behind it are moved aside.
    pub(crate) fn latest(&self) -> Result<Option<(TxId, TxId)>> {
        for file in self.list()?.iter().rev() {
            if let Some(last) = self.last_of(file)? {
                return Ok(Some((file.first, last)));
            }
            move_aside(&file.path)?;
        }
        Ok(None)
    }

    /// Gives a segment in progress its final name; everything in it is durable then. A record that a crash cut, and the
    /// padding, are removed.
    pub(crate) fn finalize(&self, first: TxId, last: TxId) -> Result<()> {
        let path = self.current.join(in_progress_name(first));
        self.make_durable(first)?;
        if let Some(scan) = self.scan_once(&path)? {
            let file = OpenOptions::new().write(true).open(&path);
            let file = file.map_err(JournalError::io("open", &path))?;
            file.set_len(scan.valid_len).map_err(JournalError::io("truncate", &path))?;
            file.sync_all().map_err(JournalError::io("sync", &path))?;
        }
        self.name_finalized(first, last)
    }

    /// The same for a segment whose writer has finished it. It is not read again: that takes seconds where it is long, and a
    /// NameNode waits for it that gives up the active state.
    pub(crate) fn name_finalized(&self, first: TxId, last: TxId) -> Result<()> {
        let path = self.current.join(in_progress_name(first));
        Ok(segment::rename(&path, &self.current.join(finalized_name(first, last)))?)
    }

    /// Removes finalized segments that end before a transaction.
    pub(crate) fn purge(&self, before: TxId) -> Result<()> {
        for file in self.list()? {
            if matches!(file.kind, SegmentKind::Finalized(last) if last < before)
                && let Err(error) = std::fs::remove_file(&file.path)
            {
                tracing::warn!("cannot remove {}: {error}", file.path.display());
            }
        }
        Ok(())
    }

    /// Replaces a segment in progress by a durable copy, unless its writer has synced and closed it. Syncing the file itself is
    /// not enough: if a sync failed before, the kernel takes the pages for written, and later syncs succeed without them.
    pub(crate) fn make_durable(&self, first: TxId) -> Result<()> {
        let path = self.current.join(in_progress_name(first));
        let Ok(state) = FileState::of(&path) else { return Ok(()) };
        if self.synced.borrow().as_ref() == Some(&state) {
            return Ok(());
        }
        let Some(scan) = self.scan_once(&path)? else { return Ok(()) };
        let to = self.current.join(format!("{}.copy", in_progress_name(first)));
        let from = File::open(&path).map_err(JournalError::io("open", &path))?;
        let mut copy = File::create(&to).map_err(JournalError::io("create", &to))?;
        std::io::copy(&mut from.take(scan.valid_len), &mut copy)
            .map_err(JournalError::io("write", &to))?;
        copy.sync_all().map_err(JournalError::io("sync", &to))?;
        segment::rename(&to, &path)?;
        self.remember(&path, scan);
        Ok(())
    }

    /// Takes segments that begin with a transaction or behind it out of use, as a rollback of the NameNode wishes.
    pub(crate) fn discard_from(&self, first: TxId) -> Result<()> {
        for file in self.list()? {
            let reaches = match file.kind {
                SegmentKind::Finalized(last) => last >= first,
                SegmentKind::InProgress => true,
            };
            if file.first >= first {
                let mut to = file.path.clone().into_os_string();
                to.push(".trash");
                segment::rename(&file.path, Path::new(&to))?;
            } else if reaches && file.kind != SegmentKind::InProgress {
                return Err(Error::BadRequest(format!(
                    "cannot discard transactions from {first} on: {} begins before",
                    file.path.display()
                )));
            }
        }
        Ok(())
    }

    /// Takes a finalized segment that was fetched into use, if nothing of it is here but what a crash left of the same segment.
    /// `open` is the segment being written.
    pub(crate) fn add_fetched(
        &self,
        fetched: &Path,
        first: TxId,
        last: TxId,
        open: Option<TxId>,
    ) -> Result<bool> {
        let mut left = None;
        for file in self.list()?.into_iter().filter(|file| file.first <= last) {
            if open == Some(file.first) {
                return Ok(false);
            }
            if file.kind == SegmentKind::InProgress && file.first == first {
                left = Some(file.path);
            } else if self.last_of(&file)?.is_some_and(|end| end >= first) {
                return Ok(false);
            }
        }
        let scan = self.scan(fetched)?;
        if scan.is_none_or(|scan| (scan.first, scan.last) != (Some(first), Some(last))) {
            return Ok(false);
        }
        segment::rename(fetched, &self.current.join(finalized_name(first, last)))?;
        if let Some(left) = left {
            let mut to = left.clone().into_os_string();
            to.push(".stale");
            segment::rename(&left, Path::new(&to))?;
        }
        Ok(true)
    }

    /// Checks a segment's records; none if it holds none, not even a header perhaps.
    pub(crate) fn scan(&self, path: &Path) -> Result<Option<Scan>> {
        match segment::scan(path, self.op_size_max) {
            Ok(scan) if scan.last.is_none() => Ok(None),
            Ok(scan) => Ok(Some(scan)),
            Err(JournalError::Header { .. } | JournalError::Newer { .. })
                if segment::holds_no_record(path)? =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn move_aside(path: &Path) -> Result<()> {
    tracing::warn!("{} holds no transaction: it is moved aside", path.display());
    let mut to = path.as_os_str().to_owned();
    to.push(".empty");
    Ok(segment::rename(path, Path::new(&to))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{OPTIONS, records};
    use zerohop_journal::layout::LayoutVersion;
    use zerohop_journal::segment::SegmentWriter;

    #[test]
    fn a_scan_is_remembered_until_the_file_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(in_progress_name(TxId(1)));
        let mut writer = SegmentWriter::create(&path, LayoutVersion::CURRENT).unwrap();
        writer.append(&records(1, 3)).unwrap();
        drop(writer);
        let segments = Segments::new(dir.path().to_owned(), OPTIONS.op_size_max);
        let last = || segments.state(TxId(1)).unwrap().map(|state| state.last);
        assert_eq!(last(), Some(TxId(3)));

        let pretend = || {
            let mut scanned = segments.scanned.borrow_mut();
            scanned.as_mut().unwrap().1.as_mut().unwrap().last = Some(TxId(2));
        };
        pretend();
        assert_eq!(last(), Some(TxId(2)), "the file was read again");
        segments.forget_scan();
        assert_eq!(last(), Some(TxId(3)));
        pretend();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        assert_eq!(last(), Some(TxId(3)), "a file that has changed was not read");
    }
}
