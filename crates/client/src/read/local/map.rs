//! A file's bytes mapped for reading, guarded against faults.

use super::guard::{self, GuardedMap, page_len};
use rustix::mm::{Advice, MapFlags, MremapFlags, ProtFlags};
use std::ffi::c_void;
use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use zerohop_checksum::SharedBytes;

/// A shared, read-only map of the first bytes of a file.
///
/// The file may be changed by others while it is mapped: what was read is trusted after its checksum
/// was compared, and only while [`is_poisoned`](Self::is_poisoned) says no.
pub(super) struct Map {
    start: NonNull<u8>,
    len: usize,
    /// `None` for a map of no bytes.
    guarded: Option<&'static GuardedMap>,
}

// SAFETY: a map is memory that is only read here; it belongs to no thread.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps `len` bytes from the start of `file`, which must be that long.
    pub(super) fn new(file: impl AsFd, len: usize) -> io::Result<Self> {
        if len == 0 {
            return Ok(Self { start: NonNull::dangling(), len: 0, guarded: None });
        }
        // SAFETY: a new map at an address of the kernel's choice touches no other memory.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, 0)?
        };
        let Some(address) = NonNull::new(start.cast::<u8>()) else {
            return Err(io::Error::other("mapped at address 0"));
        };
        let mut map = Self { start: address, len, guarded: None };
        map.guarded = Some(guard::register(start as usize, len)?);
        Ok(map)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> SharedBytes<'_> {
        // SAFETY: `start` and `len` are those of the map, which lives as long as `self`; pages that
        // cannot be had are replaced by empty ones. Others may change the file meanwhile.
        unsafe { SharedBytes::new(self.start.as_ptr(), self.len) }
    }

    /// Maps the pages once more, for readers outside this crate. `file` is the mapped file, if it is still open: valgrind refuses
    /// to map pages a second time.
    pub(super) fn unguarded(&self, file: Option<impl AsFd>) -> io::Result<UnguardedMap> {
        let (start, len) = (self.start.as_ptr().cast(), self.len);
        if len == 0 {
            return Ok(UnguardedMap { start: self.start, len });
        }
        // SAFETY: the range is the map, whose pages are shared; a length of 0 leaves them there and maps them once more at an
        // address of the kernel's choice.
        let second = unsafe { rustix::mm::mremap(start, 0, len, MremapFlags::MAYMOVE) };
        let second = match (second, file) {
            (Ok(second), _) => second,
            (Err(error), None) => return Err(error.into()),
            // SAFETY: a new map at an address of the kernel's choice touches no other memory.
            (Err(_), Some(file)) => unsafe {
                let none = std::ptr::null_mut();
                rustix::mm::mmap(none, len, ProtFlags::READ, MapFlags::SHARED, file, 0)?
            },
        };
        match NonNull::new(second.cast::<u8>()) {
            Some(start) => Ok(UnguardedMap { start, len }),
            None => Err(io::Error::other("mapped at address 0")),
        }
    }

    /// Whether a page could not be had: the disk failed, or the file has become shorter.
    pub(super) fn is_poisoned(&self) -> bool {
        self.guarded.is_some_and(GuardedMap::is_poisoned)
    }

    /// Brings a range into memory and into the page table; a disk error is returned.
    pub(super) fn populate(&self, offset: usize, len: usize) -> io::Result<()> {
        let Some((at, len)) = self.pages(offset, len) else { return Ok(()) };
        // SAFETY: the range lies in the map; the advice changes no byte.
        let done = unsafe { rustix::mm::madvise(at, len, Advice::LinuxPopulateRead) };
        match done {
            // A kernel before 5.14: the guard alone.
            Err(rustix::io::Errno::INVAL) => Ok(()),
            // The kernel's error for a page whose read would raise SIGBUS.
            Err(rustix::io::Errno::FAULT) => {
                Err(io::Error::other("the disk failed, or the file has become shorter"))
            }
            done => Ok(done?),
        }
    }

    /// Advises the kernel to read only the pages that are touched: what is read ahead is chosen by
    /// [`bring_in_large_pieces`](Self::bring_in_large_pieces). A fault would otherwise bring as much as the disk's
    /// read-ahead says (128 KiB, some disks 8 MiB) around one short read.
    pub(super) fn without_read_ahead(&self) {
        let Some((at, len)) = self.pages(0, self.len) else { return };
        // SAFETY: the range is the map; the advice changes no byte. It is a hint.
        let _ = unsafe { rustix::mm::madvise(at, len, Advice::Random) };
    }

    /// Reads a range into the page cache in pieces of 2 MiB, the next piece with each; they stay there as
    /// such pieces, mapped by one entry. A disk error is returned by the [`populate`](Self::populate) that
    /// must follow.
    ///
    /// The advice belongs to a second map of the range, made for this only: it cannot be taken back,
    /// and later faults of single pages would bring 4 MiB each.
    pub(super) fn bring_in_large_pieces(&self, offset: usize, len: usize) {
        let Some((at, len)) = self.pages(offset, len) else { return };
        // SAFETY: the range lies in the map, whose pages are shared; a length of 0 leaves them there and
        // maps them once more at an address of the kernel's choice.
        let second = unsafe { rustix::mm::mremap(at, 0, len, MremapFlags::MAYMOVE) };
        let Ok(second) = second else { return };
        // SAFETY: the second map is this function's alone; no byte of it is looked at.
        unsafe {
            let _ = rustix::mm::madvise(second, len, Advice::LinuxHugepage);
            let _ = rustix::mm::madvise(second, len, Advice::LinuxPopulateRead);
            let _ = rustix::mm::munmap(second, len);
        }
    }

    /// Whether all of a range is in the page cache. For files of other users the kernel says
    /// yes without looking.
    pub(super) fn is_resident(&self, offset: usize, len: usize) -> bool {
        let Some((at, len)) = self.pages(offset, len) else { return true };
        let mut pages = vec![0u8; len.div_ceil(page_len())];
        // SAFETY: the range lies in the map and `pages` has a byte for each of its pages.
        let asked = unsafe { libc::mincore(at, len, pages.as_mut_ptr()) };
        asked == 0 && pages.iter().all(|page| page & 1 == 1)
    }

    /// Start and length of the whole pages around a range, as far as the map goes.
    fn pages(&self, offset: usize, len: usize) -> Option<(*mut c_void, usize)> {
        let end = offset.saturating_add(len).min(self.len);
        let start = offset & !(page_len() - 1);
        let len = end.checked_sub(start).filter(|len| *len > 0)?;
        Some((self.start.as_ptr().wrapping_add(start).cast(), len))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if let Some(guarded) = self.guarded.take() {
            guard::unregister(guarded);
        }
        if self.len > 0 {
            // SAFETY: the map is this value's alone, and what `bytes` gave does not outlive it.
            let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}

/// A second map of the bytes of a [`Map`], in which a page that cannot be had raises SIGBUS and becomes no empty one. Its bytes are
/// for code that does not look for the mark on the map before it uses what it has read.
pub(super) struct UnguardedMap {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a map is memory that is only read here; it belongs to no thread.
unsafe impl Send for UnguardedMap {}
// SAFETY: as above.
unsafe impl Sync for UnguardedMap {}

impl UnguardedMap {
    pub(super) fn bytes(&self) -> SharedBytes<'_> {
        // SAFETY: the map has `len` bytes from `start` on and lives as long as `self`. A page that cannot be had ends the process,
        // so that no byte is read there. Others may change the file meanwhile.
        unsafe { SharedBytes::new(self.start.as_ptr(), self.len) }
    }
}

impl Drop for UnguardedMap {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the map is this value's alone, and what `bytes` gave does not outlive it.
            let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn byte(map: &Map, at: usize) -> u8 {
        let mut byte = [0xaa];
        map.bytes().get(at..at + 1).unwrap().copy_to(&mut byte);
        byte[0]
    }

    #[test]
    fn truncation_under_a_map_is_a_mark_and_not_a_death() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 10_000]).unwrap();
        let map = Map::new(&file, 10_000).unwrap();
        let other = Map::new(&file, 10_000).unwrap();
        assert_eq!((byte(&map, 9_999), map.is_poisoned()), (7, false));
        file.set_len(100).unwrap();
        assert_eq!(byte(&map, 9_999), 0);
        assert!(map.is_poisoned());
        assert!(!other.is_poisoned());
        assert!(other.populate(8192, 100).is_err());
        assert!(other.populate(0, 100).is_ok());
        assert!(!other.is_poisoned());
        assert_eq!(byte(&other, 9_000), 0);
        assert!(other.is_poisoned());
    }

    #[test]
    fn many_threads_fault_at_once() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 64 * 4096]).unwrap();
        let map = Map::new(&file, 64 * 4096).unwrap();
        file.set_len(0).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut bytes = vec![7; map.bytes().len()];
                    map.bytes().copy_to(&mut bytes);
                    assert!(bytes.iter().all(|byte| *byte == 0));
                });
            }
        });
        assert!(map.is_poisoned());
    }

    #[test]
    fn nothing_is_mapped_of_an_empty_file() {
        let file = tempfile::tempfile().unwrap();
        let map = Map::new(&file, 0).unwrap();
        assert!(map.bytes().is_empty() && !map.is_poisoned() && map.is_resident(0, 10));
    }

    #[test]
    fn residency_is_told() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 10_000]).unwrap();
        let map = Map::new(&file, 10_000).unwrap();
        assert!(map.is_resident(0, 10_000));
        assert!(map.is_resident(5_000, 100_000));
    }
}
