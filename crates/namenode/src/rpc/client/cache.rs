//! Cache pools and directives.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::{Call, Outcome};
use zerohop_namespace::{Namespace, OpContext};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::{
    AddCacheDirectiveRequestProto, AddCacheDirectiveResponseProto, AddCachePoolRequestProto,
    AddCachePoolResponseProto, ListCacheDirectivesRequestProto, ListCacheDirectivesResponseProto,
    ListCachePoolsRequestProto, ListCachePoolsResponseProto, ModifyCacheDirectiveRequestProto,
    ModifyCacheDirectiveResponseProto, ModifyCachePoolRequestProto, ModifyCachePoolResponseProto,
    RemoveCacheDirectiveRequestProto, RemoveCacheDirectiveResponseProto,
    RemoveCachePoolRequestProto, RemoveCachePoolResponseProto,
};
use zerohop_transport::rpc::server::Reply;

/// A change that happens once, under its name in the audit log.
fn change<Q: Checked, R: prost::Message>(
    call: Call<'_>,
    name: &'static str,
    change: impl FnOnce(&mut Namespace, &OpContext, &Q) -> Outcome<R>,
) -> Reply {
    call.write_once(|_: &Q| Line::of(name), change)
}

pub(super) fn add_directive(call: Call<'_>) -> Reply {
    change(call, "addCacheDirective", |namespace, op, q: &AddCacheDirectiveRequestProto| {
        let request = convert::cache_directive(&q.info, q.cache_flags);
        let id = namespace.add_cache_directive(op, &request)?;
        Ok(AddCacheDirectiveResponseProto { id })
    })
}

pub(super) fn modify_directive(call: Call<'_>) -> Reply {
    change(call, "modifyCacheDirective", |namespace, op, q: &ModifyCacheDirectiveRequestProto| {
        let request = convert::cache_directive(&q.info, q.cache_flags);
        let done = namespace.modify_cache_directive(op, &request);
        done.map(|()| ModifyCacheDirectiveResponseProto {})
    })
}

pub(super) fn remove_directive(call: Call<'_>) -> Reply {
    change(call, "removeCacheDirective", |namespace, op, q: &RemoveCacheDirectiveRequestProto| {
        let done = namespace.remove_cache_directive(op, q.id);
        done.map(|()| RemoveCacheDirectiveResponseProto {})
    })
}

pub(super) fn add_pool(call: Call<'_>) -> Reply {
    change(call, "addCachePool", |namespace, op, q: &AddCachePoolRequestProto| {
        let done = namespace.add_cache_pool(op, convert::cache_pool(&q.info));
        done.map(|()| AddCachePoolResponseProto {})
    })
}

pub(super) fn modify_pool(call: Call<'_>) -> Reply {
    change(call, "modifyCachePool", |namespace, op, q: &ModifyCachePoolRequestProto| {
        let done = namespace.modify_cache_pool(op, convert::cache_pool(&q.info));
        done.map(|()| ModifyCachePoolResponseProto {})
    })
}

pub(super) fn remove_pool(call: Call<'_>) -> Reply {
    change(call, "removeCachePool", |namespace, op, q: &RemoveCachePoolRequestProto| {
        let done = namespace.remove_cache_pool(op, &q.pool_name);
        done.map(|()| RemoveCachePoolResponseProto {})
    })
}

pub(super) fn list_directives(call: Call<'_>) -> Reply {
    call.write(
        |_: &ListCacheDirectivesRequestProto| Line::of("listCacheDirectives"),
        |namespace, op, q| {
            let filter = convert::cache_filter(&q.filter);
            let (page, has_more) = namespace.list_cache_directives(op, q.prev_id, &filter)?;
            let elements = page.into_iter().map(convert::cache_directive_entry).collect();
            Ok(ListCacheDirectivesResponseProto { elements, has_more })
        },
    )
}

pub(super) fn list_pools(call: Call<'_>) -> Reply {
    call.write(
        |_: &ListCachePoolsRequestProto| Line::of("listCachePools"),
        |namespace, op, q| {
            let (page, has_more) = namespace.list_cache_pools(op, &q.prev_pool_name);
            let entries = page.into_iter().map(convert::cache_pool_entry).collect();
            Ok(ListCachePoolsResponseProto { entries, has_more })
        },
    )
}
