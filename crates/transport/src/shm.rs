//! Shared memory segments of slots.
//!
//! A segment is made by the DataNode and mapped by it and by one client. Its descriptor travels over
//! the domain socket. Ours are sealed: a client cannot shrink one under the DataNode's feet, which
//! would kill the DataNode by a signal. Where the kernel gives no such memory, an unlinked file in one
//! of `dfs.datanode.shared.file.descriptor.paths` does, as in Apache's DataNode.

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use zerohop_wire::slot::{SEGMENT_LEN, SLOT_LEN};

/// A segment longer than this is not one: no DataNode makes such.
const LEN_MAX: u64 = 1 << 20;

/// A mapped segment.
#[derive(Debug)]
pub struct Segment {
    map: MmapRaw,
    slots: usize,
}

impl Segment {
    /// Makes and maps a segment of [`SEGMENT_LEN`] bytes; the descriptor is for the client.
    /// `directories` are those for files, tried in turn.
    pub fn create<P: AsRef<Path>>(directories: &[P]) -> io::Result<(Self, OwnedFd)> {
        let fd = sealed_memory().or_else(|error| unlinked_file(directories, error))?;
        Ok((Self::map(&fd)?, fd))
    }

    /// Maps the segment of a descriptor; how many slots it has is told by its length.
    pub fn map(fd: impl AsFd) -> io::Result<Self> {
        let len = u64::try_from(rustix::fs::fstat(&fd)?.st_size).unwrap_or(0);
        let slots = usize::try_from(len.min(LEN_MAX)).unwrap_or(0) / SLOT_LEN;
        if slots == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a shared memory segment of {len} bytes has no room for a slot"),
            ));
        }
        let fd = std::os::fd::AsRawFd::as_raw_fd(&fd.as_fd());
        let map = MmapOptions::new().len(slots * SLOT_LEN).map_raw(fd)?;
        Ok(Self { map, slots })
    }

    /// How many slots it has.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The word of a slot, on which [`zerohop_wire::Slot`] works.
    pub fn slot(&self, index: usize) -> Option<&AtomicU64> {
        if index >= self.slots {
            return None;
        }
        let word = self.map.as_mut_ptr().wrapping_add(index * SLOT_LEN).cast::<u64>();
        // SAFETY: the slot lies in the map, which lives as long as `self` and is changed by atomic
        // operations only, here and in the other process; a page-aligned start plus multiples of 64
        // is aligned.
        Some(unsafe { AtomicU64::from_ptr(word) })
    }
}

/// Memory that cannot be shrunk.
fn sealed_memory() -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = rustix::fs::memfd_create("HadoopShortCircuitShm", flags)?;
    rustix::fs::fallocate(&fd, FallocateFlags::empty(), 0, SEGMENT_LEN as u64)?;
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&fd, seals)?;
    Ok(fd)
}

/// A file without a name in the first of `directories` that takes one.
fn unlinked_file<P: AsRef<Path>>(directories: &[P], mut error: io::Error) -> io::Result<OwnedFd> {
    for directory in directories {
        match unlinked_file_in(directory.as_ref()) {
            Ok(fd) => return Ok(fd),
            Err(cause) => {
                let directory = directory.as_ref().display();
                error = io::Error::new(
                    cause.kind(),
                    format!(
                        "no shared memory in {directory}: {cause}; free some, or name another directory \
                         in dfs.datanode.shared.file.descriptor.paths"
                    ),
                );
            }
        }
    }
    Err(error)
}

fn unlinked_file_in(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let fd = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)?;
    // Taken now: a full file system must fail here, not kill the process at the first touch.
    rustix::fs::fallocate(&fd, FallocateFlags::empty(), 0, SEGMENT_LEN as u64)?;
    Ok(fd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::Slot;
    use zerohop_wire::slot::SLOTS_PER_SEGMENT;

    #[test]
    fn both_ends_see_one_slot() {
        let (ours, fd) = Segment::create(&["/dev/shm"]).unwrap();
        let theirs = Segment::map(&fd).unwrap();
        assert_eq!((ours.slots(), theirs.slots()), (SLOTS_PER_SEGMENT, SLOTS_PER_SEGMENT));
        assert!(ours.slot(SLOTS_PER_SEGMENT).is_none());
        theirs.slot(127).unwrap().claim();
        assert!(ours.slot(127).unwrap().is_valid());
        assert!(!ours.slot(126).unwrap().is_valid());
        ours.slot(127).unwrap().make_invalid();
        assert!(!theirs.slot(127).unwrap().is_valid());
    }

    #[test]
    fn a_client_cannot_shrink_a_segment() {
        let (segment, fd) = Segment::create::<&str>(&[]).unwrap();
        assert!(rustix::fs::ftruncate(&fd, 0).is_err());
        segment.slot(0).unwrap().claim();
    }

    #[test]
    fn files_serve_where_there_is_no_sealed_memory() {
        let directory = tempfile::tempdir().unwrap();
        let none = || io::Error::other("none");
        let fd = unlinked_file(&["/no-such-directory".as_ref(), directory.path()], none()).unwrap();
        assert_eq!(Segment::map(&fd).unwrap().slots(), SLOTS_PER_SEGMENT);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let error = unlinked_file(&["/no-such-directory"], none()).unwrap_err().to_string();
        assert!(error.contains("dfs.datanode.shared.file.descriptor.paths"), "{error}");
    }

    #[test]
    fn what_is_too_short_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(63).unwrap();
        assert!(Segment::map(&file).is_err());
    }
}
