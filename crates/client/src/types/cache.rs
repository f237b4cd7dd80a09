//! Centralized caching: pools, and the directives in them.

use zerohop_proto::hdfs::{
    CacheDirectiveEntryProto, CacheDirectiveInfoExpirationProto, CacheDirectiveInfoProto,
    CacheDirectiveStatsProto, CachePoolEntryProto, CachePoolInfoProto, CachePoolStatsProto,
};

/// A pool of cache directives (`CachePoolInfo`). In a request, what is `None` gets its default, or
/// stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachePool {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner: Option<String>,
    /// Its group.
    pub group: Option<String>,
    /// Permissions: read to see its directives, write to change them.
    pub mode: Option<u16>,
    /// Bytes that its directives may need in all; [`CachePool::UNLIMITED`] at most.
    pub limit: Option<i64>,
    /// The longest a directive may live, milliseconds; [`CacheExpiry::NEVER_MS`] at most.
    pub max_ttl_ms: Option<i64>,
    /// Cached replicas of a directive that says nothing of them.
    pub default_replication: Option<i16>,
}

impl CachePool {
    /// A limit that is none.
    pub const UNLIMITED: i64 = i64::MAX;

    /// A pool of which a request says the name only.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

setters! {
    CachePool {
        owner: Option<String>,
        group: Option<String>,
        mode: Option<u16>,
        limit: Option<i64>,
        max_ttl_ms: Option<i64>,
        default_replication: Option<i16>,
    }
}

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

/// A path that is to be cached (`CacheDirectiveInfo`). In a request, what is `None` gets its
/// default, stays as it is, or is not filtered by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheDirective {
    /// Its number; positive.
    pub id: Option<i64>,
    /// A file, or a directory for the files in it.
    pub path: Option<String>,
    /// Cached replicas of each block.
    pub replication: Option<i16>,
    /// The name of its pool.
    pub pool: Option<String>,
    /// Until when.
    pub expiry: Option<CacheExpiry>,
}

setters! {
    CacheDirective {
        id: Option<i64>,
        path: Option<String>,
        replication: Option<i16>,
        pool: Option<String>,
        expiry: Option<CacheExpiry>,
    }
}

/// When a directive ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheExpiry {
    /// Milliseconds from now, or since 1970.
    pub ms: i64,
    /// From now.
    pub is_relative: bool,
}

impl CacheExpiry {
    /// The largest time from now that is accepted, and what stands for never
    /// (`Expiration.MAX_RELATIVE_EXPIRY_MS`).
    pub const NEVER_MS: i64 = i64::MAX / 4;
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

/// On the wire a count is unsigned; Java casts, so that -1 goes through.
fn to_wire(count: i16) -> u32 {
    i32::from(count) as u32
}

fn from_wire(count: u32) -> i16 {
    i16::try_from(count as i32).unwrap_or(i16::MAX)
}

impl From<&CachePool> for CachePoolInfoProto {
    fn from(pool: &CachePool) -> Self {
        Self {
            pool_name: Some(pool.name.clone()),
            owner_name: pool.owner.clone(),
            group_name: pool.group.clone(),
            mode: pool.mode.map(i32::from),
            limit: pool.limit,
            max_relative_expiry: pool.max_ttl_ms,
            default_replication: pool.default_replication.map(to_wire),
        }
    }
}

impl From<CachePoolInfoProto> for CachePool {
    fn from(proto: CachePoolInfoProto) -> Self {
        Self {
            name: proto.pool_name.unwrap_or_default(),
            owner: proto.owner_name,
            group: proto.group_name,
            mode: proto.mode.map(|mode| mode as u16),
            limit: proto.limit,
            max_ttl_ms: proto.max_relative_expiry,
            default_replication: proto.default_replication.map(from_wire),
        }
    }
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

impl From<&CacheDirective> for CacheDirectiveInfoProto {
    fn from(directive: &CacheDirective) -> Self {
        Self {
            id: directive.id,
            path: directive.path.clone(),
            replication: directive.replication.map(to_wire),
            pool: directive.pool.clone(),
            expiration: directive.expiry.map(|expiry| CacheDirectiveInfoExpirationProto {
                millis: expiry.ms,
                is_relative: expiry.is_relative,
            }),
        }
    }
}

impl From<CacheDirectiveInfoProto> for CacheDirective {
    fn from(proto: CacheDirectiveInfoProto) -> Self {
        Self {
            id: proto.id,
            path: proto.path,
            replication: proto.replication.map(from_wire),
            pool: proto.pool,
            expiry: proto
                .expiration
                .map(|at| CacheExpiry { ms: at.millis, is_relative: at.is_relative }),
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
