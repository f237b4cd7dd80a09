//! The scan of the directives under the namespace's lock, a slice at a time.

use super::CacheScan;
use crate::blocks::Now;
use crate::commit::DurableState;

/// Scans the directives, and chooses the DataNodes that have to cache each block.
pub struct CacheScanner<'n> {
    pub(crate) state: &'n mut DurableState,
    /// The scan in progress.
    pub(crate) scan: &'n mut Option<CacheScan>,
}

impl CacheScanner<'_> {
    /// Scans all directives in one go, from the beginning.
    pub fn scan(&mut self, now: Now) {
        *self.scan = None;
        while self.continue_scan(now, usize::MAX) {}
    }

    /// One more slice of the scan, the first one if none is under way: up to `max` directives, files and blocks. True if
    /// there are more. The figures are shown when the scan is complete.
    pub fn continue_scan(&mut self, now: Now, max: usize) -> bool {
        let begun = self.scan.take();
        let mut scan = begun.unwrap_or_else(|| CacheScan::new(self.state, now));
        if scan.advance(self.state, max) {
            *self.scan = Some(scan);
            return true;
        }
        scan.finish(self.state);
        false
    }

    /// As [`CacheScanner::continue_scan`], until a scan that began after so many changes is complete.
    pub fn scan_changes(&mut self, changes: u64, now: Now, max: usize) -> bool {
        if self.state.cache().scanned < changes {
            self.continue_scan(now, max);
        }
        self.state.cache().scanned < changes
    }
}
