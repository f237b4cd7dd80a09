//! State of a process that a child made by fork() must not share.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// State that every process has for itself. A child made by fork() starts with new state: it has none of its parent's threads,
/// and one of them may hold a lock of the parent's state, which nobody would release in the child.
pub struct PerProcess<T> {
    make: fn() -> T,
    current: AtomicPtr<Made<T>>,
}

struct Made<T> {
    process: u32,
    value: T,
}

impl<T: Send + Sync> PerProcess<T> {
    /// State that `make` begins. It may be called more than once: what threads make at the same time is dropped but for one.
    pub const fn new(make: fn() -> T) -> Self {
        Self { make, current: AtomicPtr::new(null_mut()) }
    }

    /// The state of this process. It takes no lock.
    pub fn get(&'static self) -> &'static T {
        let process = std::process::id();
        loop {
            let known = self.current.load(Ordering::Acquire);
            // SAFETY: what was made is never freed, and nobody has a mutable reference to it.
            if let Some(made) = unsafe { known.as_ref() }
                && made.process == process
            {
                return &made.value;
            }
            let made = Box::into_raw(Box::new(Made { process, value: (self.make)() }));
            let swap =
                self.current.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire);
            if swap.is_err() {
                // SAFETY: it was made here, and nobody else has seen it.
                drop(unsafe { Box::from_raw(made) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::libc;
    use std::sync::Mutex;

    #[test]
    fn a_child_does_not_wait_for_a_lock_of_its_parent() {
        static STATE: PerProcess<Mutex<u32>> = PerProcess::new(|| Mutex::new(7));
        let mut held = STATE.get().lock().unwrap();
        *held = 8;
        // SAFETY: the child does nothing but look at its state and end.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_new = STATE.get().try_lock().is_ok_and(|number| *number == 7);
            // SAFETY: it ends the child, and nothing of the parent's runs in it.
            unsafe { libc::_exit(if is_new { 0 } else { 1 }) }
        }
        let mut status = -1;
        // SAFETY: `status` is the place of a number.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child found its parent's state");
        drop(held);
        assert_eq!(*STATE.get().lock().unwrap(), 8);
    }
}
