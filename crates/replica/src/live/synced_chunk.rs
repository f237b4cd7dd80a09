//! The partial chunk at the end of a replica, where bytes of it were forced to disk.
//!
//! Its checksum is overwritten when the chunk grows. Should the new checksum reach the disk before the new data
//! and the power fail in between, the bytes that were on disk before would match no checksum, and the whole chunk
//! would be lost. So the new data is forced to disk before the checksum is overwritten.

use zerohop_wire::DataChecksum;

/// Remembers whether the last chunk has bytes that a power cut must not take away.
#[derive(Debug, Default)]
pub(super) struct SyncedChunk {
    start: Option<u64>,
}

impl SyncedChunk {
    /// The first `len` bytes of the replica are forced to disk, or may have been.
    pub(super) fn cover(&mut self, checksum: DataChecksum, len: u64) {
        let start = checksum.chunk_start(len);
        self.start = (start != len && checksum.sum_len() != 0).then_some(start);
    }

    /// Whether the data must be on disk before checksums are written, the first of which is that of chunk
    /// number `first`.
    pub(super) fn is_overwritten_by(&self, checksum: DataChecksum, first: u64) -> bool {
        self.start == Some(first * checksum.bytes_per_checksum() as u64)
    }

    /// The files have `len` bytes and their checksums now. A chunk that is full is not overwritten any more.
    pub(super) fn written(&mut self, checksum: DataChecksum, len: u64) {
        if self.start.is_some_and(|start| start != checksum.chunk_start(len)) {
            self.start = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_comes_first_until_the_synced_chunk_is_full() {
        let checksum = DataChecksum::default();
        let mut synced = SyncedChunk::default();
        assert!(!synced.is_overwritten_by(checksum, 1), "nothing was synced");
        synced.cover(checksum, 700);
        synced.written(checksum, 800);
        assert!(synced.is_overwritten_by(checksum, 1), "the chunk that begins at 512");
        assert!(!synced.is_overwritten_by(checksum, 2));
        synced.written(checksum, 1024);
        assert!(!synced.is_overwritten_by(checksum, 1));
        synced.cover(checksum, 1024);
        assert!(!synced.is_overwritten_by(checksum, 2), "it ends with a whole chunk");
    }
}
