//! From the directories to the namespace: the newest image, then every edit behind it.

use super::NameStorage;
use super::dir::ImageKind;
use super::error::{ReplayError, StorageError};
use super::save::images;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use zerohop_journal::JournalError;
use zerohop_journal::image::{self, ImageReader};
use zerohop_journal::log::{EditCursor, EditSource, EditStream, Journal, Selection};
use zerohop_journal::op::Record;
use zerohop_wire::TxId;

/// What images and edits are loaded into.
pub trait Replay {
    /// Takes a whole image; called once, before any edit.
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError>;
    /// Applies the next edit.
    fn edit(&mut self, record: Record) -> Result<(), ReplayError>;

    /// The last edit that was applied, as far as that is asked for: after edits could not be read to their end.
    fn last_txid(&self) -> i64 {
        0
    }

    /// Applies the edits from where the cursor is up to `until`, or as many as there are.
    ///
    /// # Errors
    /// If an edit cannot be read or applied.
    fn edits(&mut self, edits: &mut EditCursor<'_>, until: TxId) -> Result<(), StorageError> {
        while edits.next_txid() <= until
            && let Some(record) = edits.next()?
        {
            let (name, txid) = (record.op.name(), record.txid);
            self.edit(record).map_err(|source| StorageError::Replay {
                what: format!("{name} (transaction {txid}) of {}", edits.stream_name()),
                source,
            })?;
        }
        Ok(())
    }
}

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadReport {
    /// The image that was loaded.
    pub image: PathBuf,
    /// The transaction it was taken after.
    pub image_txid: i64,
    /// When that was written, ms since the epoch (the file's mtime).
    pub image_written_ms: u64,
    /// The last transaction applied; the next is one more.
    pub last_txid: i64,
    /// Edits applied behind the image.
    pub edits: u64,
    /// Whether a directory has no image yet, or the layout is older: an image should be saved now.
    pub needs_save: bool,
}

impl NameStorage {
    /// Finishes segments that a crash left behind, then loads the newest image and all edits. Where edits are shared, segments
    /// are left as they are, for another NameNode may be writing, and what is finished of them is loaded; it may be nothing
    /// where the JournalNodes are not there yet.
    ///
    /// # Errors
    /// Also if the edits end before any of the directories went, those included that cannot be used: a
    /// directory that was left behind does not stand in for one that is damaged.
    pub fn load(&self, replay: &mut dyn Replay) -> Result<LoadReport, StorageError> {
        if self.shared.is_some() {
            return self.load_shared(replay);
        }
        let known = self.history().known_txid();
        let recovered = self.recover_unfinalized_segments()?.0;
        let (image_txid, path) = self.newest_image()?;
        self.history().check_one_history(image_txid)?;
        self.replay_image(&path, image_txid, replay)?;
        let last_txid = self.replay_edits(image_txid, i64::MAX, replay)?;
        self.history().check_complete(TxId(known.max(recovered)), TxId(last_txid + 1))?;
        self.report(image_txid, path, last_txid)
    }

    fn load_shared(&self, replay: &mut dyn Replay) -> Result<LoadReport, StorageError> {
        let (image_txid, path) = self.newest_image()?;
        self.replay_image(&path, image_txid, replay)?;
        let last_txid = match self.replay_edits(image_txid, i64::MAX, replay) {
            Err(StorageError::Journal(error)) => {
                tracing::warn!("the edits behind image {image_txid} are read later: {error}");
                replay.last_txid().max(image_txid)
            }
            replayed => replayed?,
        };
        self.report(image_txid, path, last_txid)
    }

    pub(super) fn report(
        &self,
        image_txid: i64,
        image: PathBuf,
        last_txid: i64,
    ) -> Result<LoadReport, StorageError> {
        Ok(LoadReport {
            image_txid,
            image_written_ms: written_ms(&image)?,
            last_txid,
            edits: (last_txid - image_txid) as u64,
            needs_save: self.dirs.iter().any(|dir| dir.is_version_due()) || self.lacks_an_image(),
            image,
        })
    }

    /// Loads the newest image and the finished segments behind it up to the end of the one that ends with `txid`, while
    /// the edit log goes on.
    ///
    /// # Errors
    /// If they do not reach as far.
    pub fn load_until(&self, txid: i64, replay: &mut dyn Replay) -> Result<(), StorageError> {
        let (image_txid, path) = self.newest_image()?;
        self.replay_image(&path, image_txid, replay)?;
        match self.replay_edits(image_txid, txid, replay)? {
            last if last < txid => Err(self.history().gap(txid, last + 1)),
            _ => Ok(()),
        }
    }

    /// Loads the newest image and all finished segments behind it, while the edit log goes on.
    ///
    /// # Errors
    /// If they cannot be read, or one between them is missing.
    pub fn load_finished(&self, replay: &mut dyn Replay) -> Result<LoadReport, StorageError> {
        let (image_txid, path) = self.newest_image()?;
        self.replay_image(&path, image_txid, replay)?;
        let last_txid = self.replay_edits(image_txid, i64::MAX, replay)?;
        self.report(image_txid, path, last_txid)
    }

    /// Whether a directory that is to hold images has none: its first one failed.
    fn lacks_an_image(&self) -> bool {
        self.image_dirs().any(|dir| images(&dir.current(), ImageKind::Image).is_empty())
    }

