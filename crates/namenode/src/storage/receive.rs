//! Files that go from one NameNode to another: images into the directories, images and segments out of them.

use super::NameStorage;
use super::dir::ImageKind;
use super::error::StorageError;
use super::save::{Copies, Origin, images};
use md5::{Digest, Md5};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use zerohop_journal::JournalError;
use zerohop_journal::image::{ImageReader, SectionName};
use zerohop_journal::segment::{SegmentFile, SegmentKind};
use zerohop_proto::hdfs::fsimage::NameSystemSection;

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
    /// Returns the last transaction that this NameNode has. An image of a later one is not part of its history.
    pub known_txid: &'a dyn Fn() -> i64,
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
    /// Takes an image that another NameNode made into every image directory, and removes what it makes superfluous. What
    /// came is deleted if it is not what its sender says of it.
    ///
    /// While the image arrives, this NameNode can save its own and stop: it is received into files beside the images, which
    /// nothing waits for.
    ///
    /// # Errors
    /// Fails if the image is incomplete, of another transaction or namespace, or not newer than the newest image, or if no
    /// directory can hold it.
    pub fn receive_image(&self, image: ReceivedImage<'_>) -> Result<(), StorageError> {
        self.storage.saving.check()?;
        let (kind, txid) = (image.kind, image.txid);
        let mut copies = Copies::create(self.storage, kind, txid, Origin::Received);
        let digest = match copy(image.from, image.len, image.digest, &mut copies) {
            Ok(digest) => digest,
            Err(error) => return Err(self.storage.why_no_image(copies, Some(error))),
        };
        copies.sync();
        if let Err(error) = self.check_content(&copies, txid) {
            copies.discard();
            return Err(error);
        }
        let _until_published = match self.storage.saving.begin() {
            Ok(until_published) => until_published,
            Err(error) => {
                copies.discard();
                return Err(error);
            }
        };
        let newest = self.newest_of_kind(kind, (image.known_txid)());
        if let Some(newer) = newest.filter(|newest| *newest >= txid) {
            copies.discard();
            return Err(StorageError::Superseded { txid, newer });
        }
        self.storage.publish_all(copies, &digest)?;
        if kind == ImageKind::Rollback {
            self.storage.remove_rollback_images(txid, false);
        }
        Ok(())
    }

    /// Checks that what came is an image, of the namespace and the transaction that it should be of.
    fn check_content(&self, copies: &Copies, txid: i64) -> Result<(), StorageError> {
        let Some(path) = copies.first_path() else { return Ok(()) };
        let image = ImageReader::open(&path)?;
        image.sections()?;
        let bad =
            |reason: String| StorageError::from(JournalError::Image { path: path.clone(), reason });
        let section = image.section(SectionName::NsInfo)?;
        let head = section.map(|mut section| section.next::<NameSystemSection>()).transpose()?;
        let head = head.flatten().ok_or_else(|| bad("it has no section NS_INFO".to_owned()))?;
        let (theirs, ours) = (head.namespace_id(), self.storage.info.namespace_id as u32);
        if theirs != ours {
            return Err(bad(format!("it is of the namespace {theirs}, not of {ours}")));
        }
        if head.transaction_id() as i64 != txid {
            let found = head.transaction_id();
            return Err(bad(format!("it is of transaction {found}, not of {txid}")));
        }
        Ok(())
    }

    /// Returns the transaction of the newest image of a kind, ignoring images of transactions after `known`.
    pub fn newest_of_kind(&self, kind: ImageKind, known: i64) -> Option<i64> {
        let all = self.storage.image_dirs().flat_map(|dir| images(&dir.current(), kind));
        all.map(|(txid, _)| txid).filter(|txid| *txid <= known).max()
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

/// Copies an image of `len` bytes, and not one byte more. Returns its MD5.
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
        copied += read as u64;
        if copied > len {
            return Err(io::Error::other(format!("more than the {len} bytes came")));
        }
        digest.update(piece);
        to.write_all(piece)?;
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
        // A sender of more bytes than it had announced used to fill the disk.
        let mut endless = io::repeat(7);
        let mut to = Vec::new();
        let error = copy(&mut endless, len, None, &mut to).unwrap_err().to_string();
        assert_eq!(
            (error, to.len() <= bytes.len()),
            (format!("more than the {len} bytes came"), true)
        );
        assert!(
            copied(len, Some([0; 16])).unwrap_err().to_string().contains("its sender says 0000")
        );
    }
}
