//! Whether images may be saved.

use super::error::StorageError;
use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether images may be saved: not once the directories are given up. An image that is being written then ends early.
#[derive(Debug, Default)]
pub(super) struct Saving {
    ended: AtomicBool,
    /// Held while an image is written.
    running: Mutex<()>,
}

impl Saving {
    pub(super) fn begin(&self) -> Result<MutexGuard<'_, ()>, StorageError> {
        let running = self.running.lock();
        self.check().map(|()| running)
    }

    pub(super) fn check(&self) -> Result<(), StorageError> {
        match self.ended.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(StorageError::Config("the NameNode is stopping, no image is saved".into())),
        }
    }

    /// From when this returns, no image is written.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        drop(self.running.lock());
    }
}
