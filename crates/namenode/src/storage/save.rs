//! Writing checkpoints, and removing what they make superfluous.

use super::NameStorage;
use super::dir::NameDir;
use super::error::StorageError;
use super::version::StorageInfo;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use zerohop_journal::image::{self, ImageWriter};
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::segment::{self, SegmentFile, SegmentKind};

impl NameStorage {
    /// Writes the image of the namespace as it is after `txid` into every image folder, and makes
    /// it the newest; then removes what is not needed any more. `write` runs once, its bytes go to
    /// all folders at the same time.
    ///
    /// # Errors
    /// If no folder got a whole image; the images before are untouched then.
    pub fn save_image(
        &self,
        txid: i64,
        write: impl FnOnce(&mut ImageWriter<'_>) -> io::Result<()>,
    ) -> Result<(), StorageError> {
        let mut copies =
            Copies::create(self.image_dirs(), txid).ok_or_else(|| self.none_left("images"))?;
        let mut image = ImageWriter::new(&mut copies);
        let written = write(&mut image).and_then(|()| image.finish());
        let first = self.image_dirs().next().map(|dir| dir.image_new_path(txid));
        let digest = match written {
            Ok(digest) => digest,
            Err(source) => {
                copies.discard(txid);
                return Err(StorageError::io("write", first.unwrap_or_default())(source));
            }
        };
        self.publish_all(copies, txid, &digest)
    }

    /// As [`NameStorage::save_image`] with an image made before, and its MD5 digest: what makes the
    /// image holds a lock, what writes it must not.
    ///
    /// # Errors
    /// If no folder got a whole image; the images before are untouched then.
    pub fn save_made_image(
        &self,
        txid: i64,
        image: &[u8],
        digest: &[u8; 16],
    ) -> Result<(), StorageError> {
        let mut copies =
            Copies::create(self.image_dirs(), txid).ok_or_else(|| self.none_left("images"))?;
        let first = self.image_dirs().next().map(|dir| dir.image_new_path(txid));
        if let Err(source) = copies.write_all(image) {
            copies.discard(txid);
            return Err(StorageError::io("write", first.unwrap_or_default())(source));
        }
        self.publish_all(copies, txid, digest)
    }

    fn publish_all(
        &self,
        copies: Copies,
        txid: i64,
        digest: &[u8; 16],
    ) -> Result<(), StorageError> {
        for (dir, file) in copies.files {
            if let Err(e) = publish(&dir, &file, txid, digest) {
                dir.fail(&e);
            }
        }
        if !self.image_dirs().any(|dir| dir.image_path(txid).exists()) {
            return Err(self.none_left("images"));
        }
        self.settle();
        self.purge();
        Ok(())
    }

    /// With an image of this layout there, every folder says so.
    fn settle(&self) {
        let info = StorageInfo { layout: LayoutVersion::CURRENT, ..self.info.clone() };
        for dir in self.dirs.iter().filter(|dir| !dir.has_failed()) {
            if let Err(e) = dir.settle(&info) {
                dir.fail(&e);
            }
        }
    }

    /// Removes old images and segments as Hadoop does (`NNStorageRetentionManager`). Problems are
    /// logged: they cost space, not data.
    fn purge(&self) {
        let oldest_kept = self.oldest_image_kept();
        for dir in self.image_dirs() {
            for (txid, path) in images(&dir.current()) {
                if txid < oldest_kept {
                    tracing::info!("purging old image {}", path.display());
                    remove(&path);
                    remove(&image::md5_path(&path));
                }
            }
        }
        let from = self.purge_edits_before(oldest_kept + 1);
        for file in self.finalized_segments() {
            if let SegmentKind::Finalized(last) = file.kind
                && last.0 < from
            {
                tracing::info!("purging old edit log {}", file.path.display());
                remove(&file.path);
            }
        }
    }

    /// The last of the newest `checkpoints_retained` images, over all folders.
    fn oldest_image_kept(&self) -> i64 {
        let all = self.image_dirs().flat_map(|dir| images(&dir.current()));
        let txids: BTreeSet<i64> = all.map(|(txid, _)| txid).collect();
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
        self.edits_dirs().flat_map(|dir| segment::list(&dir.current()).unwrap_or_default())
    }
}

/// The same bytes into every folder; one that fails is dropped, and without any there is nothing.
struct Copies {
    files: Vec<(Arc<NameDir>, File)>,
}

impl Copies {
    fn create<'a>(dirs: impl Iterator<Item = &'a Arc<NameDir>>, txid: i64) -> Option<Self> {
        let mut files = Vec::new();
        for dir in dirs {
            let path = dir.image_new_path(txid);
            match File::create(&path) {
                Ok(file) => files.push((Arc::clone(dir), file)),
                Err(e) => dir.fail(&StorageError::io("create", path)(e)),
            }
        }
        (!files.is_empty()).then_some(Self { files })
    }

    fn discard(self, txid: i64) {
        for (dir, _) in self.files {
            remove(&dir.image_new_path(txid));
        }
    }
}

impl Write for Copies {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.files.retain_mut(|(dir, file)| match file.write_all(bytes) {
            Ok(()) => true,
            Err(e) => {
                dir.fail(&format_args!("cannot write an image: {e}"));
                false
            }
        });
        if self.files.is_empty() {
            return Err(io::Error::other("no image folder is left"));
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn publish(dir: &NameDir, file: &File, txid: i64, digest: &[u8; 16]) -> Result<(), StorageError> {
    let new = dir.image_new_path(txid);
    file.sync_all().map_err(StorageError::io("sync", &new))?;
    let path = dir.image_path(txid);
    image::write_md5(&path, digest)?;
    super::file::rename(&new, &path)
}

/// The images of a folder with their transactions.
pub(super) fn images(current: &Path) -> Vec<(i64, std::path::PathBuf)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(current).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix("fsimage_"));
        let Some(digits) = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())) else {
            continue;
        };
        if let Ok(txid) = digits.parse() {
            found.push((txid, entry.path()));
        }
    }
    found
}

fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            tracing::warn!("could not delete {}: {e}", path.display());
        }
        _ => {}
    }
}
