//! Cache pools and directives in an image.

use crate::cache::Cache;
use crate::commit::ImageLoad;
use std::io;
use zerohop_journal::JournalError;
use zerohop_journal::image::{ImageWriter, SectionReader};
use zerohop_journal::types::{CacheDirective, CachePool};
use zerohop_proto::hdfs::fsimage::CacheManagerSection;
use zerohop_proto::hdfs::{
    CacheDirectiveInfoExpirationProto, CacheDirectiveInfoProto, CachePoolInfoProto,
};

/// Writes the section's messages.
pub(super) fn save_cache(cache: &Cache, out: &mut ImageWriter<'_>) -> io::Result<()> {
    let (next_id, pools, directives) = cache.save();
    out.message(&CacheManagerSection {
        next_directive_id: next_id as u64,
        num_pools: pools.len() as u32,
        num_directives: directives.len() as u32,
    })?;
    pools.into_iter().try_for_each(|pool| out.message(&pool_message(pool)))?;
    directives.into_iter().try_for_each(|directive| out.message(&directive_message(directive)))
}

/// Reads the section.
pub(super) fn load_cache(
    image: &mut ImageLoad<'_>,
    mut section: SectionReader,
) -> Result<(), JournalError> {
    let head: CacheManagerSection = section.expect()?;
    let pools: Result<Vec<CachePool>, JournalError> =
        (0..head.num_pools).map(|_| section.expect().map(pool_of)).collect();
    let directives: Result<Vec<CacheDirective>, JournalError> =
        (0..head.num_directives).map(|_| section.expect().map(directive_of)).collect();
    let loaded = image.put_cache(head.next_directive_id as i64, &pools?, &directives?);
    loaded.map_err(|error| section.bad(error.to_string()))
}

fn pool_message(pool: CachePool) -> CachePoolInfoProto {
    CachePoolInfoProto {
        pool_name: Some(pool.name),
        owner_name: pool.owner,
        group_name: pool.group,
        mode: pool.mode.map(i32::from),
        limit: pool.limit,
        max_relative_expiry: pool.max_relative_expiry_ms,
        default_replication: pool.default_replication.map(|count| count.max(0) as u32),
    }
}

fn pool_of(message: CachePoolInfoProto) -> CachePool {
    CachePool {
        name: message.pool_name.unwrap_or_default(),
        owner: message.owner_name,
        group: message.group_name,
        mode: message.mode.map(|mode| mode as u16),
        limit: message.limit,
        max_relative_expiry_ms: message.max_relative_expiry,
        default_replication: message.default_replication.map(|count| count as i16),
    }
}

fn directive_message(directive: CacheDirective) -> CacheDirectiveInfoProto {
    let expiration = directive
        .expiration_ms
        .map(|millis| CacheDirectiveInfoExpirationProto { millis, is_relative: false });
    CacheDirectiveInfoProto {
        id: Some(directive.id),
        path: directive.path,
        replication: directive.replication.map(|count| count.max(0) as u32),
        pool: directive.pool,
        expiration,
    }
}

fn directive_of(message: CacheDirectiveInfoProto) -> CacheDirective {
    CacheDirective {
        id: message.id.unwrap_or_default(),
        path: message.path,
        replication: message.replication.map(|count| count as i16),
        pool: message.pool,
        expiration_ms: message.expiration.map(|expiration| expiration.millis),
    }
}
