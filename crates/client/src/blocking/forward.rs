//! The calls that differ from the async ones only in that they wait.

use super::FileSystem;
use crate::error::Result;
use crate::types::*;
use bytes::Bytes;

macro_rules! forward {
    ($( $name:ident ( $($arg:ident : $kind:ty),* ) -> $result:ty; )*) => {
        impl FileSystem {
            $(
                #[doc = concat!("See [`FileSystem::", stringify!($name), "`](crate::FileSystem::", stringify!($name), ").")]
                pub fn $name(&self, $($arg: $kind),*) -> Result<$result> {
                    self.inner.client.wait(self.inner.$name($($arg),*))
                }
            )*
        }
    };
}

forward! {
    status(path: &str) -> FileStatus;
    located_status(path: &str) -> FileStatus;
    link_status(path: &str) -> FileStatus;
    exists(path: &str) -> bool;
    list(path: &str) -> Vec<FileStatus>;
    located_list(path: &str) -> Vec<FileStatus>;
    block_locations(path: &str, offset: u64, length: u64) -> LocatedBlocks;
    mkdirs(path: &str) -> bool;
    mkdirs_with(path: &str, permission: u16, create_parent: bool) -> bool;
    mkdirs_masked(path: &str, masked: u16, unmasked: u16, create_parent: bool) -> bool;
    delete(path: &str, recursive: bool) -> bool;
    rename(from: &str, to: &str) -> bool;
    rename2(from: &str, to: &str, options: RenameOptions) -> ();
    truncate(path: &str, len: u64) -> bool;
    concat(target: &str, sources: &[impl AsRef<str>]) -> ();
    recover_lease(path: &str) -> bool;
    is_file_closed(path: &str) -> bool;
    create_symlink(target: &str, link: &str, create_parent: bool) -> ();
    link_target(path: &str) -> Option<String>;
    create_snapshot(path: &str, name: Option<&str>) -> String;
    delete_snapshot(path: &str, name: &str) -> ();
    rename_snapshot(path: &str, from: &str, to: &str) -> ();
    allow_snapshot(path: &str, allow: bool) -> ();
    snapshottable_directories() -> Option<Vec<SnapshottableDirectory>>;
    snapshots(path: &str) -> Option<Vec<Snapshot>>;
    snapshot_diff(path: &str, from: &str, to: &str) -> SnapshotDiff;
    snapshot_diff_page(path: &str, from: &str, to: &str, start: SnapshotDiffCursor) -> SnapshotDiffPage;
    set_permission(path: &str, permission: u16) -> ();
    set_owner(path: &str, owner: Option<&str>, group: Option<&str>) -> ();
    set_times(path: &str, modified_ms: Option<u64>, accessed_ms: Option<u64>) -> ();
    set_replication(path: &str, replication: u16) -> bool;
    access(path: &str, mode: u8) -> ();
    acl_status(path: &str) -> AclStatus;
    set_acl(path: &str, entries: &[AclEntry]) -> ();
    modify_acl(path: &str, entries: &[AclEntry]) -> ();
    remove_acl_entries(path: &str, entries: &[AclEntry]) -> ();
    remove_default_acl(path: &str) -> ();
    remove_acl(path: &str) -> ();
    xattrs(path: &str) -> Vec<XAttr>;
    xattr(path: &str, name: &str) -> Option<Bytes>;
    list_xattrs(path: &str) -> Vec<String>;
    set_xattr(path: &str, name: &str, value: &[u8], flags: XAttrFlags) -> ();
    remove_xattr(path: &str, name: &str) -> ();
    content_summary(path: &str) -> ContentSummary;
    quota_usage(path: &str) -> QuotaUsage;
    set_quota(path: &str, names: Option<Option<u64>>, space: Option<Option<u64>>) -> ();
    set_type_quota(path: &str, storage_type: StorageType, space: Option<u64>) -> ();
    fs_stats() -> FsStats;
    is_active() -> bool;
    server_defaults() -> ServerDefaults;
    datanode_report(kind: DatanodeReportType) -> Vec<DatanodeInfo>;
    slow_datanodes() -> Vec<DatanodeInfo>;
    datanode_storage_report(kind: DatanodeReportType) -> Vec<DatanodeStorage>;
    safe_mode(action: SafeModeAction) -> bool;
    save_namespace() -> bool;
    save_namespace_if_older(time_window_s: u64, tx_gap: u64) -> bool;
    roll_edits() -> u64;
    refresh_nodes() -> ();
    set_balancer_bandwidth(bytes_per_second: u64) -> ();
    restore_failed_storage(arg: &str) -> bool;
    finalize_upgrade() -> ();
    rolling_upgrade(action: RollingUpgradeAction) -> Option<RollingUpgrade>;
    metasave(filename: &str) -> ();
    corrupt_files(path: &str, cookie: &str) -> CorruptFiles;
    open_files(path: &str, after: u64) -> (Vec<OpenFile>, bool);
    set_storage_policy(path: &str, policy: &str) -> ();
    unset_storage_policy(path: &str) -> ();
    satisfy_storage_policy(path: &str) -> ();
    storage_policy(path: &str) -> StoragePolicy;
    storage_policies() -> Vec<StoragePolicy>;
    erasure_coding_policy(path: &str) -> Option<ErasureCodingPolicy>;
    set_erasure_coding_policy(path: &str, policy: Option<&str>) -> ();
    unset_erasure_coding_policy(path: &str) -> ();
    erasure_coding_policies() -> Vec<ErasureCodingPolicy>;
    erasure_coding_codecs() -> Vec<(String, String)>;
    enable_erasure_coding_policy(policy: &str, enable: bool) -> ();
    add_cache_pool(pool: &CachePool) -> ();
    modify_cache_pool(pool: &CachePool) -> ();
    remove_cache_pool(name: &str) -> ();
    cache_pools() -> Vec<(CachePool, CachePoolStats)>;
    add_cache_directive(directive: &CacheDirective, force: bool) -> i64;
    modify_cache_directive(directive: &CacheDirective, force: bool) -> ();
    remove_cache_directive(id: i64) -> ();
    cache_directives(filter: &CacheDirective) -> Vec<(CacheDirective, CacheDirectiveStats)>;
}
