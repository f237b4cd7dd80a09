//! One piece of work on a file at a time: a call of the caller's, or the repair of its pipeline in between.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, MutexGuard};

/// Serializes work on a file. A lock on the writer's state is not enough, because it is released between the steps of work.
#[derive(Default)]
pub(super) struct Turns {
    held: Mutex<()>,
    is_broken: AtomicBool,
}

/// Held from the first step of some work to its last one. Dropped before [`end`](Self::end), it leaves the file broken:
/// how far the work came is unknown.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    _held: MutexGuard<'a, ()>,
    has_ended: bool,
}

impl Turns {
    /// Takes the turn, unless it is taken.
    pub(super) fn try_take(&self) -> Option<Turn<'_>> {
        Some(self.turn(self.held.try_lock().ok()?))
    }

    /// Waits for the turn.
    pub(super) async fn take(&self) -> Turn<'_> {
        self.turn(self.held.lock().await)
    }

    fn turn<'a>(&'a self, held: MutexGuard<'a, ()>) -> Turn<'a> {
        Turn { turns: self, _held: held, has_ended: false }
    }

    /// Returns `true` after work that ended in the middle: its thread panicked, or its runtime was shut down.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }
}

impl Turn<'_> {
    /// Ends work that is done or has failed with an error.
    pub(super) fn end(mut self) {
        self.has_ended = true;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.turns.is_broken.store(true, Ordering::Release);
        }
    }
}
