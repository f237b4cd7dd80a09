//! fork(): the child has the memory of its parent but none of its threads, so that no client, file or future of the
//! parent works there, and none may be dropped there: a lock of it may be held by a thread that is not there.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::process;

/// A value of the process that made it; another process, a child by fork(), neither uses nor drops it.
pub(crate) struct OfProcess<T> {
    process: u32,
    value: ManuallyDrop<T>,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { process: process::id(), value: ManuallyDrop::new(value) }
    }

    /// Whether this is the process that made it.
    pub(crate) fn is_here(&self) -> bool {
        self.process == process::id()
    }

    /// The value, in the process that made it.
    pub(crate) fn into_inner(self) -> Option<T> {
        if !self.is_here() {
            return None;
        }
        let mut whole = ManuallyDrop::new(self);
        // SAFETY: `whole` is neither used nor dropped after this.
        Some(unsafe { ManuallyDrop::take(&mut whole.value) })
    }
}

impl<T> Deref for OfProcess<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.is_here() {
            // SAFETY: the value is dropped once, here, and not used after that.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
