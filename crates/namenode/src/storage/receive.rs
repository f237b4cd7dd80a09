//! Files that go from one NameNode to another: images into the directories, images and segments out of them.

use super::NameStorage;
use super::dir::ImageKind;
use super::error::StorageError;
use super::save::{Copies, images};
use md5::{Digest, Md5};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use zerohop_journal::segment::{SegmentFile, SegmentKind};

/// Bytes taken from a sender at once.
const PIECE_LEN: usize = 64 * 1024;

/// An image that another NameNode sends, and what it says of it.
pub struct ReceivedImage<'a> {
    /// What it is for.
    pub kind: ImageKind,
    /// The transaction it was taken after.
    pub txid: i64,
    /// Its bytes.
    pub from: &'a mut dyn Read,
    /// How many there are.
    pub len: u64,
    /// Their MD5, where the sender tells it.
    pub digest: Option<[u8; 16]>,
}

/// Images and segments for other NameNodes, and images from them.
pub struct Transfers<'a> {
    storage: &'a NameStorage,
}

impl NameStorage {
    /// Images and segments for other NameNodes, and from them.
    pub fn transfers(&self) -> Transfers<'_> {
        Transfers { storage: self }
    }
}

impl Transfers<'_> {
    /// Takes an image that another NameNode made into every image directory, and removes what is not needed any more. What
    /// came is deleted if it is not what its sender says of it.
    ///
    /// # Errors
    /// If it does not come whole, or no directory can hold it.
    pub fn receive_image(&self, image: ReceivedImage<'_>) -> Result<(), StorageError> {
        let _until_saved = self.storage.saving.begin()?;
        let mut copies = Copies::create(self.storage, image.kind, image.txid);
        let (expected, txid, kind) = (image.digest, image.txid, image.kind);
        match copy(image.from, image.len, expected, &mut copies) {
            Ok(digest) => self.storage.publish_all(copies, &digest)?,
            Err(error) => return Err(self.storage.why_no_image(copies, Some(error))),
        }
        if kind == ImageKind::Rollback {
            self.storage.remove_rollback_images(txid, false);
        }
        Ok(())
    }

    /// The image of a transaction, to start from or to roll back to.
    pub fn image_file(&self, txid: i64) -> Option<PathBuf> {
        self.all_images().find(|(found, _)| *found == txid).map(|(_, path)| path)
    }

    /// The image of a transaction that is for this.
    pub fn image_file_of(&self, kind: ImageKind, txid: i64) -> Option<PathBuf> {
        let mut all = self.storage.image_dirs().flat_map(|dir| images(&dir.current(), kind));
        all.find(|(found, _)| *found == txid).map(|(_, path)| path)
    }

    /// The newest image.
    pub fn newest_image_file(&self) -> Option<PathBuf> {
        self.all_images().max_by_key(|(txid, _)| *txid).map(|(_, path)| path)
    }

    /// A finalized segment, by its first and its last transaction.
    pub fn finalized_segment_file(&self, first: i64, last: i64) -> Option<PathBuf> {
        let is_wanted = |file: &SegmentFile| {
            file.first.0 == first
                && matches!(file.kind, SegmentKind::Finalized(found) if found.0 == last)
        };
        let mut all = self.storage.edits_dirs().flat_map(|dir| {
            dir.journal(self.storage.config.op_size_max).segments().unwrap_or_default()
        });
        all.find(is_wanted).map(|file| file.path)
    }

    fn all_images(&self) -> impl Iterator<Item = (i64, PathBuf)> {
        let kinds = [ImageKind::Image, ImageKind::Rollback];
        self.storage.image_dirs().flat_map(move |dir| {
            kinds.into_iter().flat_map(move |kind| images(&dir.current(), kind))
        })
    }
}

/// Copies an image; its MD5.
fn copy(
    from: &mut dyn Read,
    len: u64,
    expected: Option<[u8; 16]>,
    to: &mut impl Write,
) -> io::Result<[u8; 16]> {
    let mut digest = Md5::new();
    let mut buffer = vec![0; PIECE_LEN];
    let mut copied = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else { break };
        digest.update(piece);
        to.write_all(piece)?;
        copied += read as u64;
    }
    if copied != len {
        return Err(io::Error::other(format!("{copied} of {len} bytes came")));
    }
    let found: [u8; 16] = digest.finalize().into();
    match expected {
        Some(expected) if expected != found => Err(io::Error::other(format!(
            "its MD5 is {}, its sender says {}",
            hex::encode(found),
            hex::encode(expected)
        ))),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_length_and_the_digest_that_the_sender_says() {
        let bytes = vec![7; PIECE_LEN + 5];
        let digest: [u8; 16] = Md5::digest(&bytes).into();
        let copied = |len: u64, digest: Option<[u8; 16]>| {
            let mut to = Vec::new();
            copy(&mut &bytes[..], len, digest, &mut to).map(|found| (found, to))
        };
        let len = bytes.len() as u64;
        assert_eq!(copied(len, Some(digest)).unwrap(), (digest, bytes.clone()));
        assert_eq!(copied(len, None).unwrap().0, digest);
        let error = copied(len + 1, None).unwrap_err().to_string();
        assert_eq!(error, format!("{len} of {} bytes came", len + 1));
        assert!(
            copied(len, Some([0; 16])).unwrap_err().to_string().contains("its sender says 0000")
        );
    }
}
