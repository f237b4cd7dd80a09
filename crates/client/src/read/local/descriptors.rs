//! Block files that stay open beside their maps, for reads of what is not in the page cache.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mapped replicas of a client that keep their block file open, at most. Apache's client keeps two
/// descriptors for each of the 256 replicas of its cache.
const KEPT_MAX: usize = 256;

/// How many block files a client keeps open.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    kept: AtomicUsize,
}

/// A block file that is kept open; counted until it is dropped.
pub(super) struct KeptFile {
    file: File,
    of: Arc<Descriptors>,
}

impl Descriptors {
    /// Keeps a file open; `None`, and it is closed, where there are enough.
    pub(super) fn keep(self: &Arc<Self>, file: File) -> Option<KeptFile> {
        let more = |kept: usize| (kept < KEPT_MAX).then_some(kept + 1);
        self.kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(KeptFile { file, of: Arc::clone(self) })
    }
}

impl KeptFile {
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        self.of.kept.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_files_are_kept_open() {
        let descriptors = Arc::new(Descriptors::default());
        let file = tempfile::tempfile().unwrap();
        let keep = || descriptors.keep(file.try_clone().unwrap());
        let mut kept: Vec<KeptFile> = (0..KEPT_MAX).map(|_| keep().unwrap()).collect();
        assert!(keep().is_none());
        kept.pop();
        assert!(keep().is_some() && keep().is_some());
    }
}
