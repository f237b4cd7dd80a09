//! How long calls to a volume's disk take, told to who wants to know.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zerohop_system::clock;

/// What a disk is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoCall {
    /// Bytes of a block or meta file are read.
    Read,
    /// Bytes are written, to the page cache at least.
    Write,
    /// A file or a directory is forced to the disk.
    Sync,
    /// A file is created, opened, renamed, cut or deleted.
    Metadata,
}

/// Hears of each call when it is done. It may be called by many threads at once, and must not take long.
pub trait IoObserver: Send + Sync {
    /// A call took so long, whether it failed or not.
    fn done(&self, call: IoCall, took: Duration);
}

/// Times calls for an observer; without one it only makes them. Cheap to clone.
#[derive(Clone, Default)]
pub struct IoTimer(Option<Arc<dyn IoObserver>>);

impl IoTimer {
    /// Tells `observer` of each call.
    pub fn new(observer: Arc<dyn IoObserver>) -> Self {
        Self(Some(observer))
    }

    /// Does `work`, which is a call to the disk, or a few that belong together.
    pub fn time<T>(&self, call: IoCall, work: impl FnOnce() -> T) -> T {
        let Some(observer) = &self.0 else { return work() };
        let begun = clock::now();
        let result = work();
        observer.done(call, clock::since(begun));
        result
    }
}

#[doc(hidden)]
impl IoTimer {
    /// A call that takes so long, for tests: what a slow disk would do.
    pub fn delayed(&self, call: IoCall, took: Duration) {
        if let Some(observer) = &self.0 {
            observer.done(call, took);
        }
    }
}

impl fmt::Debug for IoTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IoTimer").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Seen(Mutex<Vec<IoCall>>);

    impl IoObserver for Seen {
        fn done(&self, call: IoCall, _: Duration) {
            self.0.lock().unwrap().push(call);
        }
    }

    #[test]
    fn calls_are_told_also_when_they_fail() {
        let seen = Arc::new(Seen::default());
        let timer = IoTimer::new(Arc::clone(&seen) as Arc<dyn IoObserver>);
        assert_eq!(timer.time(IoCall::Read, || Err::<(), _>("no disk")), Err("no disk"));
        timer.time(IoCall::Sync, || ());
        IoTimer::default().time(IoCall::Write, || ());
        assert_eq!(*seen.0.lock().unwrap(), [IoCall::Read, IoCall::Sync]);
    }
}
