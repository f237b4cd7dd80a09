//! Which parts of a mapped block are ready to be read from the map.
//!
//! A page in the cache costs the map a soft fault at first touch, sixteen pages a fault, and nothing
//! where the file's pages are large. A page that is not in the cache is brought by populating, which
//! gives a disk error as an error: for a short read that page alone, for a long one, or one that goes
//! on where the last ended, a whole window in one piece, as read ahead of smaller ones costs three
//! times the processor and half the speed. So each window is looked at when it is first touched. A long
//! read whose own bytes are all in the cache leaves the rest of its windows where it is.
//!
//! Where the block file is still open (see [`descriptors`](super::descriptors)), long reads of what is not in
//! the cache do not go through the map at all: [`Windows::is_cold`] says so, and the caller reads by pread(2)
//! into its buffer. The kernel reads ahead of such reads while the last bytes are verified; populating
//! waits for each window.
//!
//! The cache may give a window's pages away later. Reads that begin a window, and one of sixteen long
//! ones, look at a page of it again, which is a system call; all long ones do for a while when one
//! was found missing. Other short reads take a fault of one page then.

use super::map::Map;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Bytes of a window: what the kernel maps by one entry where the file's pages are that large.
const WINDOW_LEN: usize = 2 << 20;
/// Reads of at least this length bring their whole window.
const LONG_LEN: usize = 64 << 10;
/// Short reads of a window after which it is brought in as well.
const TOUCHES_MAX: u8 = 32;
const READY: u8 = u8::MAX;
/// One of so many long reads checks whether a ready window is still in the cache.
const LOOKS_ONE_OF: usize = 16;
/// A sequence of reads by pread(2), each of which continues where the last one ended, goes on until the page this far
/// ahead is in the cache: reads from the map cause no read-ahead, and the disk would idle until the next cold window.
const AHEAD_LEN: usize = 32 << 20;
/// Checks in a row that must find their page before only some long reads check.
const ALERT_LOOKS: u8 = 64;

/// One byte a window: [`READY`], or how often it was touched.
pub(super) struct Windows {
    touches: Box<[AtomicU8]>,
    /// Whether the kernel shows this user which pages are in its cache.
    asks: bool,
    /// Where the last read ended that touched a window which was not ready.
    last_end: AtomicUsize,
    /// Where the last read ended that was a cold one.
    cold_end: AtomicUsize,
    /// Checks that long reads still make, since a ready window was found to have left the cache.
    alert: AtomicU8,
}

impl Windows {
    /// For a map of `len` bytes; `asks`: the file belongs to this user, or this user is root.
    pub(super) fn new(len: usize, asks: bool) -> Self {
        let touches = (0..len.div_ceil(WINDOW_LEN)).map(|_| AtomicU8::new(0)).collect();
        Self {
            touches,
            asks,
            last_end: AtomicUsize::new(usize::MAX),
            cold_end: AtomicUsize::new(usize::MAX),
            alert: AtomicU8::new(0),
        }
    }

    /// Whether a read is a long one of bytes that are not in the page cache, and so better not made from
    /// the map. Where the kernel does not tell, each window counts as cold once.
    pub(super) fn is_cold(&self, map: &Map, range: &Range<usize>) -> bool {
        if range.len() < LONG_LEN {
            return false;
        }
        // First, because it looks at one page: looking at all pages of a MiB takes the kernel 25 us.
        let goes_on = self.cold_end.load(Ordering::Relaxed) == range.start && self.asks;
        let ahead = range.end.saturating_add(AHEAD_LEN).min(map.len() - 1);
        let mut windows = range.start / WINDOW_LEN..=(range.end - 1) / WINDOW_LEN;
        let is_cold = goes_on && !map.is_resident(ahead, 1)
            || windows.any(|at| self.is_window_cold(map, at, range));
        if is_cold {
            self.cold_end.store(range.end, Ordering::Relaxed);
        }
        is_cold
    }

    /// Whether a cold read ended at `pos`.
    pub(super) fn was_cold_before(&self, pos: usize) -> bool {
        self.cold_end.load(Ordering::Relaxed) == pos
    }

    /// A read at `pos` follows a cold one.
    pub(super) fn goes_on_cold_at(&self, pos: usize) {
        self.cold_end.store(pos, Ordering::Relaxed);
    }

    /// Whether a range can be read from the map without waiting for the disk: its windows are ready, and
    /// the cache has not given its pages away since, as far as the kernel tells.
    pub(super) fn is_in_memory(&self, map: &Map, range: &Range<usize>) -> bool {
        let mut windows = range.start / WINDOW_LEN..=range.end.saturating_sub(1) / WINDOW_LEN;
        windows.all(|at| self.is_ready(at))
            && (!self.asks || map.is_resident(range.start, range.len()))
    }

