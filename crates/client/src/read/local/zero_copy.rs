//! Zero-copy reads: bytes of a mapped replica where they lie.

use super::files::Data;
use super::map::UnguardedMap;
use super::replica::LocalReplica;
use crate::read::local_outcome::LocalError;
use crate::types::Verify;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use zerohop_checksum::SharedBytes;

/// Bytes of a file. Those of a replica of this machine lie in the map of its block file: they were
/// verified there, and the map stays for as long as this lives. Others were copied.
///
/// A process that may write the DataNode's disks can change or truncate a block file under its readers, and a
/// disk error turns a page into zeros, as does a truncated file: callers ask [`is_intact`](Self::is_intact) before they use what they
/// have read. [`without_guard`](Self::without_guard) is for bytes that go to code which does not ask. The bytes are given as
/// [`SharedBytes`], which can be copied; a slice of them is only as good as the promise that [`as_slice`](Self::as_slice) asks for.
/// Where the bytes must be those that were verified, read into a buffer: there the copy is verified.
pub struct ZeroCopyRead(Bytes);

enum Bytes {
    Mapped(MappedRange),
    Copied(Vec<u8>),
}

struct MappedRange {
    replica: Arc<LocalReplica>,
    offset: u64,
    len: usize,
    is_anchored: bool,
    /// The map that the bytes are given from, if it is not the replica's own.
    unguarded: Option<Arc<UnguardedMap>>,
}

impl ZeroCopyRead {
    /// A range of a mapped replica; `None` where it is not mapped. What is anchored was verified by
    /// the DataNode when it locked the block in memory, and is not verified again.
    pub(crate) fn mapped(
        replica: &Arc<LocalReplica>,
        offset: u64,
        len: usize,
        verify: Verify,
    ) -> Result<Option<Self>, LocalError> {
        let is_anchored = replica.anchor();
        let replica = Arc::clone(replica);
        let range = MappedRange { replica, offset, len, is_anchored, unguarded: None };
        let verify = if is_anchored { Verify::None } else { verify };
        let is_mapped = range.replica.verify_in_map(offset, len, verify)?;
        Ok(is_mapped.then(|| Self(Bytes::Mapped(range))))
    }

    pub(crate) fn copied(bytes: Vec<u8>) -> Self {
        Self(Bytes::Copied(bytes))
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Bytes::Mapped(range) => range.len,
            Bytes::Copied(bytes) => bytes.len(),
        }
    }

    /// Whether there are none: the end of the file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, as memory that others may change.
    pub fn bytes(&self) -> SharedBytes<'_> {
        match &self.0 {
            Bytes::Mapped(range) => range.bytes(),
            Bytes::Copied(bytes) => SharedBytes::from(bytes),
        }
    }

    /// Gives up the recovery from faults: a read of a page that cannot be had, because the disk failed or the file has become
    /// shorter, raises SIGBUS; the page never becomes zeros. This is for bytes whose reader does not call
    /// [`is_intact`](Self::is_intact). Copied bytes do not change.
    ///
    /// # Errors
    /// If the block file cannot be mapped a second time.
    pub fn without_guard(mut self) -> io::Result<Self> {
        if let Bytes::Mapped(range) = &mut self.0
            && let Data::Mapped(mapped) = &range.replica.data
        {
            range.unguarded = Some(mapped.unguarded()?);
        }
        Ok(self)
    }

    /// The bytes as a slice.
    ///
    /// # Safety
    /// No process writes to the block file or truncates it, and the disk does not fail, while the slice is
    /// used. The DataNode itself does none of this while the read is [anchored](Self::is_anchored), nor
    /// to a block of a closed file until it is appended to or truncated; other processes that may write
    /// its disks are the caller's to know. If a byte changes under the slice the behaviour is undefined:
    /// the compiler may have read it before, or read it twice and find two values.
    pub unsafe fn as_slice(&self) -> &[u8] {
        let bytes = self.bytes();
        // SAFETY: readable for as long as `self` lives, and unchanged, which the caller promises.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) }
    }

    /// Whether the bytes lie in the map of the replica.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Bytes::Mapped(_))
    }

    /// The block file in which the bytes lie, and their offset in it, for sendfile(2); `None` for a copy, and where the file
    /// is not open beside its map.
    ///
    /// If the DataNode has taken the replica back since, or it was trusted for a time that is over, the bytes are compared
    /// with their checksums once more: a block that was deleted or moved is still there for who has it open.
    ///
    /// # Errors
    /// If the bytes are not those any more that were verified.
    pub fn file(&self) -> io::Result<Option<(BorrowedFd<'_>, u64)>> {
        let Bytes::Mapped(MappedRange { replica, offset, len, .. }) = &self.0 else {
            return Ok(None);
        };
        if replica.is_poisoned() || !replica.is_current() {
            verify_again(replica, *offset, *len)?;
        }
        let Data::Mapped(mapped) = &replica.data else { return Ok(None) };
        Ok(mapped.file().map(|file| (file.as_fd(), *offset)))
    }

    /// Whether the DataNode keeps the block locked in memory for as long as this lives.
    pub fn is_anchored(&self) -> bool {
        matches!(self.0, Bytes::Mapped(MappedRange { is_anchored: true, .. }))
    }

    /// Whether every page could be had so far: no disk error, no truncation. A write to the block file
    /// is not noticed.
    pub fn is_intact(&self) -> bool {
        match &self.0 {
            Bytes::Mapped(range) => !range.replica.is_poisoned(),
            Bytes::Copied(_) => true,
        }
    }
}

/// Compares bytes that were verified before with their checksums, whoever has the replica now.
fn verify_again(replica: &LocalReplica, offset: u64, len: usize) -> io::Result<()> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let whole = replica.whole_chunks(&(start..start.saturating_add(len)));
    let data = replica.mapped_bytes(whole.start as u64, whole.len());
    let checked = replica.check(data, whole.start);
    if replica.is_poisoned() {
        return Err(io::Error::other(
            "the disk failed under the map, or the file has become shorter",
        ));
    }
    checked.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

impl MappedRange {
    fn bytes(&self) -> SharedBytes<'_> {
        let Some(map) = &self.unguarded else {
            return self.replica.mapped_bytes(self.offset, self.len);
        };
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let bytes = map.bytes().get(start..start.saturating_add(self.len));
        bytes.unwrap_or(SharedBytes::from(&[]))
    }
}

impl Drop for MappedRange {
    fn drop(&mut self) {
        if self.is_anchored {
            self.replica.unanchor();
        }
    }
}
