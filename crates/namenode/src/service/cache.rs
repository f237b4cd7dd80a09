//! Cache pools and directives.

use super::{Answer, ClientService, change_as};
use crate::audit::Line;
use crate::ha::OperationCategory as Category;
use zerohop_journal::types::CachePool;
use zerohop_namespace::{
    CacheDirectiveEntry, CacheDirectiveFilter, CacheDirectiveRequest, CachePoolEntry,
};

impl ClientService<'_> {
    /// Adds a directive; gives its id.
    pub(crate) fn add_cache_directive(&self, request: &CacheDirectiveRequest) -> Answer<i64> {
        self.change_once(Line::of("addCacheDirective"), |namespace, op| {
            namespace.add_cache_directive(op, request)
        })
    }

    pub(crate) fn modify_cache_directive(&self, request: &CacheDirectiveRequest) -> Answer<()> {
        self.change_once(Line::of("modifyCacheDirective"), |namespace, op| {
            namespace.modify_cache_directive(op, request)
        })
    }

    pub(crate) fn remove_cache_directive(&self, id: i64) -> Answer<()> {
        self.change_once(Line::of("removeCacheDirective"), |namespace, op| {
            namespace.remove_cache_directive(op, id)
        })
    }

    pub(crate) fn add_cache_pool(&self, pool: CachePool) -> Answer<()> {
        self.change_once(Line::of("addCachePool"), |namespace, op| {
            namespace.add_cache_pool(op, pool)
        })
    }

    pub(crate) fn modify_cache_pool(&self, pool: CachePool) -> Answer<()> {
        self.change_once(Line::of("modifyCachePool"), |namespace, op| {
            namespace.modify_cache_pool(op, pool)
        })
    }

    pub(crate) fn remove_cache_pool(&self, name: &str) -> Answer<()> {
        self.change_once(Line::of("removeCachePool"), |namespace, op| {
            namespace.remove_cache_pool(op, name)
        })
    }

    /// A page of the directives after an id, and whether there are more.
    pub(crate) fn cache_directives(
        &self,
        after: i64,
        filter: &CacheDirectiveFilter,
    ) -> Answer<(Vec<CacheDirectiveEntry>, bool)> {
        change_as(self, Category::Read, Line::of("listCacheDirectives"), |namespace, op| {
            namespace.list_cache_directives(op, after, filter)
        })
    }

    /// A page of the pools after a name, and whether there are more.
    pub(crate) fn cache_pools(&self, after: &str) -> Answer<(Vec<CachePoolEntry>, bool)> {
        change_as(self, Category::Read, Line::of("listCachePools"), |namespace, op| {
            Ok(namespace.list_cache_pools(op, after))
        })
    }
}
