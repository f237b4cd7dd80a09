//! Calls about centralized caching.

use super::proxy::NameNode;
use crate::error::Result;
use crate::types::cache::{directive_entry, pool_entry};
use crate::types::{CacheDirective, CacheDirectiveStats, CachePool, CachePoolStats};
use zerohop_proto::hdfs::*;

/// `CacheFlagProto.FORCE`: the pool's limit is not looked at.
const FORCE: u32 = 1;

fn flags(force: bool) -> Option<u32> {
    Some(if force { FORCE } else { 0 })
}

impl NameNode {
    pub(crate) async fn add_cache_pool(&self, pool: &CachePool) -> Result<()> {
        let request = AddCachePoolRequestProto { info: pool.clone().into() };
        let _: AddCachePoolResponseProto = self.call("addCachePool", &request).await?;
        Ok(())
    }

    pub(crate) async fn modify_cache_pool(&self, pool: &CachePool) -> Result<()> {
        let request = ModifyCachePoolRequestProto { info: pool.clone().into() };
        let _: ModifyCachePoolResponseProto = self.call("modifyCachePool", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_cache_pool(&self, name: &str) -> Result<()> {
        let request = RemoveCachePoolRequestProto { pool_name: name.to_owned() };
        let _: RemoveCachePoolResponseProto = self.call("removeCachePool", &request).await?;
        Ok(())
    }

    /// A page of the pools after a name; whether there are more.
    pub(crate) async fn cache_pools(
        &self,
        after: &str,
    ) -> Result<(Vec<(CachePool, CachePoolStats)>, bool)> {
        let request = ListCachePoolsRequestProto { prev_pool_name: after.to_owned() };
        let page: ListCachePoolsResponseProto = self.call("listCachePools", &request).await?;
        Ok((page.entries.into_iter().map(pool_entry).collect(), page.has_more))
    }

    pub(crate) async fn add_cache_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<i64> {
        let request = AddCacheDirectiveRequestProto {
            info: directive.clone().into(),
            cache_flags: flags(force),
        };
        let done: AddCacheDirectiveResponseProto = self.call("addCacheDirective", &request).await?;
        Ok(done.id)
    }

    pub(crate) async fn modify_cache_directive(
        &self,
        directive: &CacheDirective,
        force: bool,
    ) -> Result<()> {
        let request = ModifyCacheDirectiveRequestProto {
            info: directive.clone().into(),
            cache_flags: flags(force),
        };
        let _: ModifyCacheDirectiveResponseProto =
            self.call("modifyCacheDirective", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_cache_directive(&self, id: i64) -> Result<()> {
        let request = RemoveCacheDirectiveRequestProto { id };
        let _: RemoveCacheDirectiveResponseProto =
            self.call("removeCacheDirective", &request).await?;
        Ok(())
    }

    /// A page of the directives after an id; whether there are more.
    pub(crate) async fn cache_directives(
        &self,
        after: i64,
        filter: &CacheDirective,
    ) -> Result<(Vec<(CacheDirective, CacheDirectiveStats)>, bool)> {
        let request =
            ListCacheDirectivesRequestProto { prev_id: after, filter: filter.clone().into() };
        let page: ListCacheDirectivesResponseProto =
            self.call("listCacheDirectives", &request).await?;
        Ok((page.elements.into_iter().map(directive_entry).collect(), page.has_more))
    }
}
