//! Memory for reads whose bytes are handed out as [`Bytes`], used again when the last of them is dropped.
//!
//! A fresh buffer is zeroed by the allocator or by the kernel, and its pages are faulted in one by one:
//! for a read of 128 KiB from the page cache that is a good part of the whole cost. A buffer that comes
//! back has neither cost again.

use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Lengths of the buffers that are kept: powers of two from the first to the last.
const LEN_MIN: usize = 4 << 10;
const LEN_MAX: usize = 1 << 20;
const SIZES: usize = (LEN_MAX / LEN_MIN).ilog2() as usize + 1;
/// Bytes and buffers that are kept of each length, at most.
const KEPT_LEN_MAX: usize = 2 << 20;
const KEPT_MAX: usize = 64;

/// The buffers that a client keeps for its next reads, by their length.
#[derive(Default)]
pub(crate) struct Buffers {
    kept: [Mutex<Vec<Vec<u8>>>; SIZES],
}

/// A buffer of `len` bytes, which goes back to where it is from when it is dropped.
#[derive(Default)]
pub(crate) struct Buffer {
    /// `len <= memory.len()`.
    memory: Vec<u8>,
    len: usize,
    home: Weak<Buffers>,
}

impl Buffers {
    /// A buffer of `len` bytes, whose content is not defined.
    pub(crate) fn take(self: &Arc<Self>, len: usize) -> Buffer {
        let Some(size) = size_for(len) else {
            return Buffer { memory: vec![0; len], len, home: Weak::new() };
        };
        let kept = self.kept.get(size).and_then(|kept| kept.lock().pop());
        let memory = kept.unwrap_or_else(|| vec![0; LEN_MIN << size]);
        Buffer { memory, len, home: Arc::downgrade(self) }
    }

    fn put_back(&self, memory: Vec<u8>) {
        let size = size_for(memory.len()).and_then(|size| Some((size, self.kept.get(size)?)));
        let Some((size, kept)) = size else { return };
        let mut kept = kept.lock();
        if kept.len() < (KEPT_LEN_MAX / (LEN_MIN << size)).min(KEPT_MAX) {
            kept.push(memory);
        }
    }
}

/// The size of buffers for `len` bytes; `None` where none of them is large enough.
fn size_for(len: usize) -> Option<usize> {
    let whole = len.max(LEN_MIN).checked_next_power_of_two()?;
    (whole <= LEN_MAX).then(|| (whole / LEN_MIN).ilog2() as usize)
}

impl Buffer {
    /// The first `len` bytes, as shared memory.
    pub(crate) fn into_bytes(mut self, len: usize) -> Bytes {
        self.len = self.len.min(len);
        if self.len == 0 { Bytes::new() } else { Bytes::from_owner(self) }
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.memory.get(..self.len).unwrap_or_default()
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(..self.len).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(home) = self.home.upgrade() {
            home.put_back(std::mem::take(&mut self.memory));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(buffers: &Buffers) -> Vec<usize> {
        buffers.kept.iter().map(|kept| kept.lock().len()).collect()
    }

    #[test]
    fn a_buffer_is_used_again_when_the_last_of_its_bytes_is_dropped() {
        let buffers = Arc::new(Buffers::default());
        let mut buffer = buffers.take(5000);
        buffer.as_mut().fill(7);
        let first = buffer.as_ref().as_ptr();
        let bytes = buffer.into_bytes(3000);
        let part = bytes.slice(10..20);
        drop(bytes);
        assert!(kept(&buffers).iter().all(|count| *count == 0), "a part is held");
        assert_eq!(part, [7; 10][..]);
        drop(part);
        assert_eq!(kept(&buffers)[..3], [0, 1, 0]);
        let again = buffers.take(8000);
        assert_eq!((again.as_ref().as_ptr(), again.as_ref().len()), (first, 8000));
    }

    #[test]
    fn memory_that_is_kept_has_a_bound() {
        let buffers = Arc::new(Buffers::default());
        for len in [0, 1, LEN_MIN, LEN_MIN + 1, LEN_MAX, LEN_MAX + 1] {
            let taken: Vec<Buffer> = (0..KEPT_MAX + 1).map(|_| buffers.take(len)).collect();
            assert!(taken.iter().all(|buffer| buffer.as_ref().len() == len));
        }
        let count = kept(&buffers);
        assert_eq!((count[0], count[1], count[SIZES - 1]), (KEPT_MAX, KEPT_MAX, 2));
        // The buffers outlive the client.
        let buffer = buffers.take(10);
        drop(buffers);
        assert_eq!(buffer.into_bytes(10).len(), 10);
    }
}
