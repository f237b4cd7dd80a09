//! Images to roll back to: saved when a rolling upgrade is prepared, an ordinary image when it is finalized or rolled back.
//!
//! ```text
//! <dir>/current/fsimage_rollback_<txid>, fsimage_rollback_<txid>.md5
//! ```
//! The segment of the edit log that ends with its transaction is finished, so that a rollback gives up whole segments.

use super::NameStorage;
use super::dir::{ImageKind, NameDir};
use super::error::{StorageError, inconsistent};
use super::load::{LoadReport, Replay};
use super::save::{images, remove, remove_image};
use std::path::Path;
use zerohop_journal::image;
use zerohop_journal::segment::{self, SegmentKind, sync_dir};
use zerohop_wire::TxId;

/// The images to roll back to.
pub struct RollbackImages<'a> {
    storage: &'a NameStorage,
}

impl NameStorage {
    /// The images to roll back to.
    pub fn rollback_images(&self) -> RollbackImages<'_> {
        RollbackImages { storage: self }
    }
}

impl RollbackImages<'_> {
    /// Whether there is any.
    pub fn exist(&self) -> bool {
        self.storage.rollback_txid().is_some()
    }

    /// Loads the image to roll back to, and no edits. Nothing is changed before [`RollbackImages::roll_back`].
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn load(&self, replay: &mut dyn Replay) -> Result<LoadReport, StorageError> {
        let Some((txid, path)) = self.storage.newest_of(&[ImageKind::Rollback])? else {
            return Err(StorageError::NoRollbackImage { path: self.storage.first_root() });
        };
        self.storage.replay_image(&path, txid, replay)?;
        self.storage.report(txid, path, txid)
    }

    /// Gives up everything after `txid`, the transaction of the image to roll back to, and makes that image the newest one
    /// (`FSImage.rollingRollback`). Segments get names that end with `.trash`, later images are deleted. A rollback that a
    /// crash cut short is carried out by the next one; the image is renamed last. Where edits are shared, all JournalNodes must
    /// be there, and no other NameNode writes from then on.
    ///
    /// # Errors
    /// If a segment goes beyond `txid` and begins before it, or a directory or a JournalNode fails.
    pub fn roll_back(&self, txid: i64) -> Result<(), StorageError> {
        if let Some(shared) = &self.storage.shared {
            self.storage.recover_unfinalized_segments()?;
            shared.discard_segments(TxId(txid + 1))?;
        }
        for dir in self.storage.edits_dirs() {
            check_boundary(dir, txid)?;
        }
        for dir in self.storage.edits_dirs() {
            discard_segments(dir, txid)?;
        }
        for dir in self.storage.image_dirs() {
            let later = images(&dir.current(), ImageKind::Image).into_iter();
            later.filter(|(other, _)| *other > txid).for_each(|(_, path)| remove_image(&path));
        }
        for dir in self.storage.dirs().iter().filter(|dir| !dir.has_failed()) {
            dir.write_seen_txid(txid)?;
        }
        self.keep(txid)
    }

    /// Makes images to roll back to ordinary ones: there is no way back any more.
    ///
    /// # Errors
    /// If one cannot be renamed; the others may have been.
    pub fn finalize(&self) -> Result<(), StorageError> {
        self.keep(i64::MAX)
    }

    /// Images up to `txid` become ordinary ones, later ones are deleted.
    fn keep(&self, txid: i64) -> Result<(), StorageError> {
        for dir in self.storage.image_dirs() {
            for (found, path) in images(&dir.current(), ImageKind::Rollback) {
                if found > txid {
                    remove_image(&path);
                } else {
                    make_ordinary(dir, found, &path)?;
                }
            }
        }
        Ok(())
    }

    /// Deletes the images to roll back to: the rolling upgrade did not begin after all.
    pub fn discard(&self) {
        self.storage.remove_rollback_images(i64::MAX, true);
    }
}

fn check_boundary(dir: &NameDir, txid: i64) -> Result<(), StorageError> {
    for file in segment::list(&dir.current())? {
        let goes_beyond = match file.kind {
            SegmentKind::Finalized(last) => last.0 > txid,
            SegmentKind::InProgress => true,
        };
        if file.first.0 <= txid && goes_beyond {
            let reason = format!("it goes beyond transaction {txid}, the one to roll back to");
            return Err(inconsistent(&file.path, reason));
        }
    }
    Ok(())
}

fn discard_segments(dir: &NameDir, txid: i64) -> Result<(), StorageError> {
    for file in segment::list(&dir.current())?.iter().filter(|file| file.first.0 > txid) {
        let mut to = file.path.as_os_str().to_owned();
        to.push(".trash");
        tracing::info!("rolling back: {} is set aside", file.path.display());
        std::fs::rename(&file.path, &to).map_err(StorageError::io("rename", &file.path))?;
    }
    Ok(sync_dir(&dir.current())?)
}

/// The MD5 file names its image, so that it is written anew; the old one goes last.
fn make_ordinary(dir: &NameDir, txid: i64, path: &Path) -> Result<(), StorageError> {
    let to = dir.image_path(ImageKind::Image, txid);
    if image::verify_md5(&to).is_ok() {
        remove_image(path);
        return Ok(());
    }
    if let Some(digest) = image::read_md5(path)? {
        image::write_md5(&to, &digest)?;
    }
    zerohop_daemon::storage::rename(path, &to)?;
    remove(&image::md5_path(path));
    tracing::info!("{} is {} now", path.display(), to.display());
    Ok(())
}
