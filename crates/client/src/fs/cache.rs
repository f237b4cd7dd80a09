//! Centralized caching: what DataNodes keep in memory, by pools and directives.

use super::FileSystem;
use crate::error::Result;
use crate::types::{CacheDirective, CacheDirectiveStats, CachePool, CachePoolStats};

impl FileSystem {
    /// Makes a pool.
    pub async fn add_cache_pool(&self, pool: &CachePool) -> Result<()> {
        self.client.calls.caching.add_pool(pool).await
    }

    /// Changes the pool of this name; fields that are `None` stay as they are.
    pub async fn modify_cache_pool(&self, pool: &CachePool) -> Result<()> {
        self.client.calls.caching.modify_pool(pool).await
    }

    /// Removes a pool and its directives.
    pub async fn remove_cache_pool(&self, name: &str) -> Result<()> {
        self.client.calls.caching.remove_pool(name).await
    }

    /// All pools in order of name. Pools that the caller may not read have a name only.
    pub async fn cache_pools(&self) -> Result<Vec<(CachePool, CachePoolStats)>> {
        self.client.calls.caching.pools().await
    }

    /// Makes a directive, which needs a path and a pool, and returns its id. With `force` it may exceed the
    /// pool's limit.
    pub async fn add_cache_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<i64> {
        self.client.calls.caching.add_directive(directive, force).await
    }

    /// Changes the directive with this id; fields that are `None` stay as they are.
    pub async fn modify_cache_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<()> {
        self.client.calls.caching.modify_directive(directive, force).await
    }

    /// Removes a directive.
    pub async fn remove_cache_directive(&self, id: i64) -> Result<()> {
        self.client.calls.caching.remove_directive(id).await
    }

    /// The directives, in order of id, that match the path, pool and id of `filter`, each if it is set.
    pub async fn cache_directives(
        &self,
        filter: &CacheDirective,
    ) -> Result<Vec<(CacheDirective, CacheDirectiveStats)>> {
        self.client.calls.caching.directives(filter).await
    }
}
