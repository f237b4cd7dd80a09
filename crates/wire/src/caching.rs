//! Centralized caching: pools, and the directives in them, as requests and answers have them.

use crate::setters;
use zerohop_proto::hdfs::{
    CacheDirectiveInfoExpirationProto, CacheDirectiveInfoProto, CachePoolInfoProto,
};

/// A pool of cache directives (`CachePoolInfo`). In a request, what is `None` gets its default, or
/// stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachePool {
    /// Its name.
    pub name: String,
    /// The owner's name.
    pub owner: Option<String>,
    /// The group's name.
    pub group: Option<String>,
    /// Permissions: read to see its directives, write to change them.
    pub mode: Option<u16>,
    /// Bytes that its directives may need in all; [`CachePool::UNLIMITED`] at most.
    pub limit: Option<i64>,
    /// The longest a directive may live, milliseconds; [`CacheExpiry::NEVER_MS`] at most.
    pub max_relative_expiry_ms: Option<i64>,
    /// Cached replicas of each block where a directive names no number.
    pub default_replication: Option<i16>,
}

impl CachePool {
    /// The limit of a pool that has none.
    pub const UNLIMITED: i64 = i64::MAX;

    /// A pool of which only the name is said.
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
        max_relative_expiry_ms: Option<i64>,
        default_replication: Option<i16>,
    }
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
    /// When it ends.
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
    /// Whether `ms` counts from now.
    pub is_relative: bool,
}

impl CacheExpiry {
    /// The longest time from now that is accepted; it stands for never
    /// (`Expiration.MAX_RELATIVE_EXPIRY_MS`).
    pub const NEVER_MS: i64 = i64::MAX / 4;
}

/// On the wire a count is unsigned; Java casts, so that -1 goes through.
fn count_to_wire(count: i16) -> u32 {
    i32::from(count) as u32
}

fn count_from_wire(count: u32) -> i16 {
    i16::try_from(count as i32).unwrap_or(i16::MAX)
}

impl From<CachePool> for CachePoolInfoProto {
    fn from(pool: CachePool) -> Self {
        Self {
            pool_name: Some(pool.name),
            owner_name: pool.owner,
            group_name: pool.group,
            mode: pool.mode.map(i32::from),
            limit: pool.limit,
            max_relative_expiry: pool.max_relative_expiry_ms,
            default_replication: pool.default_replication.map(count_to_wire),
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
            max_relative_expiry_ms: proto.max_relative_expiry,
            default_replication: proto.default_replication.map(count_from_wire),
        }
    }
}

impl From<CacheDirective> for CacheDirectiveInfoProto {
    fn from(directive: CacheDirective) -> Self {
        Self {
            id: directive.id,
            path: directive.path,
            replication: directive.replication.map(count_to_wire),
            pool: directive.pool,
            expiration: directive.expiry.map(|expiry| CacheDirectiveInfoExpirationProto {
                millis: expiry.ms,
                is_relative: expiry.is_relative,
            }),
        }
    }
}

impl From<CacheDirectiveInfoProto> for CacheDirective {
    fn from(proto: CacheDirectiveInfoProto) -> Self {
        let expiry = |expiration: CacheDirectiveInfoExpirationProto| CacheExpiry {
            ms: expiration.millis,
            is_relative: expiration.is_relative,
        };
        Self {
            id: proto.id,
            path: proto.path,
            replication: proto.replication.map(count_from_wire),
            pool: proto.pool,
            expiry: proto.expiration.map(expiry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_pools_and_directives_crosses_the_wire() {
        let pool = CachePool::new("hot").owner("alice".to_owned()).mode(0o750).limit(7);
        for pool in [CachePool::new("cold"), pool.default_replication(-1)] {
            assert_eq!(CachePool::from(CachePoolInfoProto::from(pool.clone())), pool);
        }
        let expiry = CacheExpiry { ms: 60_000, is_relative: true };
        let directive = CacheDirective::default().id(3).path("/d".to_owned()).expiry(expiry);
        for directive in [CacheDirective::default(), directive.replication(2)] {
            let proto = CacheDirectiveInfoProto::from(directive.clone());
            assert_eq!(CacheDirective::from(proto), directive);
        }
        // A short of -1, and what is no short.
        assert_eq!((count_to_wire(-1), count_from_wire(u32::MAX)), (u32::MAX, -1));
        assert_eq!(count_from_wire(1 << 20), i16::MAX);
    }
}
