//! The scan of the directives under the namespace's lock, a slice at a time.

use super::CacheScan;
use crate::Namespace;
use crate::blocks::Now;
use crate::tree::Slot;

impl Namespace {
    /// Looks at all paths of all directives at once, counts, and decides which DataNode shall hold what.
    pub fn scan_cache(&mut self, now: Now) {
        self.cache_scan = None;
        while self.continue_cache_scan(now, usize::MAX) {}
    }

    /// One more slice of the scan of the directives, the first one if none is under way: up to `max` directives, files and
    /// blocks. True if there are more; what was counted is shown from the end on.
    pub fn continue_cache_scan(&mut self, now: Now, max: usize) -> bool {
        let begun = self.cache_scan.take();
        let mut scan = begun.unwrap_or_else(|| CacheScan::new(&self.state, now));
        if scan.advance(&mut self.state, max) {
            self.cache_scan = Some(scan);
            return true;
        }
        scan.finish(&mut self.state);
        false
    }

    /// As [`Namespace::continue_cache_scan`], until a scan that knew of so many changes has come to its end.
    pub fn scan_cache_changes(&mut self, changes: u64, now: Now, max: usize) -> bool {
        if self.state.cache().scanned < changes {
            self.continue_cache_scan(now, max);
        }
        self.state.cache().scanned < changes
    }

    /// How many changes of pools and directives there were, if no scan has come to its end since the last one; never where
    /// caching is off.
    pub fn cache_changes(&self) -> Option<u64> {
        let cache = self.state.cache();
        let is_changed = self.params.caching_enabled && cache.scanned < cache.changes;
        is_changed.then_some(cache.changes)
    }

    /// Whether there is any directive that may be carried out.
    pub fn has_cache_directives(&self) -> bool {
        self.params.caching_enabled && !self.state.cache().directives.is_empty()
    }

    /// The file at a path, or those in the directory there.
    pub(super) fn files_at(&self, path: &str) -> Vec<Slot> {
        let Some(slot) = self.state.paths().walk(path).ok().and_then(|located| located.last())
        else {
            return Vec::new();
        };
        let is_file = |slot: &Slot| self.state.tree().get(*slot).as_file().is_some();
        match self.state.tree().get(slot).as_directory() {
            Some(directory) => directory.children.iter().filter(is_file).collect(),
            None => [slot].into_iter().filter(is_file).collect(),
        }
    }
}
