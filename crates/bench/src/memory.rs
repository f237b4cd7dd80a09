//! The machine made ready for a step that writes, so that each step finds the same.
//!
//! A virtual machine that gives free memory back to its host (free page reporting) pays for each page
//! that it takes again, ten times what another page costs. Whether a step finds such pages depends on
//! what was freed in the seconds before it, so a step is timed only after memory was taken and
//! freed for it: what was freed last is taken first.

use procfs::{Current, Meminfo};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::io;

/// What a step takes besides its files: buffers of processes and sockets, inodes, the journal.
const BESIDES: u64 = 128 << 20;
/// Bytes of data that one byte of checksums covers.
const DATA_OF_SUM: u64 = 128;
/// Of the free memory this part stays untouched: taking all of it would push files out of the cache.
const LEFT_FREE: u64 = 8;

/// Waits until nothing is left to be written to the disk, then makes memory warm for `len` bytes of
/// data in `replicas` blocks each. To be called right before the clock starts: free pages go back to
/// the host after two seconds.
pub fn ready_to_write(len: u64, replicas: u16) -> io::Result<()> {
    rustix::fs::sync();
    let data = len.saturating_mul(u64::from(replicas));
    warm(data.saturating_add(data / DATA_OF_SUM).saturating_add(BESIDES))
}

/// Takes so many bytes of memory, as far as that much is free, and frees them. What must be taken
/// from files of the page cache is warm already.
fn warm(bytes: u64) -> io::Result<()> {
    let free = free_bytes()?;
    let Ok(len) = usize::try_from(bytes.min(free - free / LEFT_FREE)) else { return Ok(()) };
    if len == 0 {
        return Ok(());
    }
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new map at an address of the kernel's choice; no other code knows it, so nothing
    // points into it when it is taken away.
    unsafe {
        let start =
            mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags)?;
        // Only a saving of page faults: without it every page is taken one by one.
        let _ = madvise(start, len, Advice::LinuxHugepage);
        let taken = madvise(start, len, Advice::LinuxPopulateWrite);
        munmap(start, len)?;
        Ok(taken?)
    }
}

/// Bytes of memory that hold nothing (`MemFree`).
fn free_bytes() -> io::Result<u64> {
    Ok(Meminfo::current().map_err(io::Error::other)?.mem_free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_taken_and_given_back() {
        let before = crate::WatchedProcess::this("test").own_memory().unwrap();
        warm(64 << 20).unwrap();
        let after = crate::WatchedProcess::this("test").own_memory().unwrap();
        assert!(after < before + (32 << 20), "{before} {after}");
        assert!(free_bytes().unwrap() > 0);
        // More than there is: as much as is free.
        ready_to_write(1 << 20, 3).unwrap();
    }
}
