//! Writing checkpoints, and removing what they make superfluous.

use super::NameStorage;
use super::dir::{ImageKind, NEW_PREFIX, NameDir};
use super::error::StorageError;
use super::saving::Saving;
use super::version::StorageInfo;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_journal::image::{self, ImageWriter};
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::log::Journal;
use zerohop_journal::segment::{SegmentFile, SegmentKind};
use zerohop_wire::TxId;

impl NameStorage {
    /// Writes the image of the namespace as it is after `txid` into every image directory, and makes
    /// it the newest; then removes what is not needed any more. `write` runs once, its bytes go to
    /// all directories at the same time.
    ///
    /// # Errors
    /// If no directory got a whole image; the images before are untouched then, and the edit log goes
    /// on in all directories: a disk too full for an image may well have room for edits.
    pub fn save_image(
        &self,
        txid: i64,
        write: impl FnOnce(&mut ImageWriter<'_>) -> io::Result<()>,
    ) -> Result<(), StorageError> {
        self.save_image_of(ImageKind::Image, txid, write)
    }

    /// As [`NameStorage::save_image`], an image to roll back to. No edits are removed, and it takes the place of older
    /// ones of its kind.
    ///
    /// # Errors
    /// As there.
    pub fn save_rollback_image(
        &self,
        txid: i64,
        write: impl FnOnce(&mut ImageWriter<'_>) -> io::Result<()>,
    ) -> Result<(), StorageError> {
        self.save_image_of(ImageKind::Rollback, txid, write)?;
        self.remove_rollback_images(txid, false);
        Ok(())
    }

    /// The transaction of the newest image to roll back to.
    pub(super) fn rollback_txid(&self) -> Option<i64> {
        let all = self.image_dirs().flat_map(|dir| images(&dir.current(), ImageKind::Rollback));
        all.map(|(txid, _)| txid).max()
    }

    /// Deletes the images to roll back to that were saved before `txid`, or also the one of `txid`.
    pub(super) fn remove_rollback_images(&self, txid: i64, inclusive: bool) {
        for dir in self.image_dirs() {
            for (found, path) in images(&dir.current(), ImageKind::Rollback) {
                if found < txid || inclusive && found == txid {
                    remove_image(&path);
                }
            }
        }
    }

    fn save_image_of(
        &self,
        kind: ImageKind,
        txid: i64,
        write: impl FnOnce(&mut ImageWriter<'_>) -> io::Result<()>,
    ) -> Result<(), StorageError> {
        let _until_saved = self.saving.begin()?;
        let mut copies = Copies::create(self, kind, txid, Origin::Saved);
        let mut image = ImageWriter::with_format(&mut copies, self.config.image_format);
        match write(&mut image).and_then(|()| image.finish()) {
            Ok(digest) => self.publish_all(copies, &digest),
            Err(error) => Err(self.why_no_image(copies, Some(error))),
        }
    }

    pub(super) fn publish_all(
        &self,
        mut copies: Copies,
        digest: &[u8; 16],
    ) -> Result<(), StorageError> {
        let (kind, txid) = (copies.kind, copies.txid);
        copies.each(|dir, file, new| publish(dir, file, new, (kind, txid), digest));
        if copies.files.is_empty() {
            return Err(self.why_no_image(copies, None));
        }
        if kind == ImageKind::Image {
            self.note_layout(&copies);
            self.purge(txid);
        }
        Ok(())
    }

    /// The first directory's failure; without one what made the image failed.
    pub(super) fn why_no_image(&self, mut copies: Copies, made: Option<io::Error>) -> StorageError {
        let failure = copies.failure.take();
        let path = copies.files.first().map(|(dir, _)| copies.new_path(dir));
        copies.discard();
        match (failure, made, path) {
            (Some(failure), ..) => failure,
            (None, Some(source), Some(path)) => StorageError::io("write", path)(source),
            _ => self.none_left("images"),
        }
    }

    /// With an image of this layout there, every directory says so but those that should hold it and do
    /// not.
    fn note_layout(&self, copies: &Copies) {
        let info = StorageInfo { layout: LayoutVersion::CURRENT, ..self.info.clone() };
        let has_it = |dir: &Arc<NameDir>| {
            !dir.holds_images() || copies.files.iter().any(|(copied, _)| Arc::ptr_eq(copied, dir))
        };
        for dir in self.dirs.iter().filter(|dir| !dir.has_failed() && has_it(dir)) {
            if let Err(e) = dir.write_version_if_due(&info) {
                dir.fail(&e);
            }
        }
    }

    /// Removes old images and segments as Hadoop does (`NNStorageRetentionManager`), as far as the image of `covered`, which
    /// was just made, stands in for them. Problems are logged: they cost space, not data.
    fn purge(&self, covered: i64) {
        let oldest_kept = self.oldest_image_kept(covered);
        for dir in self.image_dirs() {
            for (txid, path) in images(&dir.current(), ImageKind::Image) {
                if txid < oldest_kept {
                    tracing::info!("purging old image {}", path.display());
                    remove(&path);
                    remove(&image::md5_path(&path));
                }
            }
        }
        let from = self.purge_edits_before(oldest_kept + 1);
        // Apache's NameNode rolls back only where the two edits behind the image are: the segment's begin, and the upgrade's.
        let of_rollback = self.rollback_txid().map(|txid| txid + 1..=txid + 2);
        for journal in self.journals() {
            journal.purge(TxId(from), of_rollback.clone());
        }
        if let Some(shared) = &self.shared {
            shared.purge(TxId(from), of_rollback);
        }
    }

    /// Returns the transaction of the oldest image that is kept: the last of the newest `checkpoints_retained`, over all
    /// directories. Images of transactions after `covered` do not count.
    fn oldest_image_kept(&self, covered: i64) -> i64 {
        let all = self.image_dirs().flat_map(|dir| images(&dir.current(), ImageKind::Image));
        let txids: BTreeSet<i64> =
            all.map(|(txid, _)| txid).filter(|txid| *txid <= covered).collect();
        txids.into_iter().rev().take(self.config.checkpoints_retained).next_back().unwrap_or(0)
    }

    /// The transaction before which segments go: some more than `needed` requires are kept.
    fn purge_edits_before(&self, needed: i64) -> i64 {
        let mut from = (needed - self.config.extra_edits_retained).max(0);
        let segments: BTreeSet<(i64, i64)> = self
            .finalized_segments()
            .filter_map(|file| match file.kind {
                SegmentKind::Finalized(last) => Some((file.first.0, last.0)),
                SegmentKind::InProgress => None,
            })
            .filter(|(first, last)| *first < needed && *last >= from)
            .collect();
        let superfluous = segments.len().saturating_sub(self.config.extra_segments_max);
        if let Some((_, last)) = segments.into_iter().take(superfluous).next_back() {
            from = last + 1;
        }
        from.min(needed)
    }

    fn finalized_segments(&self) -> impl Iterator<Item = SegmentFile> {
        self.journals().flat_map(|journal| journal.segments().unwrap_or_default())
    }
}

/// The maker of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// This NameNode, which saves one image at a time.
    Saved,
    /// Another NameNode, while this one may be saving the same image.
    Received,
}

/// The same bytes into every directory; a copy that fails is deleted, and the directory waits for the next
/// image.
pub(super) struct Copies {
    kind: ImageKind,
    txid: i64,
    origin: Origin,
    files: Vec<(Arc<NameDir>, File)>,
    /// Of the first copy that failed.
    failure: Option<StorageError>,
    saving: Arc<Saving>,
}

impl Copies {
    pub(super) fn create(
        storage: &NameStorage,
        kind: ImageKind,
        txid: i64,
        origin: Origin,
    ) -> Self {
        let saving = Arc::clone(&storage.saving);
        let mut copies = Self { kind, txid, origin, files: Vec::new(), failure: None, saving };
        for dir in storage.image_dirs() {
            let path = copies.new_path(dir);
            match File::create(&path) {
                Ok(file) => copies.files.push((Arc::clone(dir), file)),
                Err(e) => copies.note(dir, StorageError::io("create", path)(e)),
            }
        }
        copies
    }

    /// Returns the path of a copy while it is written.
    fn new_path(&self, dir: &NameDir) -> PathBuf {
        match self.origin {
            Origin::Saved => dir.image_new_path(self.txid),
            Origin::Received => dir.image_received_path(self.kind, self.txid),
        }
    }

    /// Returns the path of the first copy that was written whole.
    pub(super) fn first_path(&self) -> Option<PathBuf> {
        self.files.first().map(|(dir, _)| self.new_path(dir))
    }

    /// Writes the copies to their disks.
    pub(super) fn sync(&mut self) {
        self.each(|_, file, path| file.sync_all().map_err(StorageError::io("sync", path)));
    }

    /// Does the same to every copy; one with which it fails is no copy any more.
    fn each(
        &mut self,
        mut work: impl FnMut(&NameDir, &mut File, &Path) -> Result<(), StorageError>,
    ) {
        let mut failed = Vec::new();
        let mut files = std::mem::take(&mut self.files);
        files.retain_mut(|(dir, file)| match work(dir, file, &self.new_path(dir)) {
            Ok(()) => true,
            Err(error) => {
                failed.push((Arc::clone(dir), error));
                false
            }
        });
        self.files = files;
        for (dir, error) in failed {
            self.note(&dir, error);
            remove(&self.new_path(&dir));
        }
    }

    fn note(&mut self, dir: &NameDir, error: StorageError) {
        tracing::error!("storage directory {} got no image: {error}", dir.root().display());
        self.failure.get_or_insert(error);
    }

    pub(super) fn discard(self) {
        for (dir, _) in &self.files {
            remove(&self.new_path(dir));
        }
    }
}

impl Write for Copies {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.saving.check().map_err(io::Error::other)?;
        self.each(|_, file, path| file.write_all(bytes).map_err(StorageError::io("write", path)));
        if self.files.is_empty() {
            return Err(io::Error::other("no image directory is left"));
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn publish(
    dir: &NameDir,
    file: &mut File,
    new: &Path,
    (kind, txid): (ImageKind, i64),
    digest: &[u8; 16],
) -> Result<(), StorageError> {
    file.sync_all().map_err(StorageError::io("sync", new))?;
    let path = dir.image_path(kind, txid);
    // An image of the same transaction may have other bytes: killed between the two steps below, the
    // directory would have none that is good.
    if !dir.is_version_due() && path.exists() && image::verify_md5(&path).is_ok() {
        remove(new);
        return Ok(());
    }
    image::write_md5(&path, digest)?;
    Ok(zerohop_daemon::storage::rename(new, &path)?)
}

/// Deletes images that a crash, or a disk that was full, left unfinished.
pub(super) fn remove_unfinished(dir: &NameDir) {
    for entry in std::fs::read_dir(dir.current()).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(NEW_PREFIX)) {
            tracing::info!("removing the unfinished image {}", entry.path().display());
            remove(&entry.path());
        }
    }
}

/// The images of a directory that are for this, with their transactions.
pub(super) fn images(current: &Path, kind: ImageKind) -> Vec<(i64, PathBuf)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(current).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(kind.prefix()));
        let Some(digits) = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())) else {
            continue;
        };
        if let Ok(txid) = digits.parse() {
            found.push((txid, entry.path()));
        }
    }
    found
}

pub(super) fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            tracing::warn!("could not delete {}: {e}", path.display());
        }
        _ => {}
    }
}

pub(super) fn remove_image(path: &Path) {
    tracing::info!("deleting image {}", path.display());
    remove(path);
    remove(&image::md5_path(path));
}
