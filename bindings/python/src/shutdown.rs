//! The end of the interpreter. Threads that are daemons to Python may be inside a read then. A thread that asks for the
//! interpreter's lock while the interpreter ends is ended by it with pthread_exit(), and frames of Rust cannot be
//! unwound so: the process would abort. So such a thread stays where it is until the process has ended.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use zerohop_system::clock;

static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// Threads that ask for the interpreter's lock.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

/// To be called before the interpreter's lock is asked for; does not return once the interpreter ends.
pub(crate) fn before_return_to_python() {
    RETURNING.fetch_add(1, Ordering::SeqCst);
    if IS_ENDING.load(Ordering::SeqCst) && !is_main_thread() {
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        loop {
            std::thread::park();
        }
    }
}

/// To be called when the lock is held again.
pub(crate) fn after_return_to_python() {
    RETURNING.fetch_sub(1, Ordering::SeqCst);
}

/// The thread that ends the interpreter: the process' first one, as Python has it.
fn is_main_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// To be called when the interpreter ends (`atexit`): from then on only the main thread returns from a wait.
#[pyfunction]
pub(crate) fn end_waits(py: Python<'_>) {
    IS_ENDING.store(true, Ordering::SeqCst);
    py.detach(|| {
        while RETURNING.load(Ordering::SeqCst) > 0 {
            clock::sleep_thread(Duration::from_millis(1));
        }
    });
}

/// To be called in a child made by fork() (`os.register_at_fork`), which has no thread but the one that calls it.
#[pyfunction]
pub(crate) fn after_fork() {
    RETURNING.store(0, Ordering::SeqCst);
}
