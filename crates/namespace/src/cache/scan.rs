//! Which blocks the directives ask for, and how many bytes that is.

use super::CacheScan;
use crate::Namespace;
use crate::blocks::{BlockState, Now};
use crate::tree::Slot;
use crate::views::CacheStats;
use hashbrown::HashMap;
use zerohop_wire::BlockId;

/// What one file of a directive needs, and has.
#[derive(Clone, Copy)]
struct FileBytes {
    needed: i64,
    cached: i64,
}

impl FileBytes {
    fn add_to(self, stats: &mut CacheStats) {
        stats.bytes_needed = stats.bytes_needed.saturating_add(self.needed);
        stats.files_needed += 1;
        stats.bytes_cached = stats.bytes_cached.saturating_add(self.cached);
        stats.files_cached += i64::from(self.cached == self.needed);
    }
}

impl Namespace {
    /// Looks at all paths of all directives, counts, and decides which DataNode shall hold what.
    pub fn scan_cache(&mut self, now: Now) {
        let cache = self.state.cache();
        let now_ms = now.wall_ms as i64;
        let mut wanted: HashMap<BlockId, u16> = HashMap::new();
        let mut scan = CacheScan::default();
        for (id, directive) in &cache.directives {
            let Some(pool) = cache.pools.get(&directive.pool) else { continue };
            if directive.is_expired(now_ms) {
                continue;
            }
            let pool_stats = scan.pools.entry(directive.pool.clone()).or_default();
            let stats = scan.directives.entry(*id).or_default();
            let replication = directive.replication.max(1) as u16;
            for slot in self.files_at(&directive.path) {
                let mut bytes = self.bytes_of(slot, replication);
                let is_over = pool_stats.bytes_needed.saturating_add(bytes.needed) > pool.limit;
                if is_over {
                    bytes.cached = 0;
                } else {
                    self.want(slot, replication, &mut wanted);
                }
                bytes.add_to(stats);
                bytes.add_to(pool_stats);
            }
        }
        self.state.set_cache_stats(scan);
        self.state.blocks_mut().plan_cache(&wanted);
    }

    pub(super) fn scan_cache_if_changed(&mut self, now: Now) {
        if self.is_cache_changed() {
            self.scan_cache(now);
        }
    }

    /// Whether the directives changed since the last scan; never where caching is off.
    pub fn is_cache_changed(&self) -> bool {
        self.params.caching_enabled && self.state.cache().is_changed
    }

    /// Whether there is any directive that may be carried out.
    pub fn has_cache_directives(&self) -> bool {
        self.params.caching_enabled && !self.state.cache().directives.is_empty()
    }

    /// The file at a path, or those in the directory there.
    pub(super) fn files_at(&self, path: &str) -> Vec<Slot> {
        let Some(slot) = self.state.walk(path).ok().and_then(|located| located.last()) else {
            return Vec::new();
        };
        let is_file = |slot: &Slot| self.state.tree().get(*slot).as_file().is_some();
        match self.state.tree().get(slot).as_directory() {
            Some(directory) => directory.children.iter().filter(is_file).collect(),
            None => [slot].into_iter().filter(is_file).collect(),
        }
    }

    fn bytes_of(&self, slot: Slot, replication: u16) -> FileBytes {
        let mut bytes = FileBytes { needed: 0, cached: 0 };
        for (id, len) in self.complete_blocks(slot) {
            let held = self.state.blocks().held_count(id).min(usize::from(replication)) as i64;
            bytes.needed = bytes.needed.saturating_add(len.saturating_mul(i64::from(replication)));
            bytes.cached = bytes.cached.saturating_add(len.saturating_mul(held));
        }
        bytes
    }

    fn want(&self, slot: Slot, replication: u16, wanted: &mut HashMap<BlockId, u16>) {
        for (id, _) in self.complete_blocks(slot) {
            let count = wanted.entry(id).or_default();
            *count = (*count).max(replication);
        }
    }

    fn complete_blocks(&self, slot: Slot) -> impl Iterator<Item = (BlockId, i64)> {
        let file = self.state.tree().get(slot).as_file();
        let ids = file.into_iter().flat_map(|file| file.blocks.as_slice().iter().copied());
        let stored = ids.filter_map(|id| self.state.blocks().get(id));
        stored
            .filter(|stored| stored.state == BlockState::Complete)
            .map(|stored| (stored.block.id, stored.block.len as i64))
    }
}
