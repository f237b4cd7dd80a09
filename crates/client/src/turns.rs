//! Turns: the calls that open one file for writing run one after another.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tokio::sync::OwnedMutexGuard;

type Lock = tokio::sync::Mutex<()>;

/// A turn, until it is dropped.
pub(crate) type Turn = OwnedMutexGuard<()>;

/// Turns by path.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<String, Weak<Lock>>>);

impl Turns {
    /// Waits for the turns that were taken before.
    pub(crate) async fn take(&self, path: &str) -> Turn {
        let lock = self.of(path);
        lock.lock_owned().await
    }

    /// Takes the turn if no call has it.
    pub(crate) fn try_take(&self, path: &str) -> Option<Turn> {
        self.of(path).try_lock_owned().ok()
    }

    fn of(&self, path: &str) -> Arc<Lock> {
        let mut locks = self.0.lock();
        if let Some(lock) = locks.get(path).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::new(Lock::default());
        locks.insert(path.to_owned(), Arc::downgrade(&lock));
        lock
    }
}