    fn is_window_cold(&self, map: &Map, at: usize, range: &Range<usize>) -> bool {
        let Some(touches) = self.touches.get(at) else { return false };
        let start = at * WINDOW_LEN;
        let from = range.start.max(start);
        let end = range.end.min(start + WINDOW_LEN);
        if touches.load(Ordering::Relaxed) != READY {
            if !self.asks && end == (start + WINDOW_LEN).min(map.len()) {
                touches.store(READY, Ordering::Relaxed);
            }
            return !self.asks || !map.is_resident(from, end - from);
        }
        if !self.asks || !self.looks_again(at, range) {
            return false;
        }
        if map.is_resident(from, 1) {
            self.calm();
            return false;
        }
        self.alert.store(ALERT_LOOKS, Ordering::Relaxed);
        touches.store(0, Ordering::Relaxed);
        true
    }

    /// Makes a range ready; a disk error is returned.
    pub(super) fn prepare(&self, map: &Map, range: Range<usize>) -> io::Result<()> {
        let last = range.end.saturating_sub(1) / WINDOW_LEN;
        for at in range.start / WINDOW_LEN..=last {
            let Some(touches) = self.touches.get(at) else { continue };
            let is_ready = touches.load(Ordering::Relaxed) == READY;
            if !is_ready || self.asks && self.looks_again(at, &range) {
                self.touch(map, at, touches, &range)?;
            }
        }
        Ok(())
    }

    fn looks_again(&self, at: usize, range: &Range<usize>) -> bool {
        let in_turn = || (range.start / LONG_LEN).is_multiple_of(LOOKS_ONE_OF);
        range.start <= at * WINDOW_LEN
            || range.len() >= LONG_LEN && (self.alert.load(Ordering::Relaxed) > 0 || in_turn())
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
        let from = range.start.max(start);
        let part = range.end.min(start + WINDOW_LEN) - from;
        let mut count = touches.load(Ordering::Relaxed);
        if count == READY {
            if map.is_resident(from, 1) {
                self.calm();
                return Ok(());
            }
            self.alert.store(ALERT_LOOKS, Ordering::Relaxed);
            count = 0;
        }
        let goes_on = range.start == self.last_end.swap(range.end, Ordering::Relaxed)
            || range.start <= start && at > 0 && self.is_ready(at - 1);
        let is_short = range.len() < LONG_LEN && count < TOUCHES_MAX && !goes_on;
        if is_short {
            touches.store(count + 1, Ordering::Relaxed);
            if !self.asks || !map.is_resident(from, part) {
                return map.populate(from, part);
            }
            // A look at a whole window takes 35 us: more than a first short read is worth.
            if count.is_power_of_two() && map.is_resident(start, WINDOW_LEN) {
                touches.store(READY, Ordering::Relaxed);
            }
            return Ok(());
        }
        if !self.asks || !map.is_resident(start, WINDOW_LEN) {
            // All that is wanted is there: the rest of the window would have to come from the disk.
            if self.asks
                && range.len() >= LONG_LEN
                && count < TOUCHES_MAX
                && map.is_resident(from, part)
            {
                touches.store(count + 1, Ordering::Relaxed);
                return Ok(());
            }
            map.bring_in_large_pieces(start, WINDOW_LEN);
            map.populate(start, WINDOW_LEN)?;
        }
        touches.store(READY, Ordering::Relaxed);
        Ok(())
    }

    /// One look more that found its page. Looks that are lost to another thread do no harm.
    fn calm(&self) {
        let alert = self.alert.load(Ordering::Relaxed);
        if alert > 0 {
            self.alert.store(alert - 1, Ordering::Relaxed);
        }
    }

    fn is_ready(&self, at: usize) -> bool {
        self.touches.get(at).is_some_and(|touches| touches.load(Ordering::Relaxed) == READY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_range_is_in_memory_once_its_windows_are_ready() {
        let len = 2 * WINDOW_LEN;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; len]).unwrap();
        let map = Map::new(&file, len).unwrap();
        for asks in [true, false] {
            let windows = Windows::new(len, asks);
            let across = WINDOW_LEN - 10..WINDOW_LEN + 10;
            assert!(!windows.is_in_memory(&map, &across), "not read yet");
            windows.prepare(&map, 0..WINDOW_LEN).unwrap();
            assert!(windows.is_in_memory(&map, &(WINDOW_LEN - 10..WINDOW_LEN)));
            assert!(!windows.is_in_memory(&map, &across), "half of it");
            windows.prepare(&map, WINDOW_LEN..len).unwrap();
            assert!(windows.is_in_memory(&map, &across));
        }
    }

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
            assert_eq!(windows.is_ready(0), asks);
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

    /// Takes all of a file's pages out of the map and out of the cache.
    fn forget(file: &std::fs::File, map: &Map) {
        file.sync_all().unwrap();
        let bytes = map.bytes();
        // SAFETY: the pages of a shared map of a file come back from the file.
        unsafe {
            let start = bytes.as_ptr().cast_mut().cast();
            rustix::mm::madvise(start, bytes.len(), rustix::mm::Advice::LinuxDontNeed).unwrap();
        }
        rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        assert!(!map.is_resident(0, 1), "the page cache keeps the file: not on a disk?");
    }

