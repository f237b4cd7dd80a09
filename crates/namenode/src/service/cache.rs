//! Cache pools and directives.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use crate::core::Core;
use crate::ha::OperationCategory as Category;
use crate::monitor::CACHE_SCAN_MAX;
use crate::retry::Remember;
use zerohop_namespace::{
    CacheDirectiveEntry, CacheDirectiveRequest, CachePoolEntry, Namespace, OpContext, Result,
};
use zerohop_wire::{CacheDirective, CachePool};

/// Cache pools and directives.
pub(crate) struct Caching<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Caching<'_> {
    /// Adds a directive; gives its id.
    pub(crate) fn add_cache_directive(&self, request: CacheDirectiveRequest) -> Answer<i64> {
        change_after_scan(self.call, "addCacheDirective", move |namespace, op| {
            namespace.cache_manager(op).add_cache_directive(&request)
        })
    }

    pub(crate) fn modify_cache_directive(&self, request: CacheDirectiveRequest) -> Answer<()> {
        change_after_scan(self.call, "modifyCacheDirective", move |namespace, op| {
            namespace.cache_manager(op).modify_cache_directive(&request)
        })
    }

    pub(crate) fn remove_cache_directive(&self, id: i64) -> Answer<()> {
        self.call.change_once(Line::of("removeCacheDirective"), |namespace, op| {
            namespace.cache_manager(op).remove_cache_directive(id)
        })
    }

    pub(crate) fn add_cache_pool(&self, pool: CachePool) -> Answer<()> {
        self.call.change_once(Line::of("addCachePool"), |namespace, op| {
            namespace.cache_manager(op).add_cache_pool(pool)
        })
    }

    pub(crate) fn modify_cache_pool(&self, pool: CachePool) -> Answer<()> {
        self.call.change_once(Line::of("modifyCachePool"), |namespace, op| {
            namespace.cache_manager(op).modify_cache_pool(pool)
        })
    }

    pub(crate) fn remove_cache_pool(&self, name: &str) -> Answer<()> {
        self.call.change_once(Line::of("removeCachePool"), |namespace, op| {
            namespace.cache_manager(op).remove_cache_pool(name)
        })
    }

    /// A page of the directives after an id, and whether there are more.
    pub(crate) fn cache_directives(
        &self,
        after: i64,
        filter: CacheDirective,
    ) -> Answer<(Vec<CacheDirectiveEntry>, bool)> {
        read_after_scan(self.call, "listCacheDirectives", move |namespace, op| {
            namespace.cache_listing(op).directives(after, &filter)
        })
    }

    /// A page of the pools after a name, and whether there are more.
    pub(crate) fn cache_pools(&self, after: &str) -> Answer<(Vec<CachePoolEntry>, bool)> {
        let after = after.to_owned();
        read_after_scan(self.call, "listCachePools", move |namespace, op| {
            Ok(namespace.cache_listing(op).pools(&after))
        })
    }
}

fn read_after_scan<R: Send + 'static>(
    call: &ServiceCall<'_>,
    command: &'static str,
    look: impl FnOnce(&Namespace, &OpContext) -> Result<R> + Send + 'static,
) -> Answer<R> {
    after_scan(call, move |call| call.read(Line::of(command), look))
}

fn change_after_scan<R: Remember + Send + 'static>(
    call: &ServiceCall<'_>,
    command: &'static str,
    change: impl FnOnce(&mut Namespace, &OpContext) -> Result<R> + Send + 'static,
) -> Answer<R> {
    after_scan(call, move |call| call.change_once(Line::of(command), change))
}

/// Makes a call when a scan knows of all pools and directives that there are now (`CacheManager.waitForRescanIfNeeded`).
/// Others get the lock between two slices of it.
fn after_scan<R: Send + 'static>(
    call: &ServiceCall<'_>,
    work: impl FnOnce(&ServiceCall<'_>) -> Answer<R> + Send + 'static,
) -> Answer<R> {
    // One that may not answer refuses the call, and scans nothing.
    let may_answer = |core: &Core| core.ha.check(Category::Read).is_ok();
    let changes = call.core.read(Namespace::cache_changes);
    let Some(changes) = changes.filter(|_| may_answer(call.core)) else { return work(call) };
    let (core, caller) = (call.core.clone(), call.caller.clone());
    Answer::later(async move {
        let now = core.clock.now();
        let scan = |namespace: &mut Namespace| {
            may_answer(&core)
                && namespace.cache_scanner().scan_changes(changes, now, CACHE_SCAN_MAX)
        };
        while core.write(scan).0 {
            tokio::task::yield_now().await;
        }
        work(&ServiceCall::new(&core, caller)).outcome().await
    })
}
