//! Copying what is left of damaged files, for `fsck -move`.

use std::ops::Range;

/// Copies file data. The NameNode moves none itself: who starts it may give it this.
pub trait FileCopier: Send + Sync {
    /// Makes the file `to` of the byte ranges `pieces` of the file `from`, as `user`.
    ///
    /// # Errors
    /// At the first piece that cannot be copied; the pieces before it are in the file.
    fn copy(
        &self,
        user: &str,
        from: &str,
        to: &str,
        pieces: &[Range<u64>],
    ) -> Result<(), CopyError>;
}

/// Where a copy ended too early.
#[derive(Debug)]
pub struct CopyError {
    /// Pieces that were copied whole.
    pub copied: usize,
    /// Why the next one was not.
    pub reason: String,
}
