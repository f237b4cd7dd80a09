//! Cache pools and directives in an image.

use crate::cache::Cache;
use crate::commit::ImageLoad;
use std::io;
use zerohop_journal::JournalError;
use zerohop_journal::image::{ImageWriter, SectionReader};
use zerohop_journal::types::CacheDirectiveRecord;
use zerohop_proto::hdfs::fsimage::CacheManagerSection;
use zerohop_proto::hdfs::{CacheDirectiveInfoProto, CachePoolInfoProto};
use zerohop_wire::{CacheDirective, CachePool};

/// Writes the section's messages.
pub(super) fn save_cache(cache: &Cache, out: &mut ImageWriter<'_>) -> io::Result<()> {
    let (next_id, pools, directives) = cache.save();
    out.message(&CacheManagerSection {
        next_directive_id: next_id as u64,
        num_pools: pools.len() as u32,
        num_directives: directives.len() as u32,
    })?;
    pools.into_iter().try_for_each(|pool| out.message(&CachePoolInfoProto::from(pool)))?;
    directives.into_iter().try_for_each(|directive| {
        out.message(&CacheDirectiveInfoProto::from(CacheDirective::from(directive)))
    })
}

/// Reads the section.
pub(super) fn load_cache(
    image: &mut ImageLoad<'_>,
    mut section: SectionReader,
) -> Result<(), JournalError> {
    let head: CacheManagerSection = section.expect()?;
    let pool = |message: CachePoolInfoProto| CachePool::from(message);
    let pools: Result<Vec<CachePool>, JournalError> =
        (0..head.num_pools).map(|_| section.expect().map(pool)).collect();
    let directive = |message: CacheDirectiveInfoProto| CacheDirective::from(message).into();
    let directives: Result<Vec<CacheDirectiveRecord>, JournalError> =
        (0..head.num_directives).map(|_| section.expect().map(directive)).collect();
    let loaded = image.put_cache(head.next_directive_id as i64, &pools?, &directives?);
    loaded.map_err(|error| section.bad(error.to_string()))
}
