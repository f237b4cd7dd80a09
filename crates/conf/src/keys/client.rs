//! Keys that clients read.

use std::time::Duration;

use crate::key::keys;

keys! {
    /// Replicas of a new file.
    DFS_REPLICATION: i32 = "dfs.replication", "3", Plain;
    /// Block size of a new file.
    DFS_BLOCKSIZE: u64 = "dfs.blocksize", "134217728", Bytes;
    /// Bytes below one checksum; must divide the block size.
    DFS_BYTES_PER_CHECKSUM: i32 = "dfs.bytes-per-checksum", "512", Bytes;
    /// Checksum of block data: CRC32C, CRC32 or NULL.
    DFS_CHECKSUM_TYPE: String = "dfs.checksum.type", "CRC32C", Plain;
    /// How file checksums are combined: MD5MD5CRC or COMPOSITE_CRC.
    DFS_CHECKSUM_COMBINE_MODE: String = "dfs.checksum.combine.mode", "MD5MD5CRC", Plain;
    /// Size of the packets a writer sends.
    DFS_CLIENT_WRITE_PACKET_SIZE: i32 = "dfs.client-write-packet-size", "65536", Bytes;
    /// Buffer of file streams.
    DFS_STREAM_BUFFER_SIZE: i32 = "dfs.stream-buffer-size", "4096", Bytes;
    /// Logical names of the name services.
    DFS_NAMESERVICES: Vec<String> = "dfs.nameservices", "", Plain;
    /// Name service of this node, where it cannot be found out.
    DFS_NAMESERVICE_ID: Option<String> = "dfs.nameservice.id", "", Plain;
    /// Name services that the DataNodes of this cluster serve.
    DFS_INTERNAL_NAMESERVICES: Vec<String> = "dfs.internal.nameservices", "", Plain;
    /// Ids of the NameNodes of a name service; its name is appended to the key.
    DFS_HA_NAMENODES: Vec<String> = "dfs.ha.namenodes", "", Plain;
    /// Id of this NameNode, where it cannot be found out.
    DFS_HA_NAMENODE_ID: Option<String> = "dfs.ha.namenode.id", "", Plain;
    /// Class that picks the NameNode: ConfiguredFailoverProxyProvider, RequestHedgingProxyProvider, ObserverReadProxyProvider; the name service is appended to the key.
    DFS_CLIENT_FAILOVER_PROXY_PROVIDER: Option<String> = "dfs.client.failover.proxy.provider", "", Plain;
    /// Whether the NameNodes are tried in random order.
    DFS_CLIENT_FAILOVER_RANDOM_ORDER: bool = "dfs.client.failover.random.order", "true", Plain;
    /// Age of what observers serve after which the active NameNode is asked how far they must be: 0 before each read, -1 never.
    DFS_CLIENT_FAILOVER_OBSERVER_AUTO_MSYNC_PERIOD: i64 = "dfs.client.failover.observer.auto-msync-period", "-1", Plain;
    /// Wait before observers are looked for again where none was found.
    DFS_CLIENT_FAILOVER_OBSERVER_PROBE_RETRY_PERIOD: Duration = "dfs.client.failover.observer.probe.retry.period", "600000", Millis;
    /// How long a NameNode may take to say whether it is an observer; 0 or less: two seconds.
    DFS_CLIENT_FAILOVER_NAMENODE_HA_STATE_PROBE_TIMEOUT: String = "dfs.client.failover.namenode.ha-state.probe.timeout", "0", Millis;
    /// Times a call fails over before it is given up.
    DFS_CLIENT_FAILOVER_MAX_ATTEMPTS: i32 = "dfs.client.failover.max.attempts", "15", Plain;
    /// First wait between two fail-overs.
    DFS_CLIENT_FAILOVER_SLEEP_BASE_MILLIS: Duration = "dfs.client.failover.sleep.base.millis", "500", Millis;
    /// Longest wait between two fail-overs.
    DFS_CLIENT_FAILOVER_SLEEP_MAX_MILLIS: Duration = "dfs.client.failover.sleep.max.millis", "15000", Millis;
    /// Times a connection to one of several NameNodes is tried again.
    DFS_CLIENT_FAILOVER_CONNECTION_RETRIES: i32 = "dfs.client.failover.connection.retries", "0", Plain;
    /// The same for connections that time out.
    DFS_CLIENT_FAILOVER_CONNECTION_RETRIES_ON_TIMEOUTS: i32 = "dfs.client.failover.connection.retries.on.timeouts", "0", Plain;
    /// Whether a client retries while its only NameNode is down.
    DFS_CLIENT_RETRY_POLICY_ENABLED: bool = "dfs.client.retry.policy.enabled", "false", Plain;
    /// Pairs of wait in milliseconds and number of retries.
    DFS_CLIENT_RETRY_POLICY_SPEC: String = "dfs.client.retry.policy.spec", "10000,6,60000,10", Plain;
    /// Times a call to a reachable NameNode is tried again.
    DFS_CLIENT_RETRY_MAX_ATTEMPTS: i32 = "dfs.client.retry.max.attempts", "10", Plain;
    /// Wait before the length of a block being written is asked again.
    DFS_CLIENT_RETRY_INTERVAL_MS_GET_LAST_BLOCK_LENGTH: Duration = "dfs.client.retry.interval-ms.get-last-block-length", "4000", Millis;
    /// Times the length of a block being written is asked again.
    DFS_CLIENT_RETRY_TIMES_GET_LAST_BLOCK_LENGTH: i32 = "dfs.client.retry.times.get-last-block-length", "3", Plain;
    /// Base of the waits between two searches for a readable replica.
    DFS_CLIENT_RETRY_WINDOW_BASE: Duration = "dfs.client.retry.window.base", "3000", Millis;
    /// Searches for a readable replica before a read fails.
    DFS_CLIENT_MAX_BLOCK_ACQUIRE_FAILURES: i32 = "dfs.client.max.block.acquire.failures", "3", Plain;
    /// Longest silence of a DataNode or NameNode.
    DFS_CLIENT_SOCKET_TIMEOUT: Duration = "dfs.client.socket-timeout", "60000", Millis;
    /// Longest wait for a DataNode that announced its restart.
    DFS_CLIENT_DATANODE_RESTART_TIMEOUT: Duration = "dfs.client.datanode-restart.timeout", "30", Seconds;
    /// Pipelines tried for one block.
    DFS_CLIENT_BLOCK_WRITE_RETRIES: i32 = "dfs.client.block.write.retries", "3", Plain;
    /// Times the next block or completion is asked again.
    DFS_CLIENT_BLOCK_WRITE_LOCATEFOLLOWINGBLOCK_RETRIES: i32 = "dfs.client.block.write.locateFollowingBlock.retries", "5", Plain;
    /// First wait before it is asked again.
    DFS_CLIENT_BLOCK_WRITE_LOCATEFOLLOWINGBLOCK_INITIAL_DELAY_MS: Duration = "dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "400", Millis;
    /// Longest wait before it is asked again.
    DFS_CLIENT_BLOCK_WRITE_LOCATEFOLLOWINGBLOCK_MAX_DELAY_MS: Duration = "dfs.client.block.write.locateFollowingBlock.max.delay.ms", "60000", Millis;
    /// Whether a failed DataNode of a pipeline may be replaced.
    DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_ENABLE: bool = "dfs.client.block.write.replace-datanode-on-failure.enable", "true", Plain;
    /// When it is replaced: DEFAULT, ALWAYS or NEVER.
    DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_POLICY: String = "dfs.client.block.write.replace-datanode-on-failure.policy", "DEFAULT", Plain;
    /// Whether writing goes on when no replacement is found.
    DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_BEST_EFFORT: bool = "dfs.client.block.write.replace-datanode-on-failure.best-effort", "false", Plain;
    /// Replicas with which writing goes on when no replacement is found.
    DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_MIN_REPLICATION: i32 = "dfs.client.block.write.replace-datanode-on-failure.min-replication", "0", Plain;
    /// Times the pipeline of one packet is recovered.
    DFS_CLIENT_PIPELINE_RECOVERY_MAX_RETRIES: i32 = "dfs.client.pipeline.recovery.max-retries", "5", Plain;
    /// Most packets sent and not acknowledged.
    DFS_CLIENT_WRITE_MAX_PACKETS_IN_FLIGHT: i32 = "dfs.client.write.max-packets-in-flight", "80", Plain;
    /// How long a writer avoids a DataNode that failed.
    DFS_CLIENT_WRITE_EXCLUDE_NODES_CACHE_EXPIRY_INTERVAL_MILLIS: Duration = "dfs.client.write.exclude.nodes.cache.expiry.interval.millis", "600000", Millis;
    /// Names the task that a client works for, as a part of the client's name.
    MAPREDUCE_TASK_ATTEMPT_ID: String = "mapreduce.task.attempt.id", "NONMAPREDUCE", Plain;
    /// Whether a failed close asks for lease recovery.
    DFS_CLIENT_WRITE_RECOVER_LEASE_ON_CLOSE_EXCEPTION: bool = "dfs.client.write.recover.lease.on.close.exception", "false", Plain;
    /// Reports of a slow node in a row after which a writer replaces it.
    DFS_CLIENT_MARK_SLOWNODE_AS_BADNODE_THRESHOLD: i32 = "dfs.client.mark.slownode.as.badnode.threshold", "10", Plain;
    /// Bytes whose block locations one call asks for; ten blocks where absent.
    DFS_CLIENT_READ_PREFETCH_SIZE: Option<u64> = "dfs.client.read.prefetch.size", "", Bytes;
    /// Whether replicas on the same machine are read from their files.
    DFS_CLIENT_READ_SHORTCIRCUIT: bool = "dfs.client.read.shortcircuit", "false", Plain;
    /// Whether local reads leave the checksum out.
    DFS_CLIENT_READ_SHORTCIRCUIT_SKIP_CHECKSUM: bool = "dfs.client.read.shortcircuit.skip.checksum", "false", Plain;
    /// Buffer of a local read.
    DFS_CLIENT_READ_SHORTCIRCUIT_BUFFER_SIZE: i32 = "dfs.client.read.shortcircuit.buffer.size", "1048576", Bytes;
    /// Open local replicas that are kept.
    DFS_CLIENT_READ_SHORTCIRCUIT_STREAMS_CACHE_SIZE: i32 = "dfs.client.read.shortcircuit.streams.cache.size", "256", Plain;
    /// How long an open local replica is kept.
    DFS_CLIENT_READ_SHORTCIRCUIT_STREAMS_CACHE_EXPIRY_MS: Duration = "dfs.client.read.shortcircuit.streams.cache.expiry.ms", "300000", Millis;
    /// How long an open local replica is trusted where the DataNode has no shared memory segments.
    DFS_CLIENT_SHORT_CIRCUIT_REPLICA_STALE_THRESHOLD_MS: Duration = "dfs.client.short.circuit.replica.stale.threshold.ms", "1800000", Millis;
    /// Whether local replicas are mapped; read(2) otherwise.
    DFS_CLIENT_MMAP_ENABLED: bool = "dfs.client.mmap.enabled", "true", Plain;
    /// Whether ordinary reads and writes use the domain socket.
    DFS_CLIENT_DOMAIN_SOCKET_DATA_TRAFFIC: bool = "dfs.client.domain.socket.data.traffic", "false", Plain;
    /// Whether clients connect to DataNodes by name rather than by address.
    DFS_CLIENT_USE_DATANODE_HOSTNAME: bool = "dfs.client.use.datanode.hostname", "false", Plain;
    /// Whether block files are opened by path, which skips the DataNode's permission check.
    DFS_CLIENT_USE_LEGACY_BLOCKREADER_LOCAL: bool = "dfs.client.use.legacy.blockreader.local", "false", Plain;
    /// Kept connections tried before a new one is opened.
    DFS_CLIENT_CACHED_CONN_RETRY: i32 = "dfs.client.cached.conn.retry", "3", Plain;
    /// Connections to DataNodes that are kept.
    DFS_CLIENT_SOCKETCACHE_CAPACITY: i32 = "dfs.client.socketcache.capacity", "16", Plain;
    /// How long a connection to a DataNode is kept.
    DFS_CLIENT_SOCKETCACHE_EXPIRYMSEC: Duration = "dfs.client.socketcache.expiryMsec", "3000", Millis;
    /// Attempts of hedged positional reads at a time; 0 turns hedged reads off.
    DFS_CLIENT_HEDGED_READ_THREADPOOL_SIZE: i32 = "dfs.client.hedged.read.threadpool.size", "0", Plain;
    /// How long a positional read waits for the first DataNode before it asks a second one.
    DFS_CLIENT_HEDGED_READ_THRESHOLD_MILLIS: Duration = "dfs.client.hedged.read.threshold.millis", "500", Millis;
    /// Buffer of a remote read.
    DFS_CLIENT_BLOCK_READER_REMOTE_BUFFER_SIZE: i32 = "dfs.client.block.reader.remote.buffer.size", "512", Bytes;
    /// I/O slower than this is logged by the client.
    DFS_CLIENT_SLOW_IO_WARNING_THRESHOLD_MS: Duration = "dfs.client.slow.io.warning.threshold.ms", "30000", Millis;
    /// Interfaces or addresses a client connects from.
    DFS_CLIENT_LOCAL_INTERFACES: Vec<String> = "dfs.client.local.interfaces", "", Plain;
    /// Longest wait for the connection of fsck.
    DFS_CLIENT_FSCK_CONNECT_TIMEOUT: Duration = "dfs.client.fsck.connect.timeout", "60000ms", Millis;
    /// Longest silence of the NameNode during fsck.
    DFS_CLIENT_FSCK_READ_TIMEOUT: Duration = "dfs.client.fsck.read.timeout", "60000ms", Millis;
    /// Name of the set of caches that clients share.
    DFS_CLIENT_CONTEXT: String = "dfs.client.context", "default", Plain;
    /// How long the NameNode's defaults are remembered.
    DFS_CLIENT_SERVER_DEFAULTS_VALIDITY_PERIOD_MS: Duration = "dfs.client.server-defaults.validity.period.ms", "3600000", Millis;
    /// Whether clients turn Nagle's algorithm off on data connections.
    DFS_DATA_TRANSFER_CLIENT_TCPNODELAY: bool = "dfs.data.transfer.client.tcpnodelay", "true", Plain;
    /// Largest packet accepted on a data connection.
    DFS_DATA_TRANSFER_MAX_PACKET_SIZE: i32 = "dfs.data.transfer.max.packet.size", "16777216", Bytes;
    /// Directory that holds the home directories.
    DFS_USER_HOME_DIR_PREFIX: String = "dfs.user.home.dir.prefix", "/user", Plain;
    /// Entries in one page of a listing.
    DFS_LS_LIMIT: i32 = "dfs.ls.limit", "1000", Plain;
    /// Inodes a content summary looks at before it gives the lock up; 0 or below: all.
    DFS_CONTENT_SUMMARY_LIMIT: i32 = "dfs.content-summary.limit", "5000", Plain;
    /// How long a content summary leaves the lock to others then, microseconds.
    DFS_CONTENT_SUMMARY_SLEEP_MICROSEC: u64 = "dfs.content-summary.sleep-microsec", "500", Plain;
    /// Whether the web servers speak HTTP_ONLY, HTTPS_ONLY or HTTP_AND_HTTPS.
    DFS_HTTP_POLICY: String = "dfs.http.policy", "HTTP_ONLY", Plain;
    /// Path of the DataNode's domain socket; _PORT stands for its port.
    DFS_DOMAIN_SOCKET_PATH: String = "dfs.domain.socket.path", "", Plain;
    /// How long a domain socket that failed is left alone.
    DFS_DOMAIN_SOCKET_DISABLE_INTERVAL_SECONDS: Duration = "dfs.domain.socket.disable.interval.seconds", "600", Seconds;
    /// Whether block data is encrypted on the wire.
    DFS_ENCRYPT_DATA_TRANSFER: bool = "dfs.encrypt.data.transfer", "false", Plain;
    /// Quality of protection of data connections.
    DFS_DATA_TRANSFER_PROTECTION: Vec<String> = "dfs.data.transfer.protection", "", Plain;
    /// Whether distcp -update, where it compares no checksums, copies a file of equal length that is newer than its copy.
    DISTCP_UPDATE_MODIFICATION_TIME: bool = "distcp.update.modification.time", "true", Plain;
    /// Local file with regular expressions; distcp leaves out paths that one of them matches. Its option -filters counts more.
    DISTCP_FILTERS_FILE: Option<String> = "distcp.filters.file", "", Plain;
    /// Megabytes a second that each thread of distcp reads. Without it there is no limit. Its option -bandwidth counts more.
    DISTCP_MAP_BANDWIDTH_MB: Option<String> = "distcp.map.bandwidth.mb", "", Plain;
    /// Whether DataNodes demand block tokens.
    DFS_BLOCK_ACCESS_TOKEN_ENABLE: bool = "dfs.block.access.token.enable", "false", Plain;
}
