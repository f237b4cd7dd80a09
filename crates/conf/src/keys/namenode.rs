//! Keys that the NameNode reads.

use std::time::Duration;

use crate::key::keys;

keys! {
    /// Address of the NameNode's RPC port; that of fs.defaultFS where absent.
    DFS_NAMENODE_RPC_ADDRESS: Option<String> = "dfs.namenode.rpc-address", "", Plain;
    /// Address the RPC port binds to, where it differs.
    DFS_NAMENODE_RPC_BIND_HOST: Option<String> = "dfs.namenode.rpc-bind-host", "", Plain;
    /// Separate RPC address for DataNodes.
    DFS_NAMENODE_SERVICERPC_ADDRESS: Option<String> = "dfs.namenode.servicerpc-address", "", Plain;
    /// Address the service RPC port binds to, where it differs.
    DFS_NAMENODE_SERVICERPC_BIND_HOST: Option<String> = "dfs.namenode.servicerpc-bind-host", "", Plain;
    /// Separate RPC address for lifeline messages.
    DFS_NAMENODE_LIFELINE_RPC_ADDRESS: Option<String> = "dfs.namenode.lifeline.rpc-address", "", Plain;
    /// Host that the NameNode listens at for lifeline messages, in place of the address's.
    DFS_NAMENODE_LIFELINE_RPC_BIND_HOST: Option<String> = "dfs.namenode.lifeline.rpc-bind-host", "", Plain;
    /// Address of the NameNode's web pages.
    DFS_NAMENODE_HTTP_ADDRESS: String = "dfs.namenode.http-address", "0.0.0.0:9870", Plain;
    /// Address the web port binds to, where it differs.
    DFS_NAMENODE_HTTP_BIND_HOST: Option<String> = "dfs.namenode.http-bind-host", "", Plain;
    /// Address of the NameNode's web pages over TLS.
    DFS_NAMENODE_HTTPS_ADDRESS: String = "dfs.namenode.https-address", "0.0.0.0:9871", Plain;
    /// Address of the secondary NameNode's web pages.
    DFS_NAMENODE_SECONDARY_HTTP_ADDRESS: String = "dfs.namenode.secondary.http-address", "0.0.0.0:9868", Plain;
    /// Machines that may send images to this NameNode, besides the other NameNodes of its name service (or its secondary NameNode, if it is the only one): host names, addresses, CIDR ranges, or `*`.
    ZEROHOP_NAMENODE_IMAGE_SENDERS: String = "zerohop.namenode.image.senders", "", Plain;
    /// Address of the backup node.
    DFS_NAMENODE_BACKUP_ADDRESS: String = "dfs.namenode.backup.address", "0.0.0.0:50100", Plain;
    /// Directories of the image, each a full copy.
    DFS_NAMENODE_NAME_DIR: Vec<String> = "dfs.namenode.name.dir", "file://${hadoop.tmp.dir}/dfs/name", Plain;
    /// Directories of the edit log, each a full copy.
    DFS_NAMENODE_EDITS_DIR: Vec<String> = "dfs.namenode.edits.dir", "${dfs.namenode.name.dir}", Plain;
    /// Edit directories whose loss stops the NameNode.
    DFS_NAMENODE_EDITS_DIR_REQUIRED: Vec<String> = "dfs.namenode.edits.dir.required", "", Plain;
    /// Edit directories below whose number the NameNode stops.
    DFS_NAMENODE_EDITS_DIR_MINIMUM: i32 = "dfs.namenode.edits.dir.minimum", "1", Plain;
    /// Edit log shared by the NameNodes of a pair.
    DFS_NAMENODE_SHARED_EDITS_DIR: Option<String> = "dfs.namenode.shared.edits.dir", "", Plain;
    /// Whether a directory that came back is used again.
    DFS_NAMENODE_NAME_DIR_RESTORE: bool = "dfs.namenode.name.dir.restore", "false", Plain;
    /// Permissions of the name directories.
    DFS_NAMENODE_STORAGE_DIR_PERM: String = "dfs.namenode.storage.dir.perm", "700", Plain;
    /// Whether the NameNode may be formatted.
    DFS_NAMENODE_SUPPORT_ALLOW_FORMAT: bool = "dfs.namenode.support.allow.format", "true", Plain;
    /// Whether formatting directories that hold data is refused.
    DFS_REFORMAT_DISABLED: bool = "dfs.reformat.disabled", "false", Plain;
    /// Largest operation that is read from an edit log.
    DFS_NAMENODE_MAX_OP_SIZE: i32 = "dfs.namenode.max.op.size", "52428800", Bytes;
    /// Whether edits are not forced to the disk; for tests only.
    DFS_NAMENODE_EDITS_NOEDITLOGCHANNELFLUSH: bool = "dfs.namenode.edits.noeditlogchannelflush", "false", Plain;
    /// Handlers of the RPC port.
    DFS_NAMENODE_HANDLER_COUNT: i32 = "dfs.namenode.handler.count", "10", Plain;
    /// Handlers of the service RPC port.
    DFS_NAMENODE_SERVICE_HANDLER_COUNT: i32 = "dfs.namenode.service.handler.count", "10", Plain;
    /// Time between two searches for dead DataNodes.
    DFS_NAMENODE_HEARTBEAT_RECHECK_INTERVAL: Duration = "dfs.namenode.heartbeat.recheck-interval", "300000", Millis;
    /// A DataNode silent so long is stale.
    DFS_NAMENODE_STALE_DATANODE_INTERVAL: Duration = "dfs.namenode.stale.datanode.interval", "30000", Millis;
    /// Whether stale DataNodes are listed last for readers.
    DFS_NAMENODE_AVOID_READ_STALE_DATANODE: bool = "dfs.namenode.avoid.read.stale.datanode", "false", Plain;
    /// Whether slow DataNodes are listed last for readers (Hadoop's default is false).
    DFS_NAMENODE_AVOID_READ_SLOW_DATANODE: bool = "dfs.namenode.avoid.read.slow.datanode", "true", Plain;
    /// Whether slow DataNodes get no new blocks.
    DFS_NAMENODE_BLOCK_PLACEMENT_POLICY_EXCLUDE_SLOW_NODES_ENABLED: bool = "dfs.namenode.block-placement-policy.exclude-slow-nodes.enabled", "false", Plain;
    /// DataNodes that count as slow at a time.
    DFS_NAMENODE_MAX_SLOWPEER_COLLECT_NODES: i32 = "dfs.namenode.max.slowpeer.collect.nodes", "5", Plain;
    /// Slow DataNodes that /jmx lists.
    DFS_DATANODE_MAX_NODES_TO_REPORT: i32 = "dfs.datanode.max.nodes.to.report", "5", Plain;
    /// Slow disks that /jmx lists.
    DFS_DATANODE_MAX_DISKS_TO_REPORT: i32 = "dfs.datanode.max.disks.to.report", "5", Plain;
    /// Whether stale DataNodes get no new blocks.
    DFS_NAMENODE_AVOID_WRITE_STALE_DATANODE: bool = "dfs.namenode.avoid.write.stale.datanode", "false", Plain;
    /// Share of stale DataNodes above which they get blocks again.
    DFS_NAMENODE_WRITE_STALE_DATANODE_RATIO: f32 = "dfs.namenode.write.stale.datanode.ratio", "0.5f", Plain;
    /// Whether a DataNode whose address has no name is refused.
    DFS_NAMENODE_DATANODE_REGISTRATION_IP_HOSTNAME_CHECK: bool = "dfs.namenode.datanode.registration.ip-hostname-check", "true", Plain;
    /// Time between two rounds of replication work.
    DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS: Duration = "dfs.namenode.redundancy.interval.seconds", "3", Seconds;
    /// Whether busy DataNodes get no new blocks.
    DFS_NAMENODE_REDUNDANCY_CONSIDERLOAD: bool = "dfs.namenode.redundancy.considerLoad", "true", Plain;
    /// A DataNode this much busier than the average is too busy.
    DFS_NAMENODE_REDUNDANCY_CONSIDERLOAD_FACTOR: f64 = "dfs.namenode.redundancy.considerLoad.factor", "2.0", Plain;
    /// Replicas a block needs before its file may be completed.
    DFS_NAMENODE_REPLICATION_MIN: i32 = "dfs.namenode.replication.min", "1", Plain;
    /// Most replicas of a file.
    DFS_REPLICATION_MAX: i32 = "dfs.replication.max", "512", Plain;
    /// Copies of low priority that a DataNode makes at a time.
    DFS_NAMENODE_REPLICATION_MAX_STREAMS: i32 = "dfs.namenode.replication.max-streams", "2", Plain;
    /// Copies of any priority that a DataNode makes at a time.
    DFS_NAMENODE_REPLICATION_MAX_STREAMS_HARD_LIMIT: i32 = "dfs.namenode.replication.max-streams-hard-limit", "4", Plain;
    /// Blocks copied in one round, for each live DataNode.
    DFS_NAMENODE_REPLICATION_WORK_MULTIPLIER_PER_ITERATION: i32 = "dfs.namenode.replication.work.multiplier.per.iteration", "2", Plain;
    /// A copy not reported after so long is ordered again.
    DFS_NAMENODE_RECONSTRUCTION_PENDING_TIMEOUT_SEC: Duration = "dfs.namenode.reconstruction.pending.timeout-sec", "300", Seconds;
    /// Share of the DataNodes that get deletions in one round.
    DFS_NAMENODE_INVALIDATE_WORK_PCT_PER_ITERATION: f32 = "dfs.namenode.invalidate.work.pct.per.iteration", "0.32f", Plain;
    /// Most deletions in one heartbeat answer.
    DFS_BLOCK_INVALIDATE_LIMIT: i32 = "dfs.block.invalidate.limit", "1000", Plain;
    /// Deletions are held back so long after start.
    DFS_NAMENODE_STARTUP_DELAY_BLOCK_DELETION_SEC: Duration = "dfs.namenode.startup.delay.block.deletion.sec", "0", Seconds;
    /// The deletion of an excess replica that is still there after so long is ordered again.
    DFS_NAMENODE_EXCESS_REDUNDANCY_TIMEOUT_SEC: i64 = "dfs.namenode.excess.redundancy.timeout-sec", "3600", Plain;
    /// Excess replicas looked at in one round for that.
    DFS_NAMENODE_EXCESS_REDUNDANCY_TIMEOUT_CHECK_LIMIT: i64 = "dfs.namenode.excess.redundancy.timeout.check.limit", "1000", Plain;
    /// Replicas a block keeps while DataNodes are in maintenance.
    DFS_NAMENODE_MAINTENANCE_REPLICATION_MIN: i32 = "dfs.namenode.maintenance.replication.min", "1", Plain;
    /// Share of the blocks that must be reported before safe mode ends.
    DFS_NAMENODE_SAFEMODE_THRESHOLD_PCT: f32 = "dfs.namenode.safemode.threshold-pct", "0.999f", Plain;
    /// DataNodes that must be alive before safe mode ends.
    DFS_NAMENODE_SAFEMODE_MIN_DATANODES: i32 = "dfs.namenode.safemode.min.datanodes", "0", Plain;
    /// Safe mode lasts so long after its threshold is reached.
    DFS_NAMENODE_SAFEMODE_EXTENSION: Duration = "dfs.namenode.safemode.extension", "30000", Millis;
    /// Replicas that count in safe mode, where it differs from dfs.namenode.replication.min.
    DFS_NAMENODE_SAFEMODE_REPLICATION_MIN: Option<i32> = "dfs.namenode.safemode.replication.min", "", Plain;
    /// Time between two checks of the safe-mode threshold.
    DFS_NAMENODE_SAFEMODE_RECHECK_INTERVAL: Duration = "dfs.namenode.safemode.recheck.interval", "1000", Millis;
    /// Access times are kept to this precision; 0 keeps none.
    DFS_NAMENODE_ACCESSTIME_PRECISION: Duration = "dfs.namenode.accesstime.precision", "3600000", Millis;
    /// Longest name of a file or directory in UTF-8; 0 means no limit.
    DFS_NAMENODE_FS_LIMITS_MAX_COMPONENT_LENGTH: i32 = "dfs.namenode.fs-limits.max-component-length", "255", Bytes;
    /// Most entries of a directory.
    DFS_NAMENODE_FS_LIMITS_MAX_DIRECTORY_ITEMS: i32 = "dfs.namenode.fs-limits.max-directory-items", "1048576", Plain;
    /// Smallest block size a file may ask for.
    DFS_NAMENODE_FS_LIMITS_MIN_BLOCK_SIZE: u64 = "dfs.namenode.fs-limits.min-block-size", "1048576", Bytes;
    /// Most blocks of a file.
    DFS_NAMENODE_FS_LIMITS_MAX_BLOCKS_PER_FILE: i64 = "dfs.namenode.fs-limits.max-blocks-per-file", "10000", Plain;
    /// Most extended attributes of a file.
    DFS_NAMENODE_FS_LIMITS_MAX_XATTRS_PER_INODE: i32 = "dfs.namenode.fs-limits.max-xattrs-per-inode", "32", Plain;
    /// Largest name and value of an extended attribute.
    DFS_NAMENODE_FS_LIMITS_MAX_XATTR_SIZE: i32 = "dfs.namenode.fs-limits.max-xattr-size", "16384", Bytes;
    /// Most paths in one batched listing.
    DFS_BATCHED_LS_LIMIT: i32 = "dfs.batched.ls.limit", "100", Plain;
    /// Most files, directories and blocks; 0 means no limit.
    DFS_NAMENODE_MAX_OBJECTS: i64 = "dfs.namenode.max.objects", "0", Plain;
    /// Whether permissions are checked.
    DFS_PERMISSIONS_ENABLED: bool = "dfs.permissions.enabled", "true", Plain;
    /// Group whose members are superusers.
    DFS_PERMISSIONS_SUPERUSERGROUP: String = "dfs.permissions.superusergroup", "supergroup", Plain;
    /// Whether a content summary checks each directory on its way down.
    DFS_PERMISSIONS_CONTENTSUMMARY_SUBACCESS: bool = "dfs.permissions.ContentSummary.subAccess", "false", Plain;
    /// Whether the owner of a directory may set its quota.
    DFS_PERMISSIONS_ALLOW_OWNER_SET_QUOTA: bool = "dfs.permissions.allow.owner.set.quota", "false", Plain;
    /// Whether directories below protected ones are protected as well.
    DFS_PROTECTED_SUBDIRECTORIES_ENABLE: bool = "dfs.protected.subdirectories.enable", "false", Plain;
    /// Whether access control lists are supported.
    DFS_NAMENODE_ACLS_ENABLED: bool = "dfs.namenode.acls.enabled", "true", Plain;
    /// Whether a default ACL takes the place of the umask.
    DFS_NAMENODE_POSIX_ACL_INHERITANCE_ENABLED: bool = "dfs.namenode.posix.acl.inheritance.enabled", "true", Plain;
    /// Whether extended attributes are supported.
    DFS_NAMENODE_XATTRS_ENABLED: bool = "dfs.namenode.xattrs.enabled", "true", Plain;
    /// Threads that count the quotas after start.
    DFS_NAMENODE_QUOTA_INIT_THREADS: i32 = "dfs.namenode.quota.init-threads", "12", Plain;
    /// Whether quotas by storage type are supported.
    DFS_QUOTA_BY_STORAGE_TYPE_ENABLED: bool = "dfs.quota.by.storage.type.enabled", "true", Plain;
    /// Whether storage policies may be set.
    DFS_STORAGE_POLICY_ENABLED: bool = "dfs.storage.policy.enabled", "true", Plain;
    /// Whether only superusers may set storage policies.
    DFS_STORAGE_POLICY_PERMISSIONS_SUPERUSER_ONLY: bool = "dfs.storage.policy.permissions.superuser-only", "false", Plain;
    /// Storage policy of the root directory.
    DFS_STORAGE_DEFAULT_POLICY: String = "dfs.storage.default.policy", "HOT", Plain;
    /// Most corrupt files in one list.
    DFS_NAMENODE_MAX_CORRUPT_FILE_BLOCKS_RETURNED: i32 = "dfs.namenode.max-corrupt-file-blocks-returned", "100", Plain;
    /// Time between two searches for expired leases.
    DFS_NAMENODE_LEASE_RECHECK_INTERVAL_MS: Duration = "dfs.namenode.lease-recheck-interval-ms", "2000", Millis;
    /// A lease not renewed so long is recovered.
    DFS_NAMENODE_LEASE_HARD_LIMIT_SEC: Duration = "dfs.namenode.lease-hard-limit-sec", "1200", Seconds;
    /// Longest time the lock is held to release leases.
    DFS_NAMENODE_MAX_LOCK_HOLD_TO_RELEASE_LEASE_MS: Duration = "dfs.namenode.max-lock-hold-to-release-lease-ms", "25", Millis;
    /// Blocks of a deleted tree that are removed in one go.
    DFS_NAMENODE_BLOCK_DELETION_INCREMENT: i32 = "dfs.namenode.block.deletion.increment", "1000", Plain;
    /// Blocks at a file's end that may still lack a replica when it is closed.
    DFS_NAMENODE_FILE_CLOSE_NUM_COMMITTED_ALLOWED: i32 = "dfs.namenode.file.close.num-committed-allowed", "0", Plain;
    /// Most snapshots of one directory.
    DFS_NAMENODE_SNAPSHOT_MAX_LIMIT: i32 = "dfs.namenode.snapshot.max.limit", "65536", Plain;
    /// Open files in one page of a list.
    DFS_NAMENODE_LIST_OPENFILES_NUM_RESPONSES: i32 = "dfs.namenode.list.openfiles.num.responses", "1000", Plain;
    /// Whether answers of calls that must not run twice are remembered.
    DFS_NAMENODE_ENABLE_RETRYCACHE: bool = "dfs.namenode.enable.retrycache", "true", Plain;
    /// Memory of the retry cache; kept for compatibility.
    DFS_NAMENODE_RETRYCACHE_HEAP_PERCENT: f32 = "dfs.namenode.retrycache.heap.percent", "0.03f", Plain;
    /// How long an answer is remembered.
    DFS_NAMENODE_RETRYCACHE_EXPIRYTIME_MILLIS: Duration = "dfs.namenode.retrycache.expirytime.millis", "600000", Millis;
    /// Whether replicas are kept in memory at all; pools and directives are kept either way.
    DFS_NAMENODE_CACHING_ENABLED: bool = "dfs.namenode.caching.enabled", "true", Plain;
    /// Cache directives of one page of their list.
    DFS_NAMENODE_LIST_CACHE_DIRECTIVES_NUM_RESPONSES: i32 = "dfs.namenode.list.cache.directives.num.responses", "100", Plain;
    /// Cache pools of one page of their list.
    DFS_NAMENODE_LIST_CACHE_POOLS_NUM_RESPONSES: i32 = "dfs.namenode.list.cache.pools.num.responses", "100", Plain;
    /// Time between two looks at the paths that shall be cached.
    DFS_NAMENODE_PATH_BASED_CACHE_REFRESH_INTERVAL_MS: Duration = "dfs.namenode.path.based.cache.refresh.interval.ms", "30000", Millis;
    /// Time after which a DataNode is told again what to cache.
    DFS_NAMENODE_PATH_BASED_CACHE_RETRY_INTERVAL_MS: Duration = "dfs.namenode.path.based.cache.retry.interval.ms", "30000", Millis;
    /// Directories of a checkpoint's image.
    DFS_NAMENODE_CHECKPOINT_DIR: Vec<String> = "dfs.namenode.checkpoint.dir", "file://${hadoop.tmp.dir}/dfs/namesecondary", Plain;
    /// Directories of a checkpoint's edits.
    DFS_NAMENODE_CHECKPOINT_EDITS_DIR: Vec<String> = "dfs.namenode.checkpoint.edits.dir", "${dfs.namenode.checkpoint.dir}", Plain;
    /// Longest time between two checkpoints.
    DFS_NAMENODE_CHECKPOINT_PERIOD: Duration = "dfs.namenode.checkpoint.period", "3600", Seconds;
    /// Transactions after which a checkpoint is made in any case.
    DFS_NAMENODE_CHECKPOINT_TXNS: i64 = "dfs.namenode.checkpoint.txns", "1000000", Plain;
    /// Time between two looks at the number of transactions.
    DFS_NAMENODE_CHECKPOINT_CHECK_PERIOD: Duration = "dfs.namenode.checkpoint.check.period", "60", Seconds;
    /// Images that are kept.
    DFS_NAMENODE_NUM_CHECKPOINTS_RETAINED: i32 = "dfs.namenode.num.checkpoints.retained", "2", Plain;
    /// Transactions kept beyond those that an image needs.
    DFS_NAMENODE_NUM_EXTRA_EDITS_RETAINED: i64 = "dfs.namenode.num.extra.edits.retained", "1000000", Plain;
    /// Segments kept beyond those that an image needs.
    DFS_NAMENODE_MAX_EXTRA_EDITS_SEGMENTS_RETAINED: i32 = "dfs.namenode.max.extra.edits.segments.retained", "10000", Plain;
    /// The segment in use is rolled at this multiple of dfs.namenode.checkpoint.txns.
    DFS_NAMENODE_EDIT_LOG_AUTOROLL_MULTIPLIER_THRESHOLD: f32 = "dfs.namenode.edit.log.autoroll.multiplier.threshold", "0.5", Plain;
    /// Time between two looks whether to roll.
    DFS_NAMENODE_EDIT_LOG_AUTOROLL_CHECK_INTERVAL_MS: Duration = "dfs.namenode.edit.log.autoroll.check.interval.ms", "300000", Millis;
    /// Whether images are compressed.
    DFS_IMAGE_COMPRESS: bool = "dfs.image.compress", "false", Plain;
    /// Class that compresses images.
    DFS_IMAGE_COMPRESSION_CODEC: String = "dfs.image.compression.codec", "org.apache.hadoop.io.compress.DefaultCodec", Plain;
    /// Whether images are written in sub-sections and loaded by several threads.
    DFS_IMAGE_PARALLEL_LOAD: bool = "dfs.image.parallel.load", "false", Plain;
    /// Sub-sections of an image.
    DFS_IMAGE_PARALLEL_TARGET_SECTIONS: i32 = "dfs.image.parallel.target.sections", "12", Plain;
    /// Inodes from which an image gets sub-sections.
    DFS_IMAGE_PARALLEL_INODE_THRESHOLD: i64 = "dfs.image.parallel.inode.threshold", "1000000", Plain;
    /// Threads that load an image.
    DFS_IMAGE_PARALLEL_THREADS: i32 = "dfs.image.parallel.threads", "4", Plain;
    /// Longest silence of an image transfer.
    DFS_IMAGE_TRANSFER_TIMEOUT: Duration = "dfs.image.transfer.timeout", "60000", Millis;
    /// Limit of an image transfer; 0 means none.
    DFS_IMAGE_TRANSFER_BANDWIDTHPERSEC: u64 = "dfs.image.transfer.bandwidthPerSec", "52428800", Bytes;
    /// Time between two looks at the free space of the name directories.
    DFS_NAMENODE_RESOURCE_CHECK_INTERVAL: Duration = "dfs.namenode.resource.check.interval", "5000", Millis;
    /// Free space below which the NameNode enters safe mode.
    DFS_NAMENODE_RESOURCE_DU_RESERVED: u64 = "dfs.namenode.resource.du.reserved", "104857600", Bytes;
    /// Name directories that must have free space.
    DFS_NAMENODE_RESOURCE_CHECKED_VOLUMES_MINIMUM: i32 = "dfs.namenode.resource.checked.volumes.minimum", "1", Plain;
    /// Directories beside those of edits whose volumes must have free space.
    DFS_NAMENODE_RESOURCE_CHECKED_VOLUMES: Vec<String> = "dfs.namenode.resource.checked.volumes", "", Plain;
    /// File of the DataNodes that may register.
    DFS_HOSTS: Option<String> = "dfs.hosts", "", Plain;
    /// File of the DataNodes that are to be decommissioned.
    DFS_HOSTS_EXCLUDE: Option<String> = "dfs.hosts.exclude", "", Plain;
    /// Class that reads the host files.
    DFS_NAMENODE_HOSTS_PROVIDER_CLASSNAME: String = "dfs.namenode.hosts.provider.classname", "org.apache.hadoop.hdfs.server.blockmanagement.HostFileManager", Plain;
    /// Time between two looks at DataNodes that are being decommissioned.
    DFS_NAMENODE_DECOMMISSION_INTERVAL: Duration = "dfs.namenode.decommission.interval", "30", Seconds;
    /// Class that places replicas; only the default one is implemented.
    DFS_BLOCK_REPLICATOR_CLASSNAME: String = "dfs.block.replicator.classname", "org.apache.hadoop.hdfs.server.blockmanagement.BlockPlacementPolicyDefault", Plain;
    /// Whether the first replica goes to the writer's machine.
    DFS_NAMENODE_BLOCK_PLACEMENT_POLICY_DEFAULT_PREFER_LOCAL_NODE: bool = "dfs.namenode.block-placement-policy.default.prefer-local-node", "true", Plain;
    /// Whether the topology knows storage types.
    DFS_USE_DFS_NETWORK_TOPOLOGY: bool = "dfs.use.dfs.network.topology", "true", Plain;
    /// Checkpoint periods that may have passed when a NameNode is about to be stopped.
    DFS_NAMENODE_MISSING_CHECKPOINT_PERIODS_BEFORE_SHUTDOWN: i32 = "dfs.namenode.missing.checkpoint.periods.before.shutdown", "3", Plain;
    /// DataNodes that may send a full report at the same time.
    DFS_NAMENODE_MAX_FULL_BLOCK_REPORT_LEASES: i32 = "dfs.namenode.max.full.block.report.leases", "6", Plain;
    /// How long the permission for a full report lasts.
    DFS_NAMENODE_FULL_BLOCK_REPORT_LEASE_LENGTH_MS: Duration = "dfs.namenode.full.block.report.lease.length.ms", "300000", Millis;
    /// A write lock held longer is logged.
    DFS_NAMENODE_WRITE_LOCK_REPORTING_THRESHOLD_MS: Duration = "dfs.namenode.write-lock-reporting-threshold-ms", "5000", Millis;
    /// A read lock held longer is logged.
    DFS_NAMENODE_READ_LOCK_REPORTING_THRESHOLD_MS: Duration = "dfs.namenode.read-lock-reporting-threshold-ms", "5000", Millis;
    /// Time from one report of locks that are held for long to the next.
    DFS_LOCK_SUPPRESS_WARNING_INTERVAL: Duration = "dfs.lock.suppress.warning.interval", "10s", Millis;
    /// Longest wait of `complete` and `addBlock` for a DataNode's report that is on its way (ours, not Hadoop's).
    ZEROHOP_NAMENODE_REPORT_WAIT_MAX_MS: Duration = "zerohop.namenode.report.wait.max.ms", "1000", Millis;
    /// Classes of the audit log.
    DFS_NAMENODE_AUDIT_LOGGERS: Vec<String> = "dfs.namenode.audit.loggers", "default", Plain;
    /// Whether the port of the client's connection is added to the caller context in the audit log.
    DFS_NAMENODE_AUDIT_LOG_WITH_REMOTE_PORT: bool = "dfs.namenode.audit.log.with.remote.port", "false", Plain;
    /// Whether lines of the audit log have a field for the tracking id of the caller's token.
    DFS_NAMENODE_AUDIT_LOG_TOKEN_TRACKING_ID: bool = "dfs.namenode.audit.log.token.tracking.id", "false", Plain;
    /// Commands that are written to the audit log at its level DEBUG only.
    DFS_NAMENODE_AUDIT_LOG_DEBUG_CMDLIST: Vec<String> = "dfs.namenode.audit.log.debug.cmdlist", "", Plain;
    /// Whether the audit log is written behind the call.
    DFS_NAMENODE_AUDIT_LOG_ASYNC: bool = "dfs.namenode.audit.log.async", "false", Plain;
    /// Whether the users with the most operations are counted.
    DFS_NAMENODE_TOP_ENABLED: bool = "dfs.namenode.top.enabled", "true", Plain;
    /// Users that are named for each kind of operation.
    DFS_NAMENODE_TOP_NUM_USERS: i32 = "dfs.namenode.top.num.users", "10", Plain;
    /// Minutes of the windows in which operations are counted by user.
    DFS_NAMENODE_TOP_WINDOWS_MINUTES: Vec<String> = "dfs.namenode.top.windows.minutes", "1,5,25", Plain;
    /// Events in one answer to a watcher.
    DFS_NAMENODE_INOTIFY_MAX_EVENTS_PER_RPC: i32 = "dfs.namenode.inotify.max.events.per.rpc", "1000", Plain;
    /// Time between two master keys of delegation tokens.
    DFS_NAMENODE_DELEGATION_KEY_UPDATE_INTERVAL: Duration = "dfs.namenode.delegation.key.update-interval", "86400000", Millis;
    /// Longest life of a delegation token.
    DFS_NAMENODE_DELEGATION_TOKEN_MAX_LIFETIME: Duration = "dfs.namenode.delegation.token.max-lifetime", "604800000", Millis;
    /// Time until a delegation token must be renewed.
    DFS_NAMENODE_DELEGATION_TOKEN_RENEW_INTERVAL: Duration = "dfs.namenode.delegation.token.renew-interval", "86400000", Millis;
    /// Whether tokens are issued without security too; for tests.
    DFS_NAMENODE_DELEGATION_TOKEN_ALWAYS_USE: bool = "dfs.namenode.delegation.token.always-use", "false", Plain;
    /// Whether a standby saves images and sends them to the other NameNodes.
    DFS_HA_STANDBY_CHECKPOINTS: bool = "dfs.ha.standby.checkpoints", "true", Plain;
    /// Time after which a standby has the active NameNode end its segment of the edit log; negative: never.
    DFS_HA_LOG_ROLL_PERIOD: String = "dfs.ha.log-roll.period", "120", Plain;
    /// Time between two looks of a standby for new edits.
    DFS_HA_TAIL_EDITS_PERIOD: Duration = "dfs.ha.tail-edits.period", "60", Seconds;
    /// Longest time between two such looks, which doubles while there are no edits; 0: it stays.
    DFS_HA_TAIL_EDITS_PERIOD_BACKOFF_MAX: Duration = "dfs.ha.tail-edits.period.backoff-max", "0", Seconds;
    /// Longest wait for the active NameNode to end its segment.
    DFS_HA_TAIL_EDITS_ROLLEDITS_TIMEOUT: Duration = "dfs.ha.tail-edits.rolledits.timeout", "60", Seconds;
    /// Rounds over all other NameNodes in search of the active one.
    DFS_HA_TAIL_EDITS_NAMENODE_RETRIES: i32 = "dfs.ha.tail-edits.namenode-retries", "3", Plain;
    /// Most edits that a standby asks JournalNodes' memory for at a time.
    DFS_HA_TAIL_EDITS_QJM_RPC_MAX_TXNS: u32 = "dfs.ha.tail-edits.qjm.rpc.max-txns", "5000", Plain;
    /// Whether a NameNode refuses to become active while it is in safe mode.
    DFS_HA_NN_NOT_BECOME_ACTIVE_IN_SAFEMODE: bool = "dfs.ha.nn.not-become-active-in-safemode", "false", Plain;
    /// Whether a NameNode of several starts as an observer.
    DFS_NAMENODE_OBSERVER_ENABLED: bool = "dfs.namenode.observer.enabled", "false", Plain;
    /// Whether answers say which state they come from, and an observer has reads wait for what their clients have seen.
    DFS_NAMENODE_STATE_CONTEXT_ENABLED: bool = "dfs.namenode.state.context.enabled", "false", Plain;
    /// Whether a standby answers reads, of what it has followed so far.
    DFS_HA_ALLOW_STALE_READS: bool = "dfs.ha.allow.stale.reads", "false", Plain;
    /// Limit of an image's transfer to a new standby; 0 means none.
    DFS_IMAGE_TRANSFER_BOOTSTRAP_STANDBY_BANDWIDTHPERSEC: u64 = "dfs.image.transfer-bootstrap-standby.bandwidthPerSec", "0", Bytes;
    /// Bytes in one piece of an image that is sent.
    DFS_IMAGE_TRANSFER_CHUNKSIZE: usize = "dfs.image.transfer.chunksize", "65536", Bytes;
    /// A standby whose image was refused sends the next one after this many times the period of checkpoints.
    DFS_NAMENODE_CHECKPOINT_CHECK_QUIET_MULTIPLIER: f64 = "dfs.namenode.checkpoint.check.quiet-multiplier", "1.5", Plain;
    /// Longest wait for a majority of JournalNodes to begin a segment.
    DFS_QJOURNAL_START_SEGMENT_TIMEOUT_MS: Duration = "dfs.qjournal.start-segment.timeout.ms", "20000", Millis;
    /// Longest wait for a majority of JournalNodes to write edits; then the NameNode ends.
    DFS_QJOURNAL_WRITE_TXNS_TIMEOUT_MS: Duration = "dfs.qjournal.write-txns.timeout.ms", "20000", Millis;
    /// Longest wait for a majority of JournalNodes to tell their epochs.
    DFS_QJOURNAL_GET_JOURNAL_STATE_TIMEOUT_MS: Duration = "dfs.qjournal.get-journal-state.timeout.ms", "120000", Millis;
    /// Longest wait for a majority of JournalNodes to promise an epoch.
    DFS_QJOURNAL_NEW_EPOCH_TIMEOUT_MS: Duration = "dfs.qjournal.new-epoch.timeout.ms", "120000", Millis;
    /// Longest wait for a majority of JournalNodes to tell what they have of a segment that is recovered.
    DFS_QJOURNAL_PREPARE_RECOVERY_TIMEOUT_MS: Duration = "dfs.qjournal.prepare-recovery.timeout.ms", "120000", Millis;
    /// Longest wait for a majority of JournalNodes to take over a recovered segment.
    DFS_QJOURNAL_ACCEPT_RECOVERY_TIMEOUT_MS: Duration = "dfs.qjournal.accept-recovery.timeout.ms", "120000", Millis;
    /// Longest wait for a majority of JournalNodes to end a segment.
    DFS_QJOURNAL_FINALIZE_SEGMENT_TIMEOUT_MS: Duration = "dfs.qjournal.finalize-segment.timeout.ms", "120000", Millis;
    /// Longest wait for JournalNodes' lists of segments, and for edits out of their memory.
    DFS_QJOURNAL_SELECT_INPUT_STREAMS_TIMEOUT_MS: Duration = "dfs.qjournal.select-input-streams.timeout.ms", "20000", Millis;
    /// Longest wait for a segment of a JournalNode to begin to arrive, and for each further piece of it.
    DFS_QJOURNAL_HTTP_READ_TIMEOUT_MS: Duration = "dfs.qjournal.http.read.timeout.ms", "60000", Millis;
    /// Megabytes of edits that may wait for one JournalNode; beyond them it is left out until the next segment.
    DFS_QJOURNAL_QUEUED_EDITS_LIMIT_MB: usize = "dfs.qjournal.queued-edits.limit.mb", "10", Plain;
    /// Whether fail-over is done by ZooKeeper.
    DFS_HA_AUTOMATIC_FAILOVER_ENABLED: bool = "dfs.ha.automatic-failover.enabled", "false", Plain;
    /// Users and groups that may see the protected web pages.
    DFS_CLUSTER_ADMINISTRATORS: String = "dfs.cluster.administrators", "", Plain;
}
