//! Cache pools and directives.

use zerohop_namespace::{CacheDirectiveEntry, CacheDirectiveRequest, CachePoolEntry};
use zerohop_proto::hdfs::{
    CacheDirectiveEntryProto, CacheDirectiveInfoProto, CacheDirectiveStatsProto,
    CachePoolEntryProto, CachePoolStatsProto,
};

/// `CacheFlagProto.FORCE`.
const FORCE: u32 = 1;

pub(crate) fn cache_directive(
    info: CacheDirectiveInfoProto,
    flags: Option<u32>,
) -> CacheDirectiveRequest {
    CacheDirectiveRequest { directive: info.into(), force: flags.unwrap_or(0) & FORCE != 0 }
}

pub(crate) fn cache_directive_entry(entry: CacheDirectiveEntry) -> CacheDirectiveEntryProto {
    let stats = entry.stats;
    CacheDirectiveEntryProto {
        info: entry.info.into(),
        stats: CacheDirectiveStatsProto {
            bytes_needed: stats.bytes_needed,
            bytes_cached: stats.bytes_cached,
            files_needed: stats.files_needed,
            files_cached: stats.files_cached,
            has_expired: entry.has_expired,
        },
    }
}

pub(crate) fn cache_pool_entry(entry: CachePoolEntry) -> CachePoolEntryProto {
    let stats = entry.stats;
    CachePoolEntryProto {
        info: entry.info.into(),
        stats: CachePoolStatsProto {
            bytes_needed: stats.bytes_needed,
            bytes_cached: stats.bytes_cached,
            bytes_overlimit: entry.bytes_over_limit,
            files_needed: stats.files_needed,
            files_cached: stats.files_cached,
        },
    }
}
