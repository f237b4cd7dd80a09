//! Children by fork() in tests.

/// Whether a check holds in a child that has none of this process's other threads. A child that waits for one of their locks is
/// ended after a minute.
pub(crate) fn ends_well(check: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child makes the check and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: it sets a clock.
        unsafe { libc::alarm(60) };
        let holds = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_or(false);
        // SAFETY: it ends the child, and nothing of the parent's runs in it.
        unsafe { libc::_exit(if holds { 0 } else { 1 }) }
    }
    let mut status = -1;
    // SAFETY: `status` is the place of a number.
    let ended = unsafe { libc::waitpid(child, &mut status, 0) };
    ended == child && status == 0
}
