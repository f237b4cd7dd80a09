//! The memory into which the kernel writes the samples of one event.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

const PAGE: usize = 4096;
/// A power of two, with room for [`SAMPLES_MIN`] samples.
const DATA_LEN: usize = 16 * PAGE;
/// Samples for which there is room at least: each has the end of a stack (4 KiB) and up to 127 addresses. The reader looks before
/// there are more than half as many.
pub(crate) const SAMPLES_MIN: u32 = 12;
/// Where the first page has the end of what was written, and the end of what was read.
const HEAD: usize = 1024;
const TAIL: usize = 1032;
const WORD: usize = size_of::<u64>();

/// A page with positions, and the ring behind it.
pub(crate) struct Ring(*mut u8);

// SAFETY: the map belongs to this alone; it may be read by any one thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring of an event.
    pub(crate) fn map(event: &OwnedFd) -> io::Result<Self> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let none = std::ptr::null_mut();
        // SAFETY: a new map at an address of the kernel's choice.
        let at = unsafe {
            libc::mmap(none, PAGE + DATA_LEN, rights, libc::MAP_SHARED, event.as_raw_fd(), 0)
        };
        match at {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            at => Ok(Self(at.cast())),
        }
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both positions are aligned words of the first page, which is mapped as long as `self`.
        unsafe { AtomicU64::from_ptr(self.0.add(offset).cast()) }
    }

    fn word(&self, at: u64) -> u64 {
        let offset = at as usize % DATA_LEN / WORD * WORD;
        // SAFETY: an aligned word of the ring. The kernel does not write between tail and head.
        unsafe { std::ptr::read_volatile(self.0.add(PAGE + offset).cast()) }
    }

    /// Gives the kind and the words of each record, and frees their room.
    pub(crate) fn read(&self, mut each: impl FnMut(u32, &[u64])) {
        let head = self.position(HEAD).load(Ordering::Acquire);
        let mut tail = self.position(TAIL).load(Ordering::Relaxed);
        let mut body = Vec::new();
        while tail < head {
            // The kind, and in the upper half flags and the length with this word.
            let header = self.word(tail);
            let len = header >> 48;
            if len < WORD as u64 || len > head - tail {
                tail = head;
                break;
            }
            body.clear();
            body.extend((1..len / WORD as u64).map(|index| self.word(tail + index * WORD as u64)));
            each(header as u32, &body);
            tail += len;
        }
        self.position(TAIL).store(tail, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the map is this one's, and nothing refers to it any more.
        unsafe { libc::munmap(self.0.cast(), PAGE + DATA_LEN) };
    }
}
