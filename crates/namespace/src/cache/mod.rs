//! The centralized cache: pools, and directives that name the paths to be cached in the memory of DataNodes
//! (`CacheManager`).

mod listing;
mod ops;
mod scan;
#[cfg(test)]
mod scan_test;
mod scanner;

pub use listing::CacheListing;
pub use ops::CacheManager;
pub(crate) use scan::CacheScan;
pub use scanner::CacheScanner;

use crate::Result;
use crate::access::{Action, PermissionChecker};
use crate::answers::{CacheDirectiveEntry, CachePoolEntry, CacheStats};
use crate::error::{CacheError, Error, refuse};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use zerohop_journal::EditOp;
use zerohop_journal::types::CacheDirectiveRecord;
use zerohop_wire::{CacheExpiry, CachePool};

const MODE_DEFAULT: u16 = 0o755;

/// All pools and directives.
pub(crate) struct Cache {
    next_id: i64,
    pools: BTreeMap<String, Pool>,
    directives: BTreeMap<i64, Directive>,
    /// The number of changes, and how many of them came before the last complete scan of the paths began.
    changes: u64,
    scanned: u64,
}

struct Pool {
    owner: String,
    group: String,
    mode: u16,
    limit: i64,
    max_expiry_ms: i64,
    replication: i16,
    stats: CacheStats,
}

struct Directive {
    path: String,
    replication: i16,
    pool: String,
    /// Ms since the epoch.
    expiry_ms: i64,
    /// The number of the last change of this directive.
    change: u64,
    stats: CacheStats,
}

impl Default for Cache {
    fn default() -> Self {
        let (pools, directives) = (BTreeMap::new(), BTreeMap::new());
        Self { next_id: 1, pools, directives, changes: 0, scanned: 0 }
    }
}

/// The figures of a scan of the directives' paths, zero for pools and directives without an entry.
#[derive(Default)]
pub(crate) struct CacheCounts {
    pools: HashMap<String, CacheStats>,
    directives: HashMap<i64, CacheStats>,
}

impl Pool {
    /// A new pool; attributes that are not given take their defaults.
    fn of(given: &CachePool) -> Self {
        let mut pool = Self {
            owner: String::new(),
            group: String::new(),
            mode: MODE_DEFAULT,
            limit: CachePool::UNLIMITED,
            max_expiry_ms: CacheExpiry::NEVER_MS,
            replication: 1,
            stats: CacheStats::default(),
        };
        pool.change(given);
        pool
    }

    fn change(&mut self, given: &CachePool) {
        if let Some(owner) = &given.owner {
            self.owner.clone_from(owner);
        }
        if let Some(group) = &given.group {
            self.group.clone_from(group);
        }
        self.mode = given.mode.unwrap_or(self.mode);
        self.limit = given.limit.unwrap_or(self.limit);
        self.max_expiry_ms = given.max_relative_expiry_ms.unwrap_or(self.max_expiry_ms);
        self.replication = given.default_replication.unwrap_or(self.replication);
    }

    fn info(&self, name: &str) -> CachePool {
        CachePool::new(name)
            .owner(self.owner.clone())
            .group(self.group.clone())
            .mode(self.mode)
            .limit(self.limit)
            .max_relative_expiry_ms(self.max_expiry_ms)
            .default_replication(self.replication)
    }

    /// Whether the caller has an action on the pool.
    fn permits(&self, access: PermissionChecker<'_>, action: Action) -> bool {
        if access.skips_checks() {
            return true;
        }
        // Unlike for files, an owner who is in the group too has the permissions of both classes.
        let class = |shift: u16| (self.mode >> shift) as u8 & action == action;
        let (owns, in_group) =
            (*self.owner == **access.ctx.user(), access.ctx.in_group(&self.group));
        owns && class(6) || in_group && class(3) || !owns && !in_group && class(0)
    }

    fn entry(&self, name: &str) -> CachePoolEntry {
        let over = self.stats.bytes_needed.saturating_sub(self.limit).max(0);
        CachePoolEntry { info: self.info(name), stats: self.stats, bytes_over_limit: over }
    }
}

impl Directive {
    fn record(&self, id: i64) -> CacheDirectiveRecord {
        CacheDirectiveRecord {
            id,
            path: Some(self.path.clone()),
            replication: Some(self.replication),
            pool: Some(self.pool.clone()),
            expiration_ms: Some(self.expiry_ms),
        }
    }

    fn is_expired(&self, now_ms: i64) -> bool {
        self.expiry_ms > 0 && self.expiry_ms <= now_ms
    }

    fn entry(&self, id: i64, now_ms: i64) -> CacheDirectiveEntry {
        CacheDirectiveEntry {
            info: self.record(id).into(),
            stats: self.stats,
            has_expired: self.is_expired(now_ms),
        }
    }
}

