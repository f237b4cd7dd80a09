//! The configuration of the namespace.

/// Settings of the namespace, with Hadoop's defaults.
#[derive(Clone, Debug)]
pub struct NamespaceParams {
    /// The user the NameNode runs as: owner of the root of a new namespace.
    pub superuser: String,
    /// dfs.permissions.superusergroup
    pub supergroup: String,
    /// dfs.permissions.enabled
    pub permissions_enabled: bool,
    /// dfs.namenode.acls.enabled
    pub acls_enabled: bool,
    /// dfs.namenode.posix.acl.inheritance.enabled
    pub posix_acl_inheritance: bool,
    /// dfs.namenode.xattrs.enabled
    pub xattrs_enabled: bool,
    /// dfs.storage.policy.enabled
    pub storage_policy_enabled: bool,
    /// dfs.storage.policy.permissions.superuser-only
    pub storage_policy_superuser_only: bool,
    /// dfs.namenode.fs-limits.max-component-length
    pub component_len_max: usize,
    /// dfs.namenode.fs-limits.max-directory-items
    pub directory_items_max: usize,
    /// dfs.namenode.fs-limits.min-block-size, bytes
    pub block_size_min: u64,
    /// dfs.namenode.fs-limits.max-blocks-per-file
    pub blocks_per_file_max: usize,
    /// dfs.namenode.fs-limits.max-xattrs-per-inode
    pub xattrs_per_inode_max: usize,
    /// dfs.namenode.fs-limits.max-xattr-size, bytes
    pub xattr_size_max: usize,
    /// dfs.namenode.accesstime.precision, ms; 0 keeps no access times
    pub access_time_precision_ms: u64,
    /// dfs.ls.limit
    pub list_limit: usize,
    /// dfs.namenode.list.openfiles.num.responses
    pub open_files_batch: usize,
    /// dfs.namenode.max-corrupt-file-blocks-returned
    pub corrupt_files_batch: usize,
    /// dfs.namenode.caching.enabled
    pub caching_enabled: bool,
    /// dfs.namenode.list.cache.directives.num.responses
    pub cache_directives_batch: usize,
    /// dfs.namenode.list.cache.pools.num.responses
    pub cache_pools_batch: usize,
    /// dfs.namenode.replication.min
    pub replication_min: u16,
    /// dfs.namenode.max.op.size, bytes: a longer edit could not be read again
    pub op_size_max: usize,
    /// dfs.replication.max
    pub replication_max: u16,
    /// dfs.replication (for truncate and messages)
    pub replication_default: u16,
    /// dfs.namenode.quota.init... ; quotas are enforced
    pub quota_by_type_enabled: bool,
    /// Lease soft limit, ms (60 s)
    pub lease_soft_ms: u64,
    /// Lease hard limit, ms (dfs.namenode.lease-hard-limit-sec, 20 min)
    pub lease_hard_ms: u64,
    /// fs.protected.directories
    pub protected_directories: Vec<String>,
    /// dfs.protected.subdirectories.enable
    pub protected_subdirectories: bool,
    /// dfs.namenode.max.objects: inodes and blocks; 0 is no limit
    pub objects_max: u64,
    /// dfs.permissions.allow.owner.set.quota
    pub owner_sets_quota: bool,
    /// dfs.permissions.ContentSummary.subAccess
    pub content_summary_sub_access: bool,
}

impl Default for NamespaceParams {
    fn default() -> Self {
        Self {
            superuser: "root".into(),
            supergroup: "supergroup".into(),
            permissions_enabled: true,
            acls_enabled: true,
            posix_acl_inheritance: true,
            xattrs_enabled: true,
            storage_policy_enabled: true,
            storage_policy_superuser_only: false,
            component_len_max: 255,
            directory_items_max: 1024 * 1024,
            block_size_min: 1024 * 1024,
            blocks_per_file_max: 10_000,
            xattrs_per_inode_max: 32,
            xattr_size_max: 16384,
            access_time_precision_ms: 3_600_000,
            list_limit: 1000,
            open_files_batch: 1000,
            corrupt_files_batch: 100,
            caching_enabled: true,
            cache_directives_batch: 100,
            cache_pools_batch: 100,
            replication_min: 1,
            op_size_max: zerohop_journal::op::OP_SIZE_MAX,
            replication_max: 512,
            replication_default: 3,
            quota_by_type_enabled: true,
            lease_soft_ms: 60_000,
            lease_hard_ms: 20 * 60_000,
            protected_directories: Vec::new(),
            protected_subdirectories: false,
            objects_max: 0,
            owner_sets_quota: false,
            content_summary_sub_access: false,
        }
    }
}
