//! Keys that the DataNode reads.

use std::time::Duration;

use crate::key::keys;

keys! {
    /// Address of the data-transfer port.
    DFS_DATANODE_ADDRESS: String = "dfs.datanode.address", "0.0.0.0:9866", Plain;
    /// Address of the DataNode's web pages.
    DFS_DATANODE_HTTP_ADDRESS: String = "dfs.datanode.http.address", "0.0.0.0:9864", Plain;
    /// Address of the DataNode's web pages over TLS.
    DFS_DATANODE_HTTPS_ADDRESS: String = "dfs.datanode.https.address", "0.0.0.0:9865", Plain;
    /// Address of the DataNode's RPC port.
    DFS_DATANODE_IPC_ADDRESS: String = "dfs.datanode.ipc.address", "0.0.0.0:9867", Plain;
    /// Host name the DataNode registers with.
    DFS_DATANODE_HOSTNAME: Option<String> = "dfs.datanode.hostname", "", Plain;
    /// Directories of the replicas, each with an optional storage type in brackets in front.
    DFS_DATANODE_DATA_DIR: Vec<String> = "dfs.datanode.data.dir", "file://${hadoop.tmp.dir}/dfs/data", Plain;
    /// Permissions of the data directories.
    DFS_DATANODE_DATA_DIR_PERM: String = "dfs.datanode.data.dir.perm", "700", Plain;
    /// Data directories that may fail; -1 means all but one.
    DFS_DATANODE_FAILED_VOLUMES_TOLERATED: i32 = "dfs.datanode.failed.volumes.tolerated", "0", Plain;
    /// Space on each volume that HDFS leaves free.
    DFS_DATANODE_DU_RESERVED: u64 = "dfs.datanode.du.reserved", "0", Bytes;
    /// Share of each volume that HDFS leaves free, in percent.
    DFS_DATANODE_DU_RESERVED_PCT: i32 = "dfs.datanode.du.reserved.pct", "0", Plain;
    /// Handlers of the RPC port.
    DFS_DATANODE_HANDLER_COUNT: i32 = "dfs.datanode.handler.count", "10", Plain;
    /// Block transfers served at a time.
    DFS_DATANODE_MAX_TRANSFER_THREADS: i32 = "dfs.datanode.max.transfer.threads", "4096", Plain;
    /// Class that picks the volume of a new replica.
    DFS_DATANODE_FSDATASET_VOLUME_CHOOSING_POLICY: String = "dfs.datanode.fsdataset.volume.choosing.policy", "org.apache.hadoop.hdfs.server.datanode.fsdataset.RoundRobinVolumeChoosingPolicy", Plain;
    /// Space on each volume that RoundRobinVolumeChoosingPolicy leaves free besides the new replica (Hadoop's default is 1 GiB).
    DFS_DATANODE_ROUND_ROBIN_VOLUME_CHOOSING_POLICY_ADDITIONAL_AVAILABLE_SPACE: u64 = "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space", "0", Plain;
    /// Volumes whose free space differs by less count as balanced.
    DFS_DATANODE_AVAILABLE_SPACE_VOLUME_CHOOSING_POLICY_BALANCED_SPACE_THRESHOLD: u64 = "dfs.datanode.available-space-volume-choosing-policy.balanced-space-threshold", "10737418240", Bytes;
    /// Share of the new replicas that go to the emptier volumes.
    DFS_DATANODE_AVAILABLE_SPACE_VOLUME_CHOOSING_POLICY_BALANCED_SPACE_PREFERENCE_FRACTION: f32 = "dfs.datanode.available-space-volume-choosing-policy.balanced-space-preference-fraction", "0.75f", Plain;
    /// Time between two heartbeats.
    DFS_HEARTBEAT_INTERVAL: Duration = "dfs.heartbeat.interval", "3", Seconds;
    /// Time between two full block reports.
    DFS_BLOCKREPORT_INTERVALMSEC: Duration = "dfs.blockreport.intervalMsec", "21600000", Millis;
    /// The first full report is delayed by a random time up to this.
    DFS_BLOCKREPORT_INITIALDELAY: Duration = "dfs.blockreport.initialDelay", "0", Seconds;
    /// Blocks from which each storage gets a report of its own.
    DFS_BLOCKREPORT_SPLIT_THRESHOLD: i64 = "dfs.blockreport.split.threshold", "1000000", Plain;
    /// Incremental reports are collected for so long; 0 sends at once.
    DFS_BLOCKREPORT_INCREMENTAL_INTERVALMSEC: Duration = "dfs.blockreport.incremental.intervalMsec", "0", Millis;
    /// Time between two cache reports.
    DFS_CACHEREPORT_INTERVALMSEC: Duration = "dfs.cachereport.intervalMsec", "10000", Millis;
    /// Whether slow peers are looked for (Hadoop's default is false).
    DFS_DATANODE_PEER_STATS_ENABLED: bool = "dfs.datanode.peer.stats.enabled", "true", Plain;
    /// Peers with fewer packets sent to them are not compared.
    DFS_DATANODE_PEER_METRICS_MIN_OUTLIER_DETECTION_SAMPLES: i64 = "dfs.datanode.peer.metrics.min.outlier.detection.samples", "1000", Plain;
    /// Fewer peers than this are not compared.
    DFS_DATANODE_MIN_OUTLIER_DETECTION_NODES: i64 = "dfs.datanode.min.outlier.detection.nodes", "10", Plain;
    /// A peer that takes less for a packet is never slow.
    DFS_DATANODE_SLOWPEER_LOW_THRESHOLD_MS: Duration = "dfs.datanode.slowpeer.low.threshold.ms", "5", Millis;
    /// Time between two reports of slow peers and disks.
    DFS_DATANODE_OUTLIERS_REPORT_INTERVAL: Duration = "dfs.datanode.outliers.report.interval", "30m", Millis;
    /// Longest wait of a DataNode for its peer to take data.
    DFS_DATANODE_SOCKET_WRITE_TIMEOUT: Duration = "dfs.datanode.socket.write.timeout", "480000", Millis;
    /// How long an idle data connection is kept.
    DFS_DATANODE_SOCKET_REUSE_KEEPALIVE: Duration = "dfs.datanode.socket.reuse.keepalive", "4000", Millis;
    /// Send buffer of data connections; 0 leaves it to the system.
    DFS_DATANODE_TRANSFER_SOCKET_SEND_BUFFER_SIZE: i32 = "dfs.datanode.transfer.socket.send.buffer.size", "0", Bytes;
    /// Receive buffer of data connections; 0 leaves it to the system.
    DFS_DATANODE_TRANSFER_SOCKET_RECV_BUFFER_SIZE: i32 = "dfs.datanode.transfer.socket.recv.buffer.size", "0", Bytes;
    /// Whether DataNodes turn Nagle's algorithm off on data connections.
    DFS_DATA_TRANSFER_SERVER_TCPNODELAY: bool = "dfs.data.transfer.server.tcpnodelay", "true", Plain;
    /// Whether block data is sent by sendfile.
    DFS_DATANODE_TRANSFERTO_ALLOWED: bool = "dfs.datanode.transferTo.allowed", "true", Plain;
    /// Read-ahead asked from the system; 0 turns it off.
    DFS_DATANODE_READAHEAD_BYTES: u64 = "dfs.datanode.readahead.bytes", "4194304", Bytes;
    /// Whether the page cache forgets what was read.
    DFS_DATANODE_DROP_CACHE_BEHIND_READS: bool = "dfs.datanode.drop.cache.behind.reads", "false", Plain;
    /// Whether the page cache forgets what was written.
    DFS_DATANODE_DROP_CACHE_BEHIND_WRITES: bool = "dfs.datanode.drop.cache.behind.writes", "false", Plain;
    /// Whether data is pushed to the disk while it is written.
    DFS_DATANODE_SYNC_BEHIND_WRITES: bool = "dfs.datanode.sync.behind.writes", "false", Plain;
    /// Whether a replica is forced to the disk when it is finalized.
    DFS_DATANODE_SYNCONCLOSE: bool = "dfs.datanode.synconclose", "false", Plain;
    /// Waits after each kind of out-of-band acknowledgement.
    DFS_DATANODE_OOB_TIMEOUT_MS: Vec<String> = "dfs.datanode.oob.timeout-ms", "1500,0,0,0", Plain;
    /// How long unfinished replicas wait for the DataNode's restart.
    DFS_DATANODE_RESTART_REPLICA_EXPIRATION: Duration = "dfs.datanode.restart.replica.expiration", "50", Seconds;
    /// Whether DataNodes connect to each other by name.
    DFS_DATANODE_USE_DATANODE_HOSTNAME: bool = "dfs.datanode.use.datanode.hostname", "false", Plain;
    /// Time between two comparisons of disk and memory.
    DFS_DATANODE_DIRECTORYSCAN_INTERVAL: Duration = "dfs.datanode.directoryscan.interval", "21600", Seconds;
    /// Threads that compare disk and memory.
    DFS_DATANODE_DIRECTORYSCAN_THREADS: i32 = "dfs.datanode.directoryscan.threads", "1", Plain;
    /// Time in each second in which a directory scan may list directories; 1000 or nothing above 0 means no limit.
    DFS_DATANODE_DIRECTORYSCAN_THROTTLE_LIMIT_MS_PER_SEC: i32 = "dfs.datanode.directoryscan.throttle.limit.ms.per.sec", "1000", Plain;
    /// Found and lost replicas that a directory scan tells NameNodes at once; others wait for the next full report.
    DFS_DATANODE_DIRECTORYSCAN_MAX_NOTIFY_COUNT: i32 = "dfs.datanode.directoryscan.max.notify.count", "5", Plain;
    /// Differences that a directory scan resolves without a pause.
    DFS_DATANODE_RECONCILE_BLOCKS_BATCH_SIZE: i32 = "dfs.datanode.reconcile.blocks.batch.size", "1000", Plain;
    /// The pause of a directory scan between two batches.
    DFS_DATANODE_RECONCILE_BLOCKS_BATCH_INTERVAL: Duration = "dfs.datanode.reconcile.blocks.batch.interval", "2000", Millis;
    /// Time in hours in which each replica is verified once; negative turns it off.
    DFS_DATANODE_SCAN_PERIOD_HOURS: i32 = "dfs.datanode.scan.period.hours", "504", Plain;
    /// Speed of the verification on each volume; 0 turns it off.
    DFS_BLOCK_SCANNER_VOLUME_BYTES_PER_SECOND: u64 = "dfs.block.scanner.volume.bytes.per.second", "1048576", Bytes;
    /// Whether the verification leaves out replicas that were read within its period.
    DFS_BLOCK_SCANNER_SKIP_RECENT_ACCESSED: bool = "dfs.block.scanner.skip.recent.accessed", "false", Plain;
    /// Time after which the verification's cursor is written again.
    DFS_BLOCK_SCANNER_CURSOR_SAVE_INTERVAL_MS: Duration = "dfs.block.scanner.cursor.save.interval.ms", "600000", Millis;
    /// How long the DataNode's stop waits for the verification to end.
    DFS_BLOCK_SCANNER_VOLUME_JOIN_TIMEOUT_MS: Duration = "dfs.block.scanner.volume.join.timeout.ms", "5000", Millis;
    /// Shortest time between two checks of one volume.
    DFS_DATANODE_DISK_CHECK_MIN_GAP: Duration = "dfs.datanode.disk.check.min.gap", "15m", Millis;
    /// A check of a volume that takes longer has failed.
    DFS_DATANODE_DISK_CHECK_TIMEOUT: Duration = "dfs.datanode.disk.check.timeout", "10m", Millis;
    /// Of a hundred reads and writes of files, so many are timed, to find slow disks; 0 times none (Hadoop's default is 0).
    DFS_DATANODE_FILEIO_PROFILING_SAMPLING_PERCENTAGE: i32 = "dfs.datanode.fileio.profiling.sampling.percentage", "100", Plain;
    /// Fewer disks than this are not compared.
    DFS_DATANODE_MIN_OUTLIER_DETECTION_DISKS: i64 = "dfs.datanode.min.outlier.detection.disks", "5", Plain;
    /// A disk whose calls take less is never slow.
    DFS_DATANODE_SLOWDISK_LOW_THRESHOLD_MS: Duration = "dfs.datanode.slowdisk.low.threshold.ms", "20", Millis;
    /// So many of the slowest disks get no new replicas while others have room.
    DFS_DATANODE_MAX_SLOWDISKS_TO_EXCLUDE: i32 = "dfs.datanode.max.slowdisks.to.exclude", "0", Plain;
    /// Speed limit of moves between DataNodes.
    DFS_DATANODE_BALANCE_BANDWIDTHPERSEC: u64 = "dfs.datanode.balance.bandwidthPerSec", "100m", Bytes;
    /// Moves that a DataNode takes part in at a time.
    DFS_DATANODE_BALANCE_MAX_CONCURRENT_MOVES: i32 = "dfs.datanode.balance.max.concurrent.moves", "100", Plain;
    /// Speed limit of copies between DataNodes; 0 means none.
    DFS_DATANODE_DATA_TRANSFER_BANDWIDTHPERSEC: u64 = "dfs.datanode.data.transfer.bandwidthPerSec", "0", Bytes;
    /// Threads that load cached blocks from one volume.
    DFS_DATANODE_FSDATASETCACHE_MAX_THREADS_PER_VOLUME: i32 = "dfs.datanode.fsdatasetcache.max.threads.per.volume", "4", Plain;
    /// Memory that cached blocks may take.
    DFS_DATANODE_MAX_LOCKED_MEMORY: u64 = "dfs.datanode.max.locked.memory", "0", Bytes;
    /// How long local readers may keep a replica in memory that shall not be cached any more.
    DFS_DATANODE_CACHE_REVOCATION_TIMEOUT_MS: Duration = "dfs.datanode.cache.revocation.timeout.ms", "900000", Millis;
    /// How often such readers are looked at.
    DFS_DATANODE_CACHE_REVOCATION_POLLING_MS: Duration = "dfs.datanode.cache.revocation.polling.ms", "500", Millis;
    /// Directories where shared-memory files may be made.
    DFS_DATANODE_SHARED_FILE_DESCRIPTOR_PATHS: Vec<String> = "dfs.datanode.shared.file.descriptor.paths", "/dev/shm,/tmp", Plain;
    /// Whether the DataNode keeps the latencies of its calls to each volume's disk for an hour: what /heatmap and /slow show.
    ZEROHOP_DATANODE_HEATMAP_ENABLED: bool = "zerohop.datanode.heatmap.enabled", "true", Plain;
    /// Shared memory segments for short-circuit reads that one process may have (ours, not Hadoop's).
    ZEROHOP_DATANODE_SHORTCIRCUIT_SEGMENTS_MAX_PER_PROCESS: i32 = "zerohop.datanode.shortcircuit.segments.max.per.process", "64", Plain;
    /// Shared memory segments for short-circuit reads that the processes of one user may have together (ours, not Hadoop's).
    ZEROHOP_DATANODE_SHORTCIRCUIT_SEGMENTS_MAX_PER_USER: i32 = "zerohop.datanode.shortcircuit.segments.max.per.user", "1024", Plain;
    /// Shared memory segments for short-circuit reads in all (ours, not Hadoop's).
    ZEROHOP_DATANODE_SHORTCIRCUIT_SEGMENTS_MAX: i32 = "zerohop.datanode.shortcircuit.segments.max", "2048", Plain;
    /// I/O slower than this is logged by the DataNode.
    DFS_DATANODE_SLOW_IO_WARNING_THRESHOLD_MS: Duration = "dfs.datanode.slow.io.warning.threshold.ms", "300", Millis;
    /// Start-up option of the DataNode.
    DFS_DATANODE_STARTUP: String = "dfs.datanode.startup", "", Plain;
    /// Longest wait of a request for the block pool to be ready.
    DFS_DATANODE_BP_READY_TIMEOUT: Duration = "dfs.datanode.bp-ready.timeout", "20", Seconds;
    /// How old a saved measure of the used space may be.
    DFS_DATANODE_CACHED_DFSUSED_CHECK_INTERVAL_MS: Duration = "dfs.datanode.cached-dfsused.check.interval.ms", "600000", Millis;
    /// Whether replicas may be pinned to their DataNode.
    DFS_DATANODE_BLOCK_PINNING_ENABLED: bool = "dfs.datanode.block-pinning.enabled", "false", Plain;
    /// Whether acknowledgements carry congestion marks.
    DFS_PIPELINE_ECN: bool = "dfs.pipeline.ecn", "false", Plain;
    /// Whether acknowledgements carry marks of slow nodes.
    DFS_PIPELINE_SLOWNODE: bool = "dfs.pipeline.slownode", "false", Plain;
    /// Users that may ask for the path of a block file.
    DFS_BLOCK_LOCAL_PATH_ACCESS_USER: Vec<String> = "dfs.block.local-path-access.user", "", Plain;
    /// Time between two lifeline messages.
    DFS_DATANODE_LIFELINE_INTERVAL_SECONDS: Option<Duration> = "dfs.datanode.lifeline.interval.seconds", "", Seconds;
}
