//! Cache pools and directives.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_proto::hdfs::{
    AddCacheDirectiveRequestProto, AddCacheDirectiveResponseProto, AddCachePoolRequestProto,
    AddCachePoolResponseProto, ListCacheDirectivesRequestProto, ListCacheDirectivesResponseProto,
    ListCachePoolsRequestProto, ListCachePoolsResponseProto, ModifyCacheDirectiveRequestProto,
    ModifyCacheDirectiveResponseProto, ModifyCachePoolRequestProto, ModifyCachePoolResponseProto,
    RemoveCacheDirectiveRequestProto, RemoveCacheDirectiveResponseProto,
    RemoveCachePoolRequestProto, RemoveCachePoolResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) fn add_directive(call: Call<'_>) -> Reply {
    call.write_once(
        |_: &AddCacheDirectiveRequestProto| Line::of("addCacheDirective"),
        |namespace, op, q| {
            let request = convert::cache_directive(&q.info, q.cache_flags);
            let id = namespace.add_cache_directive(op, &request)?;
            Ok(AddCacheDirectiveResponseProto { id })
        },
    )
}

pub(super) fn modify_directive(call: Call<'_>) -> Reply {
    call.write_once(
        |_: &ModifyCacheDirectiveRequestProto| Line::of("modifyCacheDirective"),
        |namespace, op, q| {
            let request = convert::cache_directive(&q.info, q.cache_flags);
            namespace.modify_cache_directive(op, &request)?;
            Ok(ModifyCacheDirectiveResponseProto {})
        },
    )
}

pub(super) fn remove_directive(call: Call<'_>) -> Reply {
    call.write_once(
        |_: &RemoveCacheDirectiveRequestProto| Line::of("removeCacheDirective"),
        |namespace, op, q| {
            namespace.remove_cache_directive(op, q.id)?;
            Ok(RemoveCacheDirectiveResponseProto {})
        },
    )
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

pub(super) fn add_pool(call: Call<'_>) -> Reply {
    call.write_once(
        |_: &AddCachePoolRequestProto| Line::of("addCachePool"),
        |namespace, op, q| {
            namespace.add_cache_pool(op, convert::cache_pool(&q.info))?;
            Ok(AddCachePoolResponseProto {})
        },
    )
}

pub(super) fn modify_pool(call: Call<'_>) -> Reply {
    call.write_once(
        |_: &ModifyCachePoolRequestProto| Line::of("modifyCachePool"),
        |namespace, op, q| {
            namespace.modify_cache_pool(op, convert::cache_pool(&q.info))?;
            Ok(ModifyCachePoolResponseProto {})
        },
    )
}

pub(super) fn remove_pool(call: Call<'_>) -> Reply {
    call.write_once(
        |_: &RemoveCachePoolRequestProto| Line::of("removeCachePool"),
        |namespace, op, q| {
            namespace.remove_cache_pool(op, &q.pool_name)?;
            Ok(RemoveCachePoolResponseProto {})
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