impl Cache {
    /// Applies an edit.
    ///
    /// # Errors
    /// `Error::Cache` when it does not fit what is there.
    pub(crate) fn apply(&mut self, op: &EditOp) -> Result<()> {
        self.changes += 1;
        match op {
            EditOp::AddCachePool(op) => {
                self.pools.insert(op.pool.name.clone(), Pool::of(&op.pool));
                Ok(())
            }
            EditOp::ModifyCachePool(op) => {
                self.pool_mut(&op.pool.name)?.change(&op.pool);
                Ok(())
            }
            EditOp::RemoveCachePool(op) => {
                self.pools.remove(&op.name);
                self.directives.retain(|_, directive| directive.pool != op.name);
                Ok(())
            }
            EditOp::AddCacheDirective(op) => self.put(&op.directive),
            EditOp::ModifyCacheDirective(op) => {
                let known = self.directive(op.directive.id)?.record(op.directive.id);
                self.put(&merged(&op.directive, known))
            }
            EditOp::RemoveCacheDirective(op) => {
                self.directives.remove(&op.id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn put(&mut self, given: &CacheDirectiveRecord) -> Result<()> {
        let pool = given.pool.clone().unwrap_or_default();
        self.pool_mut(&pool)?;
        let directive = Directive {
            path: given.path.clone().unwrap_or_default(),
            replication: given.replication.unwrap_or(1),
            pool,
            expiry_ms: given.expiration_ms.unwrap_or(0),
            change: self.changes,
            stats: CacheStats::default(),
        };
        self.next_id = self.next_id.max(given.id.saturating_add(1));
        self.directives.insert(given.id, directive);
        Ok(())
    }

    fn pool(&self, name: &str) -> Result<&Pool> {
        self.pools.get(name).ok_or_else(|| unknown_pool(name))
    }

    fn pool_mut(&mut self, name: &str) -> Result<&mut Pool> {
        self.pools.get_mut(name).ok_or_else(|| unknown_pool(name))
    }

    fn directive(&self, id: i64) -> Result<&Directive> {
        if id <= 0 {
            return refuse(CacheError::NegativeId);
        }
        let found = self.directives.get(&id);
        found.ok_or_else(|| CacheError::NoSuchDirective { id }.into())
    }

    /// The number of changes of pools and directives, if no complete scan began after the last one.
    pub(crate) fn unscanned_changes(&self) -> Option<u64> {
        (self.scanned < self.changes).then_some(self.changes)
    }

    pub(crate) fn has_directives(&self) -> bool {
        !self.directives.is_empty()
    }

    /// Sets the figures of a complete scan that began after so many changes: no edit carries them. A directive that
    /// changed meanwhile waits for the next one.
    pub(crate) fn set_stats(&mut self, counted: CacheCounts, changes: u64) {
        self.scanned = changes;
        for (name, pool) in &mut self.pools {
            pool.stats = counted.pools.get(name).copied().unwrap_or_default();
        }
        for (id, directive) in &mut self.directives {
            if directive.change <= changes {
                directive.stats = counted.directives.get(id).copied().unwrap_or_default();
            }
        }
    }

    /// For an image: the next id, all pools, all directives.
    pub(crate) fn save(&self) -> (i64, Vec<CachePool>, Vec<CacheDirectiveRecord>) {
        let pools = self.pools.iter().map(|(name, pool)| pool.info(name)).collect();
        let directives = self.directives.iter().map(|(id, known)| known.record(*id)).collect();
        (self.next_id, pools, directives)
    }

    /// Loads the pools and directives of an image.
    ///
    /// # Errors
    /// `Error::Cache` for a directive without its pool.
    pub(crate) fn load(
        &mut self,
        next_id: i64,
        pools: &[CachePool],
        directives: &[CacheDirectiveRecord],
    ) -> Result<()> {
        self.changes += 1;
        self.pools.extend(pools.iter().map(|pool| (pool.name.clone(), Pool::of(pool))));
        directives.iter().try_for_each(|directive| self.put(directive))?;
        self.next_id = self.next_id.max(next_id);
        Ok(())
    }
}

fn unknown_pool(name: &str) -> Error {
    CacheError::UnknownPool { name: name.to_owned() }.into()
}

/// A directive with the given attributes changed.
fn merged(given: &CacheDirectiveRecord, known: CacheDirectiveRecord) -> CacheDirectiveRecord {
    CacheDirectiveRecord {
        id: known.id,
        path: given.path.clone().or(known.path),
        replication: given.replication.or(known.replication),
        pool: given.pool.clone().or(known.pool),
        expiration_ms: given.expiration_ms.or(known.expiration_ms),
    }
}
