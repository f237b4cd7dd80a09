//! Which parts of a mapped block are ready to be read from the map.
//!
//! A page in the cache costs the map a soft fault at first touch, sixteen pages a fault, and nothing
//! where the file's pages are large. A page that is not in the cache is brought by populating, which
//! gives a disk error as an error; for a long read in pieces as large as a window, as read ahead of
//! smaller ones costs three times the processor and half the speed. So each window is looked at once,
//! when it is first touched.

use super::map::Map;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes of a window: what the kernel maps by one entry where the file's pages are that large.
const WINDOW_LEN: usize = 2 << 20;
/// Reads of at least this length bring their whole window.
const LONG_LEN: usize = 64 << 10;
/// So many short reads of a window bring it, too.
const TOUCHES_MAX: u8 = 32;
const READY: u8 = u8::MAX;

/// One byte a window: [`READY`], or how often it was touched.
pub(super) struct Windows {
    touches: Box<[AtomicU8]>,
    /// Whether the kernel tells the truth about which pages are in its cache.
    asks: bool,
}

impl Windows {
    /// For a map of `len` bytes; `asks`: the file belongs to this user, or this user is root.
    pub(super) fn new(len: usize, asks: bool) -> Self {
        let touches = (0..len.div_ceil(WINDOW_LEN)).map(|_| AtomicU8::new(0)).collect();
        Self { touches, asks }
    }

    /// Makes a range ready; a disk error is returned.
    pub(super) fn prepare(&self, map: &Map, range: Range<usize>) -> io::Result<()> {
        let last = range.end.saturating_sub(1) / WINDOW_LEN;
        for at in range.start / WINDOW_LEN..=last {
            match self.touches.get(at) {
                Some(touches) if touches.load(Ordering::Relaxed) != READY => {
                    self.touch(map, at, touches, &range)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    #[cold]
    fn touch(
        &self,
        map: &Map,
        at: usize,
        touches: &AtomicU8,
        range: &Range<usize>,
    ) -> io::Result<()> {
        let start = at * WINDOW_LEN;
        let count = touches.load(Ordering::Relaxed).min(TOUCHES_MAX);
        let is_short = range.len() < LONG_LEN && count < TOUCHES_MAX;
        let from = range.start.max(start);
        let part = range.end.min(start + WINDOW_LEN) - from;
        // A look at a whole window takes 35 us: more than a first short read is worth.
        if self.asks && is_short && count == 0 && map.is_resident(from, part) {
            touches.store(1, Ordering::Relaxed);
            return Ok(());
        }
        if self.asks && map.is_resident(start, WINDOW_LEN) {
            touches.store(READY, Ordering::Relaxed);
            return Ok(());
        }
        if is_short {
            touches.store(count + 1, Ordering::Relaxed);
            return map.populate(from, part);
        }
        map.in_large_pieces(start, WINDOW_LEN);
        map.populate(start, WINDOW_LEN)?;
        touches.store(READY, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn windows_become_ready_and_errors_come_back() {
        let len = WINDOW_LEN + 5000;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; len]).unwrap();
        let map = Map::new(&file, len).unwrap();
        for asks in [true, false] {
            let windows = Windows::new(len, asks);
            windows.prepare(&map, 10..20).unwrap();
            assert_eq!(windows.touches[0].load(Ordering::Relaxed), 1);
            windows.prepare(&map, 10..20).unwrap();
            assert_eq!(windows.touches[0].load(Ordering::Relaxed) == READY, asks);
            windows.prepare(&map, WINDOW_LEN - LONG_LEN..len).unwrap();
            assert!(windows.touches.iter().all(|w| w.load(Ordering::Relaxed) == READY));
        }
        let windows = Windows::new(len, false);
        for _ in 0..=TOUCHES_MAX {
            windows.prepare(&map, 10..20).unwrap();
        }
        assert_eq!(windows.touches[0].load(Ordering::Relaxed), READY);
        file.set_len(5000).unwrap();
        assert!(windows.prepare(&map, WINDOW_LEN..len).is_err());
        assert!(!map.is_poisoned());
    }
}
