//! Whose words messages have: ours, or those of Apache's scripts.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, from the command line, before anything runs.
static APACHES: AtomicBool = AtomicBool::new(false);

/// From here on messages are worded as those of `hdfs` and `hadoop`, names of Java's exceptions included.
pub fn use_apaches() {
    APACHES.store(true, Ordering::Relaxed);
}

/// Whether messages are worded as those of `hdfs` and `hadoop`.
pub fn is_apaches() -> bool {
    APACHES.load(Ordering::Relaxed)
}
