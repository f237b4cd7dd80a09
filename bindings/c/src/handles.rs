//! Handles that C holds: numbers that are never given twice, and what they stand for.

use crate::failure::{Failure, Result};
use crate::fork;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A file system's handle.
pub type hdfsFS = *mut hdfs_internal;
/// An open file's handle.
pub type hdfsFile = *mut hdfsFile_internal;

/// What a file system's handle points to; never looked into.
pub struct hdfs_internal {
    _private: [u8; 0],
}

/// What a file's handle points to; never looked into.
pub struct hdfsFile_internal {
    _private: [u8; 0],
}

const SHARDS: usize = 64;
/// The first handle: no address of anything, so that a pointer from elsewhere is hardly taken for one.
const FIRST: usize = 0x1000;

/// A number is spread well enough by itself.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = (self.0 << 8) | u64::from(*byte));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = number as u64;
    }
}

type Shard<T> = RwLock<HashMap<usize, Arc<T>, BuildHasherDefault<Same>>>;

struct Table<T> {
    forks: u32,
    shards: [Shard<T>; SHARDS],
}

/// The next handle of any kind: a handle of one kind is none of another.
static NEXT: AtomicUsize = AtomicUsize::new(FIRST);

/// The open handles of a kind.
pub(crate) struct Handles<T> {
    what: &'static str,
    table: AtomicPtr<Table<T>>,
}

impl<T> Handles<T> {
    pub(crate) const fn new(what: &'static str) -> Self {
        let table = AtomicPtr::new(std::ptr::null_mut());
        Self { what, table }
    }

    /// The table of this process. That of its parent is left as it is: threads that are no more may hold its locks.
    fn table(&self) -> &Table<T> {
        let forks = fork::count();
        loop {
            let known = self.table.load(Ordering::Acquire);
            // SAFETY: a table is never freed, and nobody has a mutable reference to it.
            if let Some(table) = unsafe { known.as_ref() }
                && table.forks == forks
            {
                return table;
            }
            let shards = std::array::from_fn(|_| RwLock::default());
            let made = Box::into_raw(Box::new(Table { forks, shards }));
            let swap =
                self.table.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire);
            if swap.is_err() {
                // SAFETY: it was made here, and nobody else has seen it.
                drop(unsafe { Box::from_raw(made) });
            }
        }
    }

    fn shard(&self, handle: usize) -> &Shard<T> {
        &self.table().shards[handle % SHARDS]
    }

    /// Returns a new handle.
    pub(crate) fn add<P>(&self, value: T) -> *mut P {
        self.add_shared(Arc::new(value))
    }

    /// Returns a new handle of what others know, too.
    pub(crate) fn add_shared<P>(&self, value: Arc<T>) -> *mut P {
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        self.shard(handle).write().insert(handle, value);
        std::ptr::without_provenance_mut(handle)
    }

    /// What a handle stands for.
    pub(crate) fn get<P>(&self, handle: *mut P) -> Result<Arc<T>> {
        let handle = handle.addr();
        let found = self.shard(handle).read().get(&handle).cloned();
        found.ok_or_else(|| Failure::bad_handle(self.what))
    }

    /// Closes a handle. A call that uses it now has what it stands for until it ends.
    pub(crate) fn take<P>(&self, handle: *mut P) -> Result<Arc<T>> {
        let handle = handle.addr();
        let found = self.shard(handle).write().remove(&handle);
        found.ok_or_else(|| Failure::bad_handle(self.what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_handle_is_no_handle_and_is_not_given_again() {
        static HANDLES: Handles<String> = Handles::new("test");
        let one: hdfsFS = HANDLES.add("one".to_owned());
        let two: hdfsFS = HANDLES.add("two".to_owned());
        assert_eq!(HANDLES.get(one).unwrap().as_str(), "one");
        assert_eq!(HANDLES.take(one).unwrap().as_str(), "one");
        assert_eq!(HANDLES.take(one).unwrap_err().errno(), libc::EBADF);
        assert_eq!(HANDLES.get(std::ptr::null_mut::<u8>()).unwrap_err().errno(), libc::EBADF);
        let three: hdfsFS = HANDLES.add("three".to_owned());
        assert_ne!(one, three);
        // Each kind used to count from the same number, so that a file system's handle was also a file's.
        static OTHERS: Handles<String> = Handles::new("test of another kind");
        let other: hdfsFile = OTHERS.add("other".to_owned());
        assert_eq!(HANDLES.get(other).unwrap_err().errno(), libc::EBADF);
        assert_eq!(OTHERS.get(two).unwrap_err().errno(), libc::EBADF);
        assert_eq!(HANDLES.get(two).unwrap().as_str(), "two");
    }
}
