//! fork(): the child has the memory of its parent, but none of its threads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// How often this process was made by fork() since the library was first used; where threads use it for the first time
/// together, a fork may count twice.
pub(crate) fn count() -> u32 {
    // No lock and no Once: a child whose parent was here would wait for a thread that is not there.
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !IS_REGISTERED.load(Ordering::Acquire) {
        // SAFETY: what runs in the child changes one atomic number.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        IS_REGISTERED.store(true, Ordering::Release);
    }
    FORKS.load(Ordering::Relaxed)
}