    /// A file of this length on a disk, and its map; nothing of it is in the cache.
    fn cold(len: usize) -> (std::fs::File, Map) {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; len]).unwrap();
        let map = Map::new(&file, len).unwrap();
        map.without_read_ahead();
        forget(&file, &map);
        (file, map)
    }

    #[test]
    fn long_reads_are_cold_until_their_pages_are_in_the_cache() {
        let len = 6 * WINDOW_LEN;
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; len]).unwrap();
        let map = Map::new(&file, len).unwrap();
        let windows = Windows::new(len, true);
        let first = 0..LONG_LEN;
        assert!(!windows.is_cold(&map, &first), "just written");
        map.without_read_ahead();
        forget(&file, &map);
        assert!(windows.is_cold(&map, &first));
        assert!(!windows.is_cold(&map, &(0..LONG_LEN - 1)), "a short one");
        // It was read, with a little behind it: this reader continues with cold reads, others need not.
        map.populate(0, WINDOW_LEN).unwrap();
        assert!(windows.is_cold(&map, &(LONG_LEN..2 * LONG_LEN)));
        assert!(!windows.is_cold(&map, &first));
        // All of the file was read ahead.
        map.populate(0, len).unwrap();
        assert!(!windows.is_cold(&map, &(2 * LONG_LEN..3 * LONG_LEN)));
        assert!(windows.was_cold_before(2 * LONG_LEN), "where the last cold one ended");
        // The cache gave the pages of a ready window away.
        windows.prepare(&map, first.clone()).unwrap();
        assert!(windows.is_ready(0));
        forget(&file, &map);
        assert!(windows.is_cold(&map, &first) && windows.is_cold(&map, &first));
        // A user who cannot see the cache's pages reads each window once from its file.
        let windows = Windows::new(len, false);
        for (range, is_cold) in
            [(0..LONG_LEN, true), (LONG_LEN..WINDOW_LEN, true), (0..WINDOW_LEN, false)]
        {
            assert_eq!(windows.is_cold(&map, &range), is_cold, "{range:?}");
        }
    }

    /// The second read of a part of a file waited for the rest of its windows.
    #[test]
    fn a_long_read_of_what_is_in_the_cache_brings_nothing_else() {
        let len = 2 * WINDOW_LEN;
        let (_file, map) = cold(len);
        let windows = Windows::new(len, true);
        let range = LONG_LEN..3 * LONG_LEN;
        map.populate(range.start, range.len()).unwrap();
        for _ in 0..TOUCHES_MAX {
            assert!(!windows.is_cold(&map, &range));
            windows.prepare(&map, range.clone()).unwrap();
            assert!(!windows.is_ready(0) && !map.is_resident(0, 1));
        }
        windows.prepare(&map, range).unwrap();
        assert!(windows.is_ready(0) && map.is_resident(0, WINDOW_LEN), "it is read often");
    }

    #[test]
    fn what_is_not_in_the_cache_is_brought_by_page_or_by_window() {
        const PAGE: usize = 4096;
        let len = 6 * WINDOW_LEN;
        let (file, map) = cold(len);
        let windows = Windows::new(len, true);
        // Short reads here and there bring their own pages.
        for at in [3 * PAGE, PAGE, WINDOW_LEN + PAGE] {
            windows.prepare(&map, at..at + 10).unwrap();
            assert!(map.is_resident(at, 10));
            assert!(!map.is_resident(at + PAGE, 10) && !map.is_resident(at - PAGE, 10));
        }
        // One that continues where the last ended brings its window, not all of the file.
        windows.prepare(&map, WINDOW_LEN + PAGE + 10..WINDOW_LEN + PAGE + 20).unwrap();
        assert!(windows.is_ready(1) && map.is_resident(WINDOW_LEN, WINDOW_LEN));
        assert!(!map.is_resident(4 * WINDOW_LEN, 1));
        // So does one that begins the window behind a ready one, and a long one.
        windows.prepare(&map, 2 * WINDOW_LEN..2 * WINDOW_LEN + 10).unwrap();
        windows.prepare(&map, 4 * WINDOW_LEN + 5..4 * WINDOW_LEN + 5 + LONG_LEN).unwrap();
        assert!(map.is_resident(2 * WINDOW_LEN, WINDOW_LEN));
        assert!(map.is_resident(4 * WINDOW_LEN, WINDOW_LEN));
        // A ready window whose pages were given away is brought again, as a whole or by page.
        forget(&file, &map);
        windows.prepare(&map, 4 * WINDOW_LEN..4 * WINDOW_LEN + LONG_LEN).unwrap();
        assert!(map.is_resident(4 * WINDOW_LEN, WINDOW_LEN));
        windows.prepare(&map, WINDOW_LEN + 9 * PAGE..WINDOW_LEN + 9 * PAGE + LONG_LEN).unwrap();
        assert!(map.is_resident(WINDOW_LEN, WINDOW_LEN), "a long read looks for a while");
        forget(&file, &map);
        let mut byte = [0];
        map.bytes().get(WINDOW_LEN + PAGE..WINDOW_LEN + PAGE + 1).unwrap().copy_to(&mut byte);
        assert_eq!(byte, [1]);
        assert!(!map.is_resident(WINDOW_LEN, PAGE + 1));
    }
}
