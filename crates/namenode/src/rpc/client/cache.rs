//! Cache pools and directives.

use crate::convert;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_proto::hdfs::{
    AddCacheDirectiveRequestProto, AddCacheDirectiveResponseProto, AddCachePoolRequestProto,
    AddCachePoolResponseProto, ListCacheDirectivesRequestProto, ListCacheDirectivesResponseProto,
    ListCachePoolsRequestProto, ListCachePoolsResponseProto, ModifyCacheDirectiveRequestProto,
    ModifyCacheDirectiveResponseProto, ModifyCachePoolRequestProto, ModifyCachePoolResponseProto,
    RemoveCacheDirectiveRequestProto, RemoveCacheDirectiveResponseProto,
    RemoveCachePoolRequestProto, RemoveCachePoolResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) const METHODS: &[Method] = &[
    ("addCacheDirective", add_directive),
    ("modifyCacheDirective", modify_directive),
    ("removeCacheDirective", remove_directive),
    ("listCacheDirectives", list_directives),
    ("addCachePool", add_pool),
    ("modifyCachePool", modify_pool),
    ("removeCachePool", remove_pool),
    ("listCachePools", list_pools),
];

fn add_directive(call: Call<'_>) -> Reply {
    call.serve(|service, q: AddCacheDirectiveRequestProto| {
        service
            .caching()
            .add_cache_directive(convert::cache_directive(q.info, q.cache_flags))
            .map(|id| AddCacheDirectiveResponseProto { id })
    })
}

fn modify_directive(call: Call<'_>) -> Reply {
    call.serve(|service, q: ModifyCacheDirectiveRequestProto| {
        service
            .caching()
            .modify_cache_directive(convert::cache_directive(q.info, q.cache_flags))
            .map(|()| ModifyCacheDirectiveResponseProto {})
    })
}

fn remove_directive(call: Call<'_>) -> Reply {
    call.serve(|service, q: RemoveCacheDirectiveRequestProto| {
        service
            .caching()
            .remove_cache_directive(q.id)
            .map(|()| RemoveCacheDirectiveResponseProto {})
    })
}

fn list_directives(call: Call<'_>) -> Reply {
    call.serve(|service, q: ListCacheDirectivesRequestProto| {
        let page = service.caching().cache_directives(q.prev_id, q.filter.into());
        page.map(|(page, has_more)| ListCacheDirectivesResponseProto {
            elements: page.into_iter().map(convert::cache_directive_entry).collect(),
            has_more,
        })
    })
}

fn add_pool(call: Call<'_>) -> Reply {
    call.serve(|service, q: AddCachePoolRequestProto| {
        service.caching().add_cache_pool(q.info.into()).map(|()| AddCachePoolResponseProto {})
    })
}

fn modify_pool(call: Call<'_>) -> Reply {
    call.serve(|service, q: ModifyCachePoolRequestProto| {
        service.caching().modify_cache_pool(q.info.into()).map(|()| ModifyCachePoolResponseProto {})
    })
}

fn remove_pool(call: Call<'_>) -> Reply {
    call.serve(|service, q: RemoveCachePoolRequestProto| {
        service.caching().remove_cache_pool(&q.pool_name).map(|()| RemoveCachePoolResponseProto {})
    })
}

fn list_pools(call: Call<'_>) -> Reply {
    call.serve(|service, q: ListCachePoolsRequestProto| {
        let page = service.caching().cache_pools(&q.prev_pool_name);
        page.map(|(page, has_more)| ListCachePoolsResponseProto {
            entries: page.into_iter().map(convert::cache_pool_entry).collect(),
            has_more,
        })
    })
}
