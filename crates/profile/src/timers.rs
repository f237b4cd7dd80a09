//! A timer on the processor time of each thread, which interrupts that thread.

use crate::handler::SIGNAL;
use crate::tasks::Tid;
use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::io;
use std::time::Duration;

/// The kernel's number of a timer.
type TimerId = c_int;

/// The timers of one recording; they end with this.
pub(crate) struct ThreadTimers {
    interval: Duration,
    timers: HashMap<Tid, TimerId>,
    /// Threads that got no timer; they are not asked for again.
    refused: HashSet<Tid>,
}

impl ThreadTimers {
    /// Timers that fire after so much processor time, again and again.
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, timers: HashMap::new(), refused: HashSet::new() }
    }

    /// Gives timers to new threads, and takes those of threads that have ended. `but` gets none.
    pub(crate) fn cover(&mut self, threads: &[Tid], but: Tid) {
        self.timers.retain(|tid, timer| {
            let is_there = threads.contains(tid);
            if !is_there {
                delete(*timer);
            }
            is_there
        });
        for tid in threads.iter().filter(|tid| **tid != but) {
            if self.timers.contains_key(tid) || self.refused.contains(tid) {
                continue;
            }
            match start(*tid, self.interval) {
                Ok(timer) => _ = self.timers.insert(*tid, timer),
                // It has ended.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::EINVAL)) => {}
                Err(_) => _ = self.refused.insert(*tid),
            }
        }
    }

    /// How many threads got no timer (`ulimit -i` limits them).
    pub(crate) fn refused(&self) -> u64 {
        self.refused.len() as u64
    }
}

impl Drop for ThreadTimers {
    fn drop(&mut self) {
        self.timers.values().for_each(|timer| delete(*timer));
    }
}

/// The clock of a thread's processor time, for any thread of this process: the kernel's `make_thread_cpuclock`.
fn clock_of(tid: Tid) -> libc::clockid_t {
    const PER_THREAD: libc::clockid_t = 4;
    const SCHEDULED: libc::clockid_t = 2;
    (!tid << 3) | PER_THREAD | SCHEDULED
}

fn start(tid: Tid, interval: Duration) -> io::Result<TimerId> {
    // SAFETY: all bytes zero is a valid value of this plain structure.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = SIGNAL;
    event.sigev_notify_thread_id = tid;
    let mut timer: TimerId = 0;
    // SAFETY: the kernel reads the event and writes the timer's number.
    check(unsafe {
        libc::syscall(libc::SYS_timer_create, clock_of(tid), &raw const event, &raw mut timer)
    })?;
    let time = libc::timespec {
        tv_sec: interval.as_secs() as libc::time_t,
        tv_nsec: interval.subsec_nanos().into(),
    };
    let setting = libc::itimerspec { it_interval: time, it_value: time };
    let none = std::ptr::null_mut::<libc::itimerspec>();
    // SAFETY: the kernel reads the setting.
    let set = unsafe { libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const setting, none) };
    check(set).inspect_err(|_| delete(timer))?;
    Ok(timer)
}

fn delete(timer: TimerId) {
    // SAFETY: the timer is one of this process; nothing else uses its number.
    unsafe { libc::syscall(libc::SYS_timer_delete, timer) };
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
