//! Listings of pools and directives, in pages.

use super::Cache;
use super::ops::check_path;
use crate::Result;
use crate::access::{PermissionChecker, READ};
use crate::answers::{CacheDirectiveEntry, CachePoolEntry};
use crate::error::{CacheError, refuse};
use zerohop_wire::{CacheDirective, CachePool};

/// The pools and directives that one caller may see.
#[derive(Clone, Copy)]
pub struct CacheListing<'n> {
    pub(crate) cache: &'n Cache,
    pub(crate) access: PermissionChecker<'n>,
}

impl CacheListing<'_> {
    /// A page of the directives after an id, of pools the caller may read, and whether there are more.
    ///
    /// # Errors
    /// As Hadoop's `listCacheDirectives`.
    pub fn directives(
        self,
        after: i64,
        filter: &CacheDirective,
    ) -> Result<(Vec<CacheDirectiveEntry>, bool)> {
        if let Some(path) = &filter.path {
            check_path(path)?;
        }
        if filter.replication.is_some() {
            return refuse(CacheError::FilterByReplication);
        }
        if let Some(id) = filter.id.filter(|id| !self.cache.directives.contains_key(id)) {
            return refuse(CacheError::FilteredId { id });
        }
        let now_ms = self.access.ctx.now.wall_ms as i64;
        let from = filter.id.unwrap_or(after.saturating_add(1));
        let mut page = Vec::new();
        for (id, directive) in self.cache.directives.range(from..) {
            if filter.id.is_some_and(|wanted| wanted != *id) {
                break;
            }
            let fits = filter.pool.as_ref().is_none_or(|pool| *pool == directive.pool)
                && filter.path.as_ref().is_none_or(|path| *path == directive.path);
            let pool = self.cache.pools.get(&directive.pool);
            if !fits || !pool.is_some_and(|pool| pool.permits(self.access, READ)) {
                continue;
            }
            if page.len() >= self.access.params.cache_directives_batch {
                return Ok((page, true));
            }
            page.push(directive.entry(*id, now_ms));
        }
        Ok((page, false))
    }

    /// A page of the pools after a name (only the names of those that the caller may not read), and whether
    /// there are more.
    pub fn pools(self, after: &str) -> (Vec<CachePoolEntry>, bool) {
        let mut rest = self.cache.pools.iter().filter(|(name, _)| name.as_str() > after);
        let page = rest.by_ref().take(self.access.params.cache_pools_batch).map(|(name, pool)| {
            if pool.permits(self.access, READ) {
                return pool.entry(name);
            }
            CachePoolEntry { info: CachePool::new(name), ..CachePoolEntry::default() }
        });
        let page: Vec<_> = page.collect();
        let has_more = rest.next().is_some();
        (page, has_more)
    }
}
