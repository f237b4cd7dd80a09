//! Verified bytes without a copy.

use super::replica::{LocalError, LocalReplica};
use crate::types::Verify;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes of a file, lent. Those of a replica of this machine lie in its map: they were verified
/// there, and the map stays while they are lent. Others were copied.
///
/// A mapped file can be changed under the reader by whoever may write the DataNode's disks; where
/// that must not matter, read into a buffer, which is verified while it is copied. A disk error that
/// comes after the check makes the bytes zero: [`is_intact`](Self::is_intact) tells.
pub struct Lent(Bytes);

enum Bytes {
    Mapped { replica: Arc<LocalReplica>, offset: u64, len: usize, is_anchored: bool },
    Copied(Vec<u8>),
}

impl Lent {
    /// Lends a range of a mapped replica; `None` where it is not mapped. What is anchored was
    /// verified by the DataNode when it locked the block, and is not again.
    pub(crate) fn mapped(
        replica: &Arc<LocalReplica>,
        offset: u64,
        len: usize,
        verify: Verify,
    ) -> Result<Option<Self>, LocalError> {
        let is_anchored = replica.anchor();
        let verify = if is_anchored { Verify::None } else { verify };
        let lent = replica.lend(offset, len, verify).map(|bytes| bytes.is_some());
        if !matches!(lent, Ok(true)) && is_anchored {
            replica.unanchor();
        }
        let replica = Arc::clone(replica);
        Ok(lent?.then(|| Self(Bytes::Mapped { replica, offset, len, is_anchored })))
    }

    pub(crate) fn copied(bytes: Vec<u8>) -> Self {
        Self(Bytes::Copied(bytes))
    }

    /// Whether the bytes lie in the map of the replica.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Bytes::Mapped { .. })
    }

    /// Whether the DataNode keeps the block locked in memory for as long as this lives.
    pub fn is_anchored(&self) -> bool {
        matches!(self.0, Bytes::Mapped { is_anchored: true, .. })
    }

    /// Whether the bytes are still those that were verified: no disk error, no truncation since.
    pub fn is_intact(&self) -> bool {
        match &self.0 {
            Bytes::Mapped { replica, .. } => !replica.is_poisoned(),
            Bytes::Copied(_) => true,
        }
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped { replica, offset, len, .. } => replica.mapped_bytes(*offset, *len),
            Bytes::Copied(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Bytes::Mapped { replica, is_anchored: true, .. } = &self.0 {
            replica.unanchor();
        }
    }
}
