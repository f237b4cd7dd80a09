//! Cache pools and directives.

use zerohop_journal::types::{CacheDirective, CachePool};
use zerohop_namespace::{
    CacheDirectiveEntry, CacheDirectiveFilter, CacheDirectiveRequest, CacheExpiry, CachePoolEntry,
};
use zerohop_proto::hdfs::{
    CacheDirectiveEntryProto, CacheDirectiveInfoExpirationProto, CacheDirectiveInfoProto,
    CacheDirectiveStatsProto, CachePoolEntryProto, CachePoolInfoProto, CachePoolStatsProto,
};

/// `CacheFlagProto.FORCE`.
const FORCE: u32 = 1;

/// Java sends a short as it is: -1 arrives as the largest of these numbers.
fn count(count: u32) -> i16 {
    i16::try_from(count as i32).unwrap_or(i16::MAX)
}

pub(crate) fn cache_pool(info: &CachePoolInfoProto) -> CachePool {
    CachePool {
        name: info.pool_name.clone().unwrap_or_default(),
        owner: info.owner_name.clone(),
        group: info.group_name.clone(),
        mode: info.mode.map(|mode| mode as u16),
        limit: info.limit,
        max_relative_expiry_ms: info.max_relative_expiry,
        default_replication: info.default_replication.map(count),
    }
}

pub(crate) fn cache_directive(
    info: &CacheDirectiveInfoProto,
    flags: Option<u32>,
) -> CacheDirectiveRequest {
    CacheDirectiveRequest {
        directive: CacheDirective {
            id: info.id.unwrap_or(0),
            path: info.path.clone(),
            replication: info.replication.map(count),
            pool: info.pool.clone(),
            expiration_ms: None,
        },
        expiry: info
            .expiration
            .as_ref()
            .map(|at| CacheExpiry { ms: at.millis, is_relative: at.is_relative }),
        force: flags.unwrap_or(0) & FORCE != 0,
    }
}

pub(crate) fn cache_filter(info: &CacheDirectiveInfoProto) -> CacheDirectiveFilter {
    CacheDirectiveFilter {
        id: info.id,
        path: info.path.clone(),
        pool: info.pool.clone(),
        has_replication: info.replication.is_some(),
    }
}

pub(crate) fn cache_directive_entry(entry: CacheDirectiveEntry) -> CacheDirectiveEntryProto {
    let (info, stats) = (entry.info, entry.stats);
    CacheDirectiveEntryProto {
        info: CacheDirectiveInfoProto {
            id: Some(info.id),
            path: info.path,
            replication: info.replication.map(|count| count.max(0) as u32),
            pool: info.pool,
            expiration: info
                .expiration_ms
                .map(|millis| CacheDirectiveInfoExpirationProto { millis, is_relative: false }),
        },
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
    let (info, stats) = (entry.info, entry.stats);
    CachePoolEntryProto {
        info: CachePoolInfoProto {
            pool_name: Some(info.name),
            owner_name: info.owner,
            group_name: info.group,
            mode: info.mode.map(i32::from),
            limit: info.limit,
            max_relative_expiry: info.max_relative_expiry_ms,
            default_replication: info.default_replication.map(|count| count.max(0) as u32),
        },
        stats: CachePoolStatsProto {
            bytes_needed: stats.bytes_needed,
            bytes_cached: stats.bytes_cached,
            bytes_overlimit: entry.bytes_over_limit,
            files_needed: stats.files_needed,
            files_cached: stats.files_cached,
        },
    }
}
