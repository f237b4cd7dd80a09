//! Which blocks the directives cache, and how many bytes that is: a scan over the files of all directives, in slices,
//! between which the namespace's lock is released. The result takes effect when the scan is complete.

use super::CacheCounts;
use crate::answers::CacheStats;
use crate::blocks::{BlockState, CachePlan, Now};
use crate::commit::DurableState;
use crate::tree::Slot;
use compact_str::CompactString;
use std::collections::BTreeMap;
use zerohop_wire::BlockId;

/// A scan in progress.
pub(crate) struct CacheScan {
    now_ms: i64,
    /// The changes of pools and directives before it began.
    changes: u64,
    /// The directive it is at, and the file of its directory that was counted last.
    at: (i64, CompactString),
    counted: CacheCounts,
    /// How many DataNodes have to cache a block.
    wanted: BTreeMap<BlockId, u16>,
    /// After the last directive: the choice of these DataNodes.
    plan: Option<CachePlan>,
}

/// How many bytes of one file have to be cached, and are.
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

impl CacheScan {
    pub(super) fn new(state: &DurableState, now: Now) -> Self {
        Self {
            now_ms: now.wall_ms as i64,
            changes: state.cache().changes,
            at: (i64::MIN, CompactString::const_new("")),
            counted: CacheCounts::default(),
            wanted: BTreeMap::new(),
            plan: None,
        }
    }

    /// Publishes the figures.
    pub(super) fn finish(self, state: &mut DurableState) {
        state.set_cache_stats(self.counted, self.changes);
    }

    /// The file of the directory that was counted last.
    #[cfg(test)]
    pub(super) fn file(&self) -> &str {
        &self.at.1
    }

    /// Looks at up to `max` directives, files and blocks; true if there are more.
    pub(super) fn advance(&mut self, state: &mut DurableState, max: usize) -> bool {
        let mut left = max;
        if let Some(plan) = &mut self.plan {
            return state.blocks_mut().advance_plan(plan, left);
        }
        while left > 0 {
            if !self.count_next(state, &mut left) {
                let wanted = std::mem::take(&mut self.wanted);
                self.plan = Some(state.blocks().plan_caches(wanted));
                break;
            }
        }
        true
    }

    /// Counts files of the next directive; false after the last one.
    fn count_next(&mut self, state: &DurableState, left: &mut usize) -> bool {
        let cache = state.cache();
        let Some((id, directive)) = cache.directives.range(self.at.0..).next() else {
            return false;
        };
        if *id != self.at.0 {
            self.at = (*id, CompactString::const_new(""));
        }
        *left = left.saturating_sub(1);
        let is_whole = match cache.pools.get(&directive.pool) {
            Some(pool) if !directive.is_expired(self.now_ms) => {
                self.counted.pools.entry(directive.pool.clone()).or_default();
                self.counted.directives.entry(*id).or_default();
                self.count_files(state, &directive.path, left, |scan, slot| {
                    let replication = directive.replication.max(1) as u16;
                    scan.count_file(state, slot, (*id, &directive.pool), pool.limit, replication);
                })
            }
            _ => true,
        };
        if is_whole {
            self.at = (id.saturating_add(1), CompactString::const_new(""));
        }
        *id < i64::MAX || !is_whole
    }

    /// Counts the file at a path, or more files of the directory there; true after the last one.
    fn count_files(
        &mut self,
        state: &DurableState,
        path: &str,
        left: &mut usize,
        count: impl Fn(&mut Self, Slot),
    ) -> bool {
        let tree = state.tree();
        let Some(slot) = state.paths().walk(path).ok().and_then(|located| located.last()) else {
            return true;
        };
        let Some(directory) = tree.get(slot).as_directory() else {
            count(self, slot);
            return true;
        };
        let after = std::mem::take(&mut self.at.1);
        let (children, _) = tree.children_after(directory, after.as_bytes());
        for child in children {
            let blocks = tree.get(child).as_file().map(|file| file.blocks.as_slice().len());
            if blocks.is_some() {
                count(self, child);
            }
            *left = left.saturating_sub(1 + blocks.unwrap_or(0));
            if *left == 0 {
                self.at.1 = tree.name(child).into();
                return false;
            }
        }
        true
    }

    fn count_file(
        &mut self,
        state: &DurableState,
        slot: Slot,
        (id, pool): (i64, &str),
        limit: i64,
        replication: u16,
    ) {
        if state.tree().get(slot).as_file().is_none() {
            return;
        }
        let mut bytes = bytes_of(state, slot, replication);
        let (Some(pool), Some(directive)) =
            (self.counted.pools.get_mut(pool), self.counted.directives.get_mut(&id))
        else {
            return;
        };
        if pool.bytes_needed.saturating_add(bytes.needed) > limit {
            bytes.cached = 0;
        } else {
            for (block, _) in complete_blocks(state, slot) {
                let count = self.wanted.entry(block).or_default();
                *count = (*count).max(replication);
            }
        }
        bytes.add_to(directive);
        bytes.add_to(pool);
    }
}

fn bytes_of(state: &DurableState, slot: Slot, replication: u16) -> FileBytes {
    let mut bytes = FileBytes { needed: 0, cached: 0 };
    for (id, len) in complete_blocks(state, slot) {
        let held = state.blocks().lookup().held_count(id).min(usize::from(replication)) as i64;
        bytes.needed = bytes.needed.saturating_add(len.saturating_mul(i64::from(replication)));
        bytes.cached = bytes.cached.saturating_add(len.saturating_mul(held));
    }
    bytes
}

fn complete_blocks(state: &DurableState, slot: Slot) -> impl Iterator<Item = (BlockId, i64)> {
    let file = state.tree().get(slot).as_file();
    let ids = file.into_iter().flat_map(|file| file.blocks.as_slice().iter().copied());
    let stored = ids.filter_map(|id| state.blocks().get(id));
    stored
        .filter(|stored| stored.state == BlockState::Complete)
        .map(|stored| (stored.block.id, stored.block.len as i64))
}
