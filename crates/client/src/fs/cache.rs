//! Centralized caching: what DataNodes keep in memory, by pools and directives.

use super::FileSystem;
use crate::error::Result;
use crate::namenode::wire_path;
use crate::types::{CacheDirective, CacheDirectiveStats, CachePool, CachePoolStats};

impl FileSystem {
    /// Makes a pool.
    pub async fn add_cache_pool(&self, pool: &CachePool) -> Result<()> {
        self.client.namenode.add_cache_pool(pool).await
    }

    /// Changes what `pool` says of the pool of its name.
    pub async fn modify_cache_pool(&self, pool: &CachePool) -> Result<()> {
        self.client.namenode.modify_cache_pool(pool).await
    }

    /// Removes a pool and its directives.
    pub async fn remove_cache_pool(&self, name: &str) -> Result<()> {
        self.client.namenode.remove_cache_pool(name).await
    }

    /// All pools in order of name. Pools that the caller may not read have a name only.
    pub async fn cache_pools(&self) -> Result<Vec<(CachePool, CachePoolStats)>> {
        let mut all: Vec<(CachePool, CachePoolStats)> = Vec::new();
        loop {
            let after = all.last().map_or("", |(pool, _)| pool.name.as_str());
            let (page, has_more) = self.client.namenode.cache_pools(after).await?;
            let is_end = page.is_empty() || !has_more;
            all.extend(page);
            if is_end {
                return Ok(all);
            }
        }
    }

    /// Makes a directive, which needs a path and a pool, and tells its id; `force`: even beyond the
    /// pool's limit.
    pub async fn add_cache_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<i64> {
        self.client.namenode.add_cache_directive(&checked(directive)?, force).await
    }

    /// Changes what `directive` says of the directive of its id.
    pub async fn modify_cache_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<()> {
        self.client.namenode.modify_cache_directive(&checked(directive)?, force).await
    }

    /// Removes a directive.
    pub async fn remove_cache_directive(&self, id: i64) -> Result<()> {
        self.client.namenode.remove_cache_directive(id).await
    }

    /// The directives, in order of id, that agree with `filter` in what it says: of path, pool or id.
    pub async fn cache_directives(
        &self,
        filter: &CacheDirective,
    ) -> Result<Vec<(CacheDirective, CacheDirectiveStats)>> {
        let filter = checked(filter)?;
        let mut all: Vec<(CacheDirective, CacheDirectiveStats)> = Vec::new();
        loop {
            let after = all.last().and_then(|(directive, _)| directive.id).unwrap_or(0);
            let (page, has_more) = self.client.namenode.cache_directives(after, &filter).await?;
            let is_end = page.is_empty() || !has_more;
            all.extend(page);
            if is_end {
                return Ok(all);
            }
        }
    }
}

fn checked(directive: &CacheDirective) -> Result<CacheDirective> {
    let path = directive.path.as_deref().map(wire_path).transpose()?;
    Ok(directive.clone().path(path))
}
