//! Centralized caching: what pools and directives need and have.

use zerohop_proto::hdfs::{
    CacheDirectiveEntryProto, CacheDirectiveStatsProto, CachePoolEntryProto, CachePoolStatsProto,
};
use zerohop_wire::{CacheDirective, CachePool};

/// What a pool's directives need and have. Bytes, but for the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachePoolStats {
    /// To be cached.
    pub bytes_needed: i64,
    /// Cached.
    pub bytes_cached: i64,
    /// Needed beyond the limit.
    pub bytes_over_limit: i64,
    /// Files to be cached.
    pub files_needed: i64,
    /// Files that are cached whole.
    pub files_cached: i64,
}

/// What a directive needs and has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheDirectiveStats {
    /// Bytes to be cached, all replicas together.
    pub bytes_needed: i64,
    /// Bytes that are.
    pub bytes_cached: i64,
    /// Files to be cached.
    pub files_needed: i64,
    /// Files that are cached whole.
    pub files_cached: i64,
    /// Its time is over.
    pub has_expired: bool,
}

impl From<CachePoolStatsProto> for CachePoolStats {
    fn from(proto: CachePoolStatsProto) -> Self {
        Self {
            bytes_needed: proto.bytes_needed,
            bytes_cached: proto.bytes_cached,
            bytes_over_limit: proto.bytes_overlimit,
            files_needed: proto.files_needed,
            files_cached: proto.files_cached,
        }
    }
}

impl From<CacheDirectiveStatsProto> for CacheDirectiveStats {
    fn from(proto: CacheDirectiveStatsProto) -> Self {
        Self {
            bytes_needed: proto.bytes_needed,
            bytes_cached: proto.bytes_cached,
            files_needed: proto.files_needed,
            files_cached: proto.files_cached,
            has_expired: proto.has_expired,
        }
    }
}

/// A pool with its statistics.
pub(crate) fn pool_entry(proto: CachePoolEntryProto) -> (CachePool, CachePoolStats) {
    (proto.info.into(), proto.stats.into())
}

/// A directive with its statistics.
pub(crate) fn directive_entry(
    proto: CacheDirectiveEntryProto,
) -> (CacheDirective, CacheDirectiveStats) {
    (proto.info.into(), proto.stats.into())
}
