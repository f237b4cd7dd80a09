//! Keys of core-site.xml: file system, RPC, security, topology.

use std::time::Duration;

use crate::key::keys;

keys! {
    /// Base of the directories that are not configured one by one.
    HADOOP_TMP_DIR: String = "hadoop.tmp.dir", "/tmp/hadoop-${user.name}", Plain;
    /// File system that a path without scheme and host belongs to.
    FS_DEFAULTFS: String = "fs.defaultFS", "file:///", Plain;
    /// How long a trash checkpoint is kept; 0 turns the trash off.
    FS_TRASH_INTERVAL: Duration = "fs.trash.interval", "0", Minutes;
    /// Time between trash checkpoints; 0 means the value of fs.trash.interval.
    FS_TRASH_CHECKPOINT_INTERVAL: Duration = "fs.trash.checkpoint.interval", "0", Minutes;
    /// Whether the emptier also deletes below .Trash what is no checkpoint.
    FS_TRASH_CLEAN_TRASHROOT_ENABLE: bool = "fs.trash.clean.trashroot.enable", "false", Plain;
    /// Directories that may not be deleted while they are not empty.
    FS_PROTECTED_DIRECTORIES: Vec<String> = "fs.protected.directories", "", Plain;
    /// Umask of new files and directories, octal or symbolic.
    FS_PERMISSIONS_UMASK_MODE: String = "fs.permissions.umask-mode", "022", Plain;
    /// How long a measured disk usage may be reused.
    FS_DF_INTERVAL: Duration = "fs.df.interval", "60000", Millis;
    /// How long a measured directory size may be reused.
    FS_DU_INTERVAL: Duration = "fs.du.interval", "600000", Millis;
    /// Whether a client follows symbolic links that lead to another file system.
    FS_CLIENT_RESOLVE_REMOTE_SYMLINKS: bool = "fs.client.resolve.remote.symlinks", "true", Plain;
    /// Whether the checksum side files of local files are verified on reading.
    FS_FILE_CHECKSUM_VERIFY: bool = "fs.file.checksum.verify", "true", Plain;
    /// Buffer of a copy between streams.
    IO_FILE_BUFFER_SIZE: i32 = "io.file.buffer.size", "4096", Bytes;
    /// Classes of codecs beside those that are built in; the extension of a file chooses one.
    IO_COMPRESSION_CODECS: Vec<String> = "io.compression.codecs", "", Plain;
    /// Extension of files that PassthroughCodec leaves as they are.
    IO_COMPRESS_PASSTHROUGH_EXTENSION: String = "io.compress.passthrough.extension", ".passthrough", Plain;
    /// Level of Zstandard.
    IO_COMPRESSION_CODEC_ZSTD_LEVEL: i32 = "io.compression.codec.zstd.level", "3", Plain;
    /// Block size of the Hadoop framing of LZO.
    IO_COMPRESSION_CODEC_LZO_BUFFERSIZE: i32 = "io.compression.codec.lzo.buffersize", "65536", Bytes;
    /// Block size of the Hadoop framing of Snappy.
    IO_COMPRESSION_CODEC_SNAPPY_BUFFERSIZE: i32 = "io.compression.codec.snappy.buffersize", "262144", Bytes;
    /// Block size of the Hadoop framing of LZ4.
    IO_COMPRESSION_CODEC_LZ4_BUFFERSIZE: i32 = "io.compression.codec.lz4.buffersize", "262144", Bytes;
    /// A client closes an RPC connection that was idle so long.
    IPC_CLIENT_CONNECTION_MAXIDLETIME: Duration = "ipc.client.connection.maxidletime", "10000", Millis;
    /// Number of connections from which the server looks for idle ones.
    IPC_CLIENT_IDLETHRESHOLD: i32 = "ipc.client.idlethreshold", "4000", Plain;
    /// Time between the server's searches for idle connections.
    IPC_CLIENT_CONNECTION_IDLE_SCAN_INTERVAL_MS: Duration = "ipc.client.connection.idle-scan-interval.ms", "10000", Millis;
    /// Most idle connections that one search closes.
    IPC_CLIENT_KILL_MAX: i32 = "ipc.client.kill.max", "10", Plain;
    /// Times a refused RPC connection is tried again.
    IPC_CLIENT_CONNECT_MAX_RETRIES: i32 = "ipc.client.connect.max.retries", "10", Plain;
    /// Wait between two attempts to connect.
    IPC_CLIENT_CONNECT_RETRY_INTERVAL: Duration = "ipc.client.connect.retry.interval", "1000", Millis;
    /// Longest wait for one RPC connection to open.
    IPC_CLIENT_CONNECT_TIMEOUT: Duration = "ipc.client.connect.timeout", "20000", Millis;
    /// Times a timed-out RPC connection is tried again.
    IPC_CLIENT_CONNECT_MAX_RETRIES_ON_TIMEOUTS: i32 = "ipc.client.connect.max.retries.on.timeouts", "45", Plain;
    /// Times a failed SASL set-up is tried again.
    IPC_CLIENT_CONNECT_MAX_RETRIES_ON_SASL: i32 = "ipc.client.connect.max.retries.on.sasl", "5", Plain;
    /// Whether RPC clients turn Nagle's algorithm off.
    IPC_CLIENT_TCPNODELAY: bool = "ipc.client.tcpnodelay", "true", Plain;
    /// Whether RPC clients mark their packets for low delay.
    IPC_CLIENT_LOW_LATENCY: bool = "ipc.client.low-latency", "false", Plain;
    /// Whether an RPC client pings a server that is slow to answer.
    IPC_CLIENT_PING: bool = "ipc.client.ping", "true", Plain;
    /// Silence after which a client pings the server.
    IPC_PING_INTERVAL: Duration = "ipc.ping.interval", "60000", Millis;
    /// Longest wait for one RPC answer; 0 waits for ever.
    IPC_CLIENT_RPC_TIMEOUT_MS: Duration = "ipc.client.rpc-timeout.ms", "120000", Millis;
    /// Whether a client binds to the wildcard address rather than to its principal's host.
    IPC_CLIENT_BIND_WILDCARD_ADDR: bool = "ipc.client.bind.wildcard.addr", "false", Plain;
    /// Whether a client that wants SASL accepts a server without it.
    IPC_CLIENT_FALLBACK_TO_SIMPLE_AUTH_ALLOWED: bool = "ipc.client.fallback-to-simple-auth-allowed", "false", Plain;
    /// Whether RPC servers turn Nagle's algorithm off.
    IPC_SERVER_TCPNODELAY: bool = "ipc.server.tcpnodelay", "true", Plain;
    /// Queued calls allowed for each handler.
    IPC_SERVER_HANDLER_QUEUE_SIZE: i32 = "ipc.server.handler.queue.size", "100", Plain;
    /// Answers larger than this are logged and their buffer is given back.
    IPC_SERVER_MAX_RESPONSE_SIZE: i32 = "ipc.server.max.response.size", "1048576", Bytes;
    /// Backlog of the listening socket.
    IPC_SERVER_LISTEN_QUEUE_SIZE: i32 = "ipc.server.listen.queue.size", "256", Plain;
    /// Whether calls that are much slower than the rest are logged.
    IPC_SERVER_LOG_SLOW_RPC: bool = "ipc.server.log.slow.rpc", "false", Plain;
    /// Calls faster than this are never logged as slow.
    IPC_SERVER_LOG_SLOW_RPC_THRESHOLD_MS: Duration = "ipc.server.log.slow.rpc.threshold.ms", "0", Millis;
    /// Threads that read requests from the connections.
    IPC_SERVER_READ_THREADPOOL_SIZE: i32 = "ipc.server.read.threadpool.size", "1", Plain;
    /// Whether the listening socket sets SO_REUSEADDR.
    IPC_SERVER_REUSEADDR: bool = "ipc.server.reuseaddr", "true", Plain;
    /// Most RPC connections a server accepts; 0 means three quarters of the descriptors of the process.
    IPC_SERVER_MAX_CONNECTIONS: i32 = "ipc.server.max.connections", "0", Plain;
    /// Time in which a client must take its answers, else its connection is closed.
    IPC_SERVER_PURGE_INTERVAL: Duration = "ipc.server.purge.interval", "15", Minutes;
    /// Time in which a connection must say who it is, and go on with a request it has begun; 0 means no limit (ours, not Hadoop's).
    ZEROHOP_IPC_SERVER_HANDSHAKE_TIMEOUT_MS: Duration = "zerohop.ipc.server.handshake.timeout.ms", "60000", Millis;
    /// Largest RPC request a server accepts.
    IPC_MAXIMUM_DATA_LENGTH: i32 = "ipc.maximum.data.length", "134217728", Bytes;
    /// Memory that all requests to one RPC port take at most, while they arrive and once they are decoded; connections beyond wait. 0 means four times ipc.maximum.data.length.
    ZEROHOP_IPC_SERVER_REQUEST_MEMORY_MAX: usize = "zerohop.ipc.server.request.memory.max", "0", Bytes;
    /// Largest RPC answer a client accepts.
    IPC_MAXIMUM_RESPONSE_LENGTH: i32 = "ipc.maximum.response.length", "134217728", Bytes;
    /// Whether a full call queue answers with a retriable error instead of blocking the connection.
    IPC_BACKOFF_ENABLE: bool = "ipc.backoff.enable", "false", Plain;
    /// Whether a call that is refused with backoff sends its client to another NameNode.
    IPC_CALLQUEUE_OVERFLOW_TRIGGER_FAILOVER: bool = "ipc.callqueue.overflow.trigger.failover", "false", Plain;
    /// Class of the call queue: FairCallQueue or LinkedBlockingQueue.
    IPC_CALLQUEUE_IMPL: String = "ipc.callqueue.impl", "java.util.concurrent.LinkedBlockingQueue", Plain;
    /// Class that gives calls a priority: DecayRpcScheduler or DefaultRpcScheduler.
    IPC_SCHEDULER_IMPL: String = "ipc.scheduler.impl", "org.apache.hadoop.ipc.DefaultRpcScheduler", Plain;
    /// How users prove who they are: simple or kerberos.
    HADOOP_SECURITY_AUTHENTICATION: String = "hadoop.security.authentication", "simple", Plain;
    /// Whether service-level authorization is checked. On the gateway: whether its protected pages are for administrators only, even if none are named.
    HADOOP_SECURITY_AUTHORIZATION: bool = "hadoop.security.authorization", "false", Plain;
    /// Class that finds a user's groups.
    HADOOP_SECURITY_GROUP_MAPPING: String = "hadoop.security.group.mapping", "org.apache.hadoop.security.JniBasedUnixGroupsMappingWithFallback", Plain;
    /// How long a user's groups are remembered.
    HADOOP_SECURITY_GROUPS_CACHE_SECS: Duration = "hadoop.security.groups.cache.secs", "300", Seconds;
    /// How long it is remembered that a user has no groups.
    HADOOP_SECURITY_GROUPS_NEGATIVE_CACHE_SECS: Duration = "hadoop.security.groups.negative-cache.secs", "30", Seconds;
    /// Whether old groups are used while they are looked up again in the background.
    HADOOP_SECURITY_GROUPS_CACHE_BACKGROUND_RELOAD: bool = "hadoop.security.groups.cache.background.reload", "false", Plain;
    /// Threads that do so.
    HADOOP_SECURITY_GROUPS_CACHE_BACKGROUND_RELOAD_THREADS: i32 = "hadoop.security.groups.cache.background.reload.threads", "3", Plain;
    /// A look-up of groups that takes longer is logged.
    HADOOP_SECURITY_GROUPS_CACHE_WARN_AFTER_MS: Duration = "hadoop.security.groups.cache.warn.after.ms", "5000", Millis;
    /// Fixed groups of users, as user=group,group;user=...
    HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES: String = "hadoop.user.group.static.mapping.overrides", "dr.who=;", Plain;
    /// Quality of protection of RPC: authentication, integrity, privacy.
    HADOOP_RPC_PROTECTION: Vec<String> = "hadoop.rpc.protection", "authentication", Plain;
    /// Address of the key management server of encryption zones.
    HADOOP_SECURITY_KEY_PROVIDER_PATH: Option<String> = "hadoop.security.key.provider.path", "", Plain;
    /// Names whose values are kept off pages, as regular expressions.
    HADOOP_SECURITY_SENSITIVE_CONFIG_KEYS: String = "hadoop.security.sensitive-config-keys", "secret$\n      password$\n      ssl.keystore.pass$\n      fs.s3a.server-side-encryption.key\n      fs.s3a.*.server-side-encryption.key\n      fs.s3a.encryption.algorithm\n      fs.s3a.encryption.key\n      fs.s3a.secret.key\n      fs.s3a.*.secret.key\n      fs.s3a.session.key\n      fs.s3a.*.session.key\n      fs.s3a.session.token\n      fs.s3a.*.session.token\n      fs.azure.account.key.*\n      fs.azure.oauth2.*\n      fs.adl.oauth2.*\n      fs.gs.encryption.*\n      fs.gs.proxy.*\n      fs.gs.auth.*\n      credential$\n      oauth.*secret\n      oauth.*password\n      oauth.*token\n      hadoop.security.sensitive-config-keys", Plain;
    /// Whether tokens name the service by address rather than by host name.
    HADOOP_SECURITY_TOKEN_SERVICE_USE_IP: bool = "hadoop.security.token.service.use_ip", "true", Plain;
    /// How long the name of a numeric user id is remembered.
    HADOOP_SECURITY_UID_CACHE_SECS: Duration = "hadoop.security.uid.cache.secs", "14400", Seconds;
    /// User that the web pages act as when nobody is logged in.
    HADOOP_HTTP_STATICUSER_USER: String = "hadoop.http.staticuser.user", "dr.who", Plain;
    /// Classes of filters in front of every HTTP port: `StaticUserWebFilter`, `HttpCrossOriginFilterInitializer`.
    HADOOP_HTTP_FILTER_INITIALIZERS: Vec<String> = "hadoop.http.filter.initializers", "org.apache.hadoop.http.lib.StaticUserWebFilter", Plain;
    /// Whether pages of other origins may read answers, if `hadoop.http.filter.initializers` names the filter, too.
    HADOOP_HTTP_CROSS_ORIGIN_ENABLED: bool = "hadoop.http.cross-origin.enabled", "false", Plain;
    /// Origins whose pages may read answers: `https://page.example`, with `*` for any text, or `regex:` before a regular expression.
    HADOOP_HTTP_CROSS_ORIGIN_ALLOWED_ORIGINS: Vec<String> = "hadoop.http.cross-origin.allowed-origins", "*", Plain;
    /// Methods that pages of other origins may use.
    HADOOP_HTTP_CROSS_ORIGIN_ALLOWED_METHODS: Vec<String> = "hadoop.http.cross-origin.allowed-methods", "GET,POST,HEAD", Plain;
    /// Headers that pages of other origins may send.
    HADOOP_HTTP_CROSS_ORIGIN_ALLOWED_HEADERS: Vec<String> = "hadoop.http.cross-origin.allowed-headers", "X-Requested-With,Content-Type,Accept,Origin", Plain;
    /// Seconds for which a browser may remember what pages of another origin may do; -1 forbids it.
    HADOOP_HTTP_CROSS_ORIGIN_MAX_AGE: i64 = "hadoop.http.cross-origin.max-age", "1800", Plain;
    /// Versions of TLS that the gateway speaks: `TLSv1.2`, `TLSv1.3`. If the key is not set, both.
    HADOOP_SSL_ENABLED_PROTOCOLS: Vec<String> = "hadoop.ssl.enabled.protocols", "TLSv1.2", Plain;
    /// Idle time after which an HTTP connection is closed.
    HADOOP_HTTP_IDLE_TIMEOUT_MS: Duration = "hadoop.http.idle_timeout.ms", "60000", Millis;
    /// Longest head of an HTTP request; 8192 at the least.
    HADOOP_HTTP_MAX_REQUEST_HEADER_SIZE: i32 = "hadoop.http.max.request.header.size", "65536", Bytes;
    /// Pages that are made at once; 256 at most, 32 where it is not positive.
    HADOOP_HTTP_MAX_THREADS: i32 = "hadoop.http.max.threads", "-1", Plain;
    /// Connections to an HTTP port at once from one address; more are closed. 0 means that there is no limit. The gateway has zerohop.gateway.connections.per.address.max.
    ZEROHOP_HTTP_CONNECTIONS_PER_ADDRESS_MAX: usize = "zerohop.http.connections.per.address.max", "1024", Plain;
    /// Reverse proxies before HTTP ports, the gateway's too, which the limits by address do not bind: host names, addresses, CIDR ranges, or `*`.
    ZEROHOP_HTTP_PROXIES: String = "zerohop.http.proxies", "", Plain;
    /// Bytes a second that a caller of an HTTP port has to send of a body or take of an answer; the connection of a slower one is closed. 0 means that there is no minimum. A DataNode has a minimum only if the key is set. The gateway has zerohop.gateway.rate.min.
    ZEROHOP_HTTP_RATE_MIN: u64 = "zerohop.http.rate.min", "1k", Bytes;
    /// Time that an HTTP port waits for a caller's bytes before each comparison of their rate with zerohop.http.rate.min.
    ZEROHOP_HTTP_RATE_GRACE_MS: Duration = "zerohop.http.rate.grace.ms", "30000", Millis;
    /// Whether the caller context of clients is written to the audit log.
    HADOOP_CALLER_CONTEXT_ENABLED: bool = "hadoop.caller.context.enabled", "false", Plain;
    /// Longest caller context that is kept.
    HADOOP_CALLER_CONTEXT_MAX_SIZE: i32 = "hadoop.caller.context.max.size", "128", Bytes;
    /// Longest signature of a caller context that is kept.
    HADOOP_CALLER_CONTEXT_SIGNATURE_MAX_SIZE: i32 = "hadoop.caller.context.signature.max.size", "40", Bytes;
    /// Separator of the fields of a caller context.
    HADOOP_CALLER_CONTEXT_SEPARATOR: String = "hadoop.caller.context.separator", ",", Plain;
    /// Whether the shell warns when it works on the local file system by default.
    HADOOP_SHELL_MISSING_DEFAULTFS_WARNING: bool = "hadoop.shell.missing.defaultFs.warning", "false", Plain;
    /// Number of files from which rm -safely asks back.
    HADOOP_SHELL_SAFELY_DELETE_LIMIT_NUM_FILES: i64 = "hadoop.shell.safely.delete.limit.num.files", "100", Plain;
    /// Longest wait for a service to stop.
    HADOOP_SERVICE_SHUTDOWN_TIMEOUT: Duration = "hadoop.service.shutdown.timeout", "30s", Seconds;
    /// Class that maps a host to its rack.
    NET_TOPOLOGY_NODE_SWITCH_MAPPING_IMPL: String = "net.topology.node.switch.mapping.impl", "org.apache.hadoop.net.ScriptBasedMapping", Plain;
    /// Class of the network topology.
    NET_TOPOLOGY_IMPL: String = "net.topology.impl", "org.apache.hadoop.net.NetworkTopology", Plain;
    /// Program that prints the rack of each host it is given.
    NET_TOPOLOGY_SCRIPT_FILE_NAME: Option<String> = "net.topology.script.file.name", "", Plain;
    /// Most hosts in one call of the rack script.
    NET_TOPOLOGY_SCRIPT_NUMBER_ARGS: i32 = "net.topology.script.number.args", "100", Plain;
    /// File with a host and its rack in each line.
    NET_TOPOLOGY_TABLE_FILE_NAME: Option<String> = "net.topology.table.file.name", "", Plain;
    /// Buffer of local file streams.
    FILE_STREAM_BUFFER_SIZE: i32 = "file.stream-buffer-size", "4096", Bytes;
    /// Bytes below one checksum of a local file.
    FILE_BYTES_PER_CHECKSUM: i32 = "file.bytes-per-checksum", "512", Bytes;
    /// Block size reported for local files.
    FILE_BLOCKSIZE: u64 = "file.blocksize", "67108864", Bytes;
    /// Whether /prom is served. Unlike Hadoop's, it is where the key is not set: it costs nothing until it is asked for.
    HADOOP_PROMETHEUS_ENDPOINT_ENABLED: bool = "hadoop.prometheus.endpoint.enabled", "false", Plain;
    /// Whether percentiles of the times of RPC calls are kept.
    RPC_METRICS_QUANTILE_ENABLE: bool = "rpc.metrics.quantile.enable", "false", Plain;
    /// Seconds of the intervals of these percentiles.
    RPC_METRICS_PERCENTILES_INTERVALS: Vec<String> = "rpc.metrics.percentiles.intervals", "", Plain;
    /// Seconds of the intervals of percentiles of syncs, packets and reports.
    DFS_METRICS_PERCENTILES_INTERVALS: Vec<String> = "dfs.metrics.percentiles.intervals", "", Plain;
}
