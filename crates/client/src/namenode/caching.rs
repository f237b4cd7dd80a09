//! Calls about centralized caching.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use crate::types::cache::{directive_entry, pool_entry};
use crate::types::{CacheDirective, CacheDirectiveStats, CachePool, CachePoolStats};
use zerohop_proto::hdfs::*;

/// `CacheFlagProto.FORCE`: the pool's limit is not looked at.
const FORCE: u32 = 1;

fn flags(force: bool) -> Option<u32> {
    Some(if force { FORCE } else { 0 })
}

/// Centralized caching: what DataNodes keep in memory.
pub(crate) struct Caching(pub(super) NameNode);

impl Caching {
    pub(crate) async fn add_pool(&self, pool: &CachePool) -> Result<()> {
        let request = AddCachePoolRequestProto { info: pool.clone().into() };
        let _: AddCachePoolResponseProto = self.0.call("addCachePool", &request).await?;
        Ok(())
    }

    pub(crate) async fn modify_pool(&self, pool: &CachePool) -> Result<()> {
        let request = ModifyCachePoolRequestProto { info: pool.clone().into() };
        let _: ModifyCachePoolResponseProto = self.0.call("modifyCachePool", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_pool(&self, name: &str) -> Result<()> {
        let request = RemoveCachePoolRequestProto { pool_name: name.to_owned() };
        let _: RemoveCachePoolResponseProto = self.0.call("removeCachePool", &request).await?;
        Ok(())
    }

    /// All pools in order of name.
    pub(crate) async fn pools(&self) -> Result<Vec<(CachePool, CachePoolStats)>> {
        let mut all: Vec<(CachePool, CachePoolStats)> = Vec::new();
        loop {
            let after = all.last().map_or("", |(pool, _)| pool.name.as_str());
            let (page, has_more) = self.page_of_pools(after).await?;
            let is_end = page.is_empty() || !has_more;
            all.extend(page);
            if is_end {
                return Ok(all);
            }
        }
    }

    /// A page of the pools after a name; whether there are more.
    async fn page_of_pools(&self, after: &str) -> Result<(Vec<(CachePool, CachePoolStats)>, bool)> {
        let request = ListCachePoolsRequestProto { prev_pool_name: after.to_owned() };
        let page: ListCachePoolsResponseProto = self.0.call("listCachePools", &request).await?;
        Ok((page.entries.into_iter().map(pool_entry).collect(), page.has_more))
    }

    pub(crate) async fn add_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<i64> {
        let request = AddCacheDirectiveRequestProto {
            info: checked(directive)?.into(),
            cache_flags: flags(force),
        };
        let done: AddCacheDirectiveResponseProto =
            self.0.call("addCacheDirective", &request).await?;
        Ok(done.id)
    }

    pub(crate) async fn modify_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<()> {
        let request = ModifyCacheDirectiveRequestProto {
            info: checked(directive)?.into(),
            cache_flags: flags(force),
        };
        let _: ModifyCacheDirectiveResponseProto =
            self.0.call("modifyCacheDirective", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_directive(&self, id: i64) -> Result<()> {
        let request = RemoveCacheDirectiveRequestProto { id };
        let _: RemoveCacheDirectiveResponseProto =
            self.0.call("removeCacheDirective", &request).await?;
        Ok(())
    }

    /// A page of the directives after an id; whether there are more.
    async fn page_of_directives(
        &self,
        after: i64,
        filter: &CacheDirective,
    ) -> Result<(Vec<(CacheDirective, CacheDirectiveStats)>, bool)> {
        let request =
            ListCacheDirectivesRequestProto { prev_id: after, filter: filter.clone().into() };
        let page: ListCacheDirectivesResponseProto =
            self.0.call("listCacheDirectives", &request).await?;
        Ok((page.elements.into_iter().map(directive_entry).collect(), page.has_more))
    }

    /// The directives, in order of id, that agree with `filter`.
    pub(crate) async fn directives(
        &self,
        filter: &CacheDirective,
    ) -> Result<Vec<(CacheDirective, CacheDirectiveStats)>> {
        let filter = checked(filter)?;
        let mut all: Vec<(CacheDirective, CacheDirectiveStats)> = Vec::new();
        loop {
            let after = all.last().and_then(|(directive, _)| directive.id).unwrap_or(0);
            let (page, has_more) = self.page_of_directives(after, &filter).await?;
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
