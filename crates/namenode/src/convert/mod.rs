//! Between the namespace's plain data and Hadoop's messages.

mod acl;
mod block;
mod cache;
mod datanode;
mod status;
mod summary;
mod upgrade;

pub(crate) use acl::{acl_entries, acl_status};
pub(crate) use block::{located_block, located_blocks};
pub(crate) use cache::{cache_directive, cache_directive_entry, cache_pool_entry};
pub(crate) use datanode::{
    datanode_id, datanode_info, slow_disk, slow_peer, storage_report, storage_report_proto,
    storage_type,
};
pub(crate) use status::{appended, directory_listing, file_status, mode};
pub(crate) use summary::{content_summary, quota_usage, storage_policy};
pub(crate) use upgrade::{rolling_upgrade, rolling_upgrade_status};
