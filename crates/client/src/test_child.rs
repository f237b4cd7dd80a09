//! Children by fork() in tests.

/// Whether a check holds in a child that has none of this process's other threads. A child that waits for one of their locks is
/// ended after a minute.
pub(crate) fn ends_well(check: impl FnOnce() -> bool) -> bool {
    status_after(check) == Some(0)
}

/// Returns the signal that ended a child in which `work` ran, if one did.
#[cfg(all(feature = "local", target_os = "linux"))]
pub(crate) fn signal_that_ends(work: impl FnOnce()) -> Option<i32> {
    let status = status_after(|| {
        work();
        true
    });
    status.filter(|status| libc::WIFSIGNALED(*status)).map(|status| libc::WTERMSIG(status))
}

fn status_after(check: impl FnOnce() -> bool) -> Option<i32> {
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
    (ended == child).then_some(status)
}