    /// The newest image that is what its MD5 file says; copies in other directories stand in for a bad
    /// one, older images do not (their edits may be purged, which would go unnoticed). One to roll back to is as good as
    /// others: the edits behind it say that a rolling upgrade began.
    pub(super) fn newest_image(&self) -> Result<(i64, PathBuf), StorageError> {
        let newest = self.newest_of(&[ImageKind::Image, ImageKind::Rollback])?;
        newest.ok_or_else(|| StorageError::NoImage { path: self.first_root() })
    }

    /// The newest image of these kinds that is what its MD5 file says, if there is any.
    ///
    /// # Errors
    /// If no copy of the newest one is.
    pub(super) fn newest_of(
        &self,
        kinds: &[ImageKind],
    ) -> Result<Option<(i64, PathBuf)>, StorageError> {
        let of_dir = |current: PathBuf| kinds.iter().flat_map(move |kind| images(&current, *kind));
        let mut found: Vec<_> = self.image_dirs().flat_map(|dir| of_dir(dir.current())).collect();
        found.sort_by_key(|(txid, _)| Reverse(*txid));
        let newest = found.first().map(|(txid, _)| *txid);
        let mut error = None;
        for (txid, path) in found.into_iter().take_while(|(txid, _)| Some(*txid) == newest) {
            match image::verify_md5(&path) {
                Ok(()) => return Ok(Some((txid, path))),
                Err(e) => {
                    tracing::error!("{e}");
                    error = Some(e.into());
                }
            }
        }
        error.map_or(Ok(None), Err)
    }

    pub(super) fn first_root(&self) -> PathBuf {
        self.dirs.first().map(|dir| dir.root().to_owned()).unwrap_or_default()
    }

    /// Loads the image at `path`, whose name says that it was taken after `txid`.
    ///
    /// # Errors
    /// Fails if the image cannot be read, says another transaction, or has what would be lost.
    pub(super) fn replay_image(
        &self,
        path: &Path,
        txid: i64,
        replay: &mut dyn Replay,
    ) -> Result<(), StorageError> {
        let image = ImageReader::open(path)?.with_threads(self.config.image_format.threads);
        // Unknown ones are refused: what is in them would be lost with the next image.
        image.sections()?;
        image.check_txid(TxId(txid))?;
        let refused = |source| StorageError::Replay { what: path.display().to_string(), source };
        replay.image(&image).map_err(refused)
    }

    /// Finalizes what a crash left in progress, and returns the last transaction that is in any of it. Where edits are shared,
    /// no earlier writer may add to them from then on, and what is damaged in a directory is set aside: it is a copy. Else a
    /// directory whose segment is damaged is dropped if another one is whole; what is left of its records says how far the other one must
    /// go.
    ///
    /// # Errors
    /// If no directory is left.
    pub fn recover_unfinalized_segments(&self) -> Result<TxId, StorageError> {
        if let Some(shared) = &self.shared {
            let recovery = shared.recover_unfinalized_segments();
            recovery.outcome.map_err(|error| StorageError::SharedJournal {
                what: "recoverUnfinalizedSegments",
                journal: shared.name(),
                reason: error.to_string(),
            })?;
            self.recover_copies();
            return Ok(recovery.reached);
        }
        let mut reached = TxId(0);
        let mut first_error = None;
        for dir in self.edits_dirs() {
            let recovery = dir.journal(self.config.op_size_max).recover_unfinalized_segments();
            reached = reached.max(recovery.reached);
            if let Err(e) = recovery.outcome {
                dir.fail(&e);
                first_error.get_or_insert(e);
            }
        }
        match first_error {
            Some(error) if self.edits_dirs().next().is_none() => Err(error.into()),
            _ => Ok(reached),
        }
    }

    fn recover_copies(&self) {
        for dir in self.edits_dirs() {
            let journal = dir.journal(self.config.op_size_max);
            if let Err(error) = journal.recover_unfinalized_segments().outcome {
                tracing::warn!("set aside, for it is a copy of the shared edits: {error}");
                if let Err(error) = journal.set_aside_unfinalized_segments() {
                    dir.fail(&error);
                }
            }
        }
    }

    /// Applies the edits behind the image, up to `until` or, with [`i64::MAX`], all; the last one.
    fn replay_edits(
        &self,
        image_txid: i64,
        until: i64,
        replay: &mut dyn Replay,
    ) -> Result<i64, StorageError> {
        let mut edits = EditCursor::new(self, TxId(image_txid + 1), false);
        replay.edits(&mut edits, TxId(until))?;
        let next = edits.next_txid().0;
        if until == i64::MAX {
            self.history().check_no_later_segment(next)?;
        }
        Ok(next - 1)
    }
}

/// The edits of all directories, of which one that cannot be listed is dropped; or the shared edits.
impl EditSource for NameStorage {
    fn name(&self) -> String {
        "the edit log".to_owned()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        if let Some(shared) = &self.shared {
            return shared.streams(selection);
        }
        let mut all = Vec::new();
        for dir in self.edits_dirs() {
            match dir.journal(self.config.op_size_max).streams(selection) {
                Ok(streams) => all.extend(streams),
                Err(e) => dir.fail(&e),
            }
        }
        Ok(all)
    }
}

/// When a file was last written, ms since the epoch.
fn written_ms(path: &Path) -> Result<u64, StorageError> {
    let mtime = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    let mtime = mtime.map_err(StorageError::io("stat", path))?;
    Ok(mtime.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64)
}
