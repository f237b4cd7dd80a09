//! Bytes that another process may change while they are read.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{Ordering, compiler_fence};

/// Readable memory that others may change at any time, such as the map of a file.
///
/// No `&[u8]` may point to such memory: the compiler assumes that the bytes behind a slice stay as they
/// are. So this type hands out no reference. Its bytes are copied, or read once each to compute a
/// checksum. A checksum that was computed in place says what the bytes were, not what a later read
/// finds; [`copy_and_verify`](crate::copy_and_verify) vouches for the copy.
#[derive(Clone, Copy, Debug)]
pub struct SharedBytes<'a> {
    start: *const u8,
    len: usize,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: the memory is only read, and stays readable for `'a` on every thread.
unsafe impl Send for SharedBytes<'_> {}
// SAFETY: as above.
unsafe impl Sync for SharedBytes<'_> {}

impl<'a> SharedBytes<'a> {
    /// The `len` bytes from `start` on.
    ///
    /// # Safety
    /// All of them stay readable for `'a`; otherwise a read faults, or reads what is none of the
    /// caller's. Their values may change meanwhile. No Rust code of this process writes to them with
    /// ordinary stores.
    pub const unsafe fn new(start: *const u8, len: usize) -> Self {
        Self { start, len, memory: PhantomData }
    }

    /// How many there are.
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where the first one is.
    pub const fn as_ptr(self) -> *const u8 {
        self.start
    }

    /// A part of the bytes; `None` where it does not lie in them.
    pub fn get(self, range: Range<usize>) -> Option<Self> {
        let is_inside = range.start <= range.end && range.end <= self.len;
        // SAFETY: the part is inside the memory that was promised for `'a`.
        is_inside.then(|| unsafe { Self::new(self.start.add(range.start), range.len()) })
    }

    /// Copies all bytes to `target`. What is read from `target` behind this call is the copy: the
    /// compiler may not read the source again in its place.
    ///
    /// # Panics
    /// If `target` is not as long.
    pub fn copy_to(self, target: &mut [u8]) {
        assert_eq!(target.len(), self.len, "length of the target");
        // SAFETY: `len` readable bytes, promised to `new`, and as many writable ones that are the
        // caller's alone.
        unsafe { copy_once(self.start, target.as_mut_ptr(), self.len) };
    }
}

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for SharedBytes<'a> {
    fn from(bytes: &'a T) -> Self {
        let bytes = bytes.as_ref();
        // SAFETY: a slice is readable for its lifetime.
        unsafe { Self::new(bytes.as_ptr(), bytes.len()) }
    }
}

/// Copies `len` bytes, each of which is read once.
///
/// # Safety
/// `len` bytes are readable at `source` and writable at `target`, and the two do not overlap.
#[inline]
pub(crate) unsafe fn copy_once(source: *const u8, target: *mut u8, len: usize) {
    // SAFETY: passed on from the caller.
    unsafe { target.copy_from_nonoverlapping(source, len) };
    // Without it the compiler may take a later load of the copy for one of the source.
    compiler_fence(Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_inside() {
        let bytes: Vec<u8> = (0..100).collect();
        let shared = SharedBytes::from(&bytes);
        let mut copy = [0; 10];
        shared.get(90..100).unwrap().copy_to(&mut copy);
        assert_eq!(copy[..], bytes[90..]);
        assert!(shared.get(100..100).unwrap().is_empty());
        assert!(shared.get(91..101).is_none());
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
        let reversed = 5..4;
        assert!(shared.get(reversed).is_none());
    }
}
