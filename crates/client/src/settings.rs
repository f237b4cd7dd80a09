//! The configuration of a client, read once.

use crate::error::Result;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys, umask};
use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};
use zerohop_wire::transfer::packet::{PACKET_LEN_MAX, PREFIX_LEN_MAX};

/// How often a DataNode's silence is extended by the length of the pipeline, and by how much.
const TIMEOUT_PER_NODE: Duration = Duration::from_secs(5);
/// Bytes of data in a packet where the configuration names no size: few calls for much data.
pub(crate) const PACKET_DATA_OWN: usize = 1 << 20;

/// When a DataNode that failed in a pipeline is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplacePolicy {
    /// Never, and the administrator has switched it off for all.
    Disabled,
    /// Never.
    Never,
    /// From replication 3 on, if half are gone or data was already made visible.
    Default,
    /// Always.
    Always,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) replication: u16,
    pub(crate) block_size: u64,
    pub(crate) checksum: DataChecksum,
    pub(crate) checksum_combine_mode: CombineMode,
    pub(crate) umask: u16,
    /// Header, sums and data of a packet.
    pub(crate) packet_len: usize,
    pub(crate) packets_in_flight_max: usize,
    pub(crate) packet_len_max: usize,
    pub(crate) socket_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) tcp_nodelay: bool,
    pub(crate) by_host_name: bool,
    pub(crate) pool_capacity: usize,
    pub(crate) pool_expiry: Duration,
    pub(crate) prefetch_len: Option<u64>,
    pub(crate) acquire_failures_max: u32,
    pub(crate) retry_window: Duration,
    pub(crate) last_block_len_retries: u32,
    pub(crate) last_block_len_interval: Duration,
    pub(crate) block_write_retries: u32,
    pub(crate) following_block_retries: u32,
    pub(crate) following_block_delay: Duration,
    pub(crate) following_block_delay_max: Duration,
    pub(crate) replace_policy: ReplacePolicy,
    pub(crate) replace_best_effort: bool,
    pub(crate) replace_min_replication: usize,
    pub(crate) recovery_retries: u32,
    pub(crate) restart_timeout: Duration,
    pub(crate) excluded_expiry: Duration,
    pub(crate) slow_node_threshold: u32,
    /// An acknowledgement that takes longer is logged.
    pub(crate) slow_io: Duration,
    pub(crate) home_prefix: String,
    pub(crate) local: LocalSettings,
    pub(crate) hedge: HedgeSettings,
    pub(crate) recover_lease_on_close: bool,
}

/// How replicas of this machine are read.
#[derive(Clone, Debug)]
pub(crate) struct LocalSettings {
    /// Whether local replicas are read from their files.
    pub(crate) shortcircuit: bool,
    /// Whether those reads leave the checksums out.
    pub(crate) skip_checksum: bool,
    /// Whether other block data of this machine moves through the domain socket.
    pub(crate) data_traffic: bool,
    /// With `_PORT`; empty where none is configured.
    pub(crate) socket_path: String,
    pub(crate) socket_timeout: Duration,
    /// How long a socket that failed is not used.
    pub(crate) disabled_for: Duration,
    pub(crate) cache_size: usize,
    pub(crate) cache_expiry: Duration,
    /// How long a replica without a slot is trusted.
    pub(crate) trusted_for: Duration,
    /// Whether block files are mapped.
    pub(crate) map: bool,
    /// Whether they are opened by their paths, the legacy way.
    pub(crate) by_path: bool,
}

/// When a second DataNode is asked for what the first one is slow to give.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HedgeSettings {
    /// Attempts with a thread of their own; 0: no read is hedged.
    pub(crate) pool_size: usize,
    pub(crate) threshold: Duration,
}

impl LocalSettings {
    fn from_conf(conf: &Conf) -> Result<Self> {
        let size = conf.get(&keys::DFS_CLIENT_READ_SHORTCIRCUIT_STREAMS_CACHE_SIZE)?;
        Ok(Self {
            shortcircuit: conf.get(&keys::DFS_CLIENT_READ_SHORTCIRCUIT)?,
            skip_checksum: conf.get(&keys::DFS_CLIENT_READ_SHORTCIRCUIT_SKIP_CHECKSUM)?,
            data_traffic: conf.get(&keys::DFS_CLIENT_DOMAIN_SOCKET_DATA_TRAFFIC)?,
            socket_path: conf.get(&keys::DFS_DOMAIN_SOCKET_PATH)?,
            socket_timeout: conf.get(&keys::DFS_CLIENT_SOCKET_TIMEOUT)?,
            disabled_for: conf.get(&keys::DFS_DOMAIN_SOCKET_DISABLE_INTERVAL_SECONDS)?,
            cache_size: usize::try_from(size).unwrap_or(0),
            cache_expiry: conf.get(&keys::DFS_CLIENT_READ_SHORTCIRCUIT_STREAMS_CACHE_EXPIRY_MS)?,
            trusted_for: conf.get(&keys::DFS_CLIENT_SHORT_CIRCUIT_REPLICA_STALE_THRESHOLD_MS)?,
            map: conf.get(&keys::DFS_CLIENT_MMAP_ENABLED)?,
            by_path: conf.get(&keys::DFS_CLIENT_USE_LEGACY_BLOCKREADER_LOCAL)?,
        })
    }
}

impl Settings {
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self> {
        let count = |key| conf.get(key).map(|n: i32| u32::try_from(n).unwrap_or(0));
        let checksum = checksum(conf)?;
        let packet_len = match conf.is_set(keys::DFS_CLIENT_WRITE_PACKET_SIZE.name) {
            true => conf.get(&keys::DFS_CLIENT_WRITE_PACKET_SIZE)?.max(0) as usize,
            false => packet_len(PACKET_DATA_OWN, checksum),
        };
        Ok(Self {
            // `None`: the NameNode decides, and its error names the minimum.
            replication: conf.get_as(
                &keys::DFS_REPLICATION,
                "a number from 0 to 32767",
                |count| u16::try_from(count).ok().filter(|count| *count <= i16::MAX as u16),
            )?,
            block_size: conf.get(&keys::DFS_BLOCKSIZE)?,
            checksum,
            checksum_combine_mode: combine_mode(conf),
            umask: umask::configured(conf)?,
            packet_len: packet_len.min(PACKET_LEN_MAX),
            packets_in_flight_max: count(&keys::DFS_CLIENT_WRITE_MAX_PACKETS_IN_FLIGHT)?.max(1)
                as usize,
            packet_len_max: conf.get(&keys::DFS_DATA_TRANSFER_MAX_PACKET_SIZE)?.max(0) as usize,
            socket_timeout: conf.get(&keys::DFS_CLIENT_SOCKET_TIMEOUT)?,
            write_timeout: conf.get(&keys::DFS_DATANODE_SOCKET_WRITE_TIMEOUT)?,
            tcp_nodelay: conf.get(&keys::DFS_DATA_TRANSFER_CLIENT_TCPNODELAY)?,
            by_host_name: conf.get(&keys::DFS_CLIENT_USE_DATANODE_HOSTNAME)?,
            pool_capacity: count(&keys::DFS_CLIENT_SOCKETCACHE_CAPACITY)? as usize,
            pool_expiry: conf.get(&keys::DFS_CLIENT_SOCKETCACHE_EXPIRYMSEC)?,
            prefetch_len: conf.get(&keys::DFS_CLIENT_READ_PREFETCH_SIZE)?,
            acquire_failures_max: count(&keys::DFS_CLIENT_MAX_BLOCK_ACQUIRE_FAILURES)?,
            retry_window: conf.get(&keys::DFS_CLIENT_RETRY_WINDOW_BASE)?,
            last_block_len_retries: count(&keys::DFS_CLIENT_RETRY_TIMES_GET_LAST_BLOCK_LENGTH)?,
            last_block_len_interval: conf
                .get(&keys::DFS_CLIENT_RETRY_INTERVAL_MS_GET_LAST_BLOCK_LENGTH)?,
            block_write_retries: count(&keys::DFS_CLIENT_BLOCK_WRITE_RETRIES)?,
            following_block_retries: count(
                &keys::DFS_CLIENT_BLOCK_WRITE_LOCATEFOLLOWINGBLOCK_RETRIES,
            )?,
            following_block_delay: conf
                .get(&keys::DFS_CLIENT_BLOCK_WRITE_LOCATEFOLLOWINGBLOCK_INITIAL_DELAY_MS)?,
            following_block_delay_max: conf
                .get(&keys::DFS_CLIENT_BLOCK_WRITE_LOCATEFOLLOWINGBLOCK_MAX_DELAY_MS)?,
            replace_policy: replace_policy(conf)?,
            replace_best_effort: conf
                .get(&keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_BEST_EFFORT)?,
            replace_min_replication: count(
                &keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_MIN_REPLICATION,
            )? as usize,
            recovery_retries: count(&keys::DFS_CLIENT_PIPELINE_RECOVERY_MAX_RETRIES)?,
            restart_timeout: conf.get(&keys::DFS_CLIENT_DATANODE_RESTART_TIMEOUT)?,
            excluded_expiry: conf
                .get(&keys::DFS_CLIENT_WRITE_EXCLUDE_NODES_CACHE_EXPIRY_INTERVAL_MILLIS)?,
            slow_node_threshold: count(&keys::DFS_CLIENT_MARK_SLOWNODE_AS_BADNODE_THRESHOLD)?,
            slow_io: conf.get(&keys::DFS_CLIENT_SLOW_IO_WARNING_THRESHOLD_MS)?,
            home_prefix: conf.get(&keys::DFS_USER_HOME_DIR_PREFIX)?,
            local: LocalSettings::from_conf(conf)?,
            hedge: HedgeSettings {
                pool_size: count(&keys::DFS_CLIENT_HEDGED_READ_THREADPOOL_SIZE)? as usize,
                threshold: conf.get(&keys::DFS_CLIENT_HEDGED_READ_THRESHOLD_MILLIS)?,
            },
            recover_lease_on_close: conf
                .get(&keys::DFS_CLIENT_WRITE_RECOVER_LEASE_ON_CLOSE_EXCEPTION)?,
        })
    }

    /// How long an answer of a pipeline of `nodes` DataNodes may take.
    pub(crate) fn pipeline_read_timeout(&self, nodes: usize) -> Duration {
        extended(self.socket_timeout, nodes)
    }

    /// How long a pipeline of `nodes` DataNodes may take nothing.
    pub(crate) fn pipeline_write_timeout(&self, nodes: usize) -> Duration {
        extended(self.write_timeout, nodes)
    }
}

/// Bytes of a packet with header, checksums and so much data.
fn packet_len(data_len: usize, checksum: DataChecksum) -> usize {
    PREFIX_LEN_MAX + checksum.sums_len(data_len) + data_len
}

fn extended(timeout: Duration, nodes: usize) -> Duration {
    if timeout.is_zero() { timeout } else { timeout + TIMEOUT_PER_NODE * nodes as u32 }
}

/// How a file's checksum is made of those of its blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CombineMode {
    /// MD5 of the blocks' MD5s of their chunks' sums.
    #[default]
    Md5,
    /// The CRC of the whole file.
    Composite,
}

/// Hadoop's client warns of a wrong value of these two keys and uses the default.
fn or_default<T>(read: std::result::Result<T, ConfError>, default: T, name: &str) -> T {
    read.unwrap_or_else(|error| {
        tracing::warn!("{error}; using {name}");
        default
    })
}

fn combine_mode(conf: &Conf) -> CombineMode {
    let read =
        conf.get_as(&keys::DFS_CHECKSUM_COMBINE_MODE, "one of MD5MD5CRC, COMPOSITE_CRC", |name| {
            match name.as_str() {
                "MD5MD5CRC" => Some(CombineMode::Md5),
                "COMPOSITE_CRC" => Some(CombineMode::Composite),
                _ => None,
            }
        });
    or_default(read, CombineMode::Md5, "MD5MD5CRC")
}

fn checksum(conf: &Conf) -> Result<DataChecksum> {
    let kind =
        conf.get_as(&keys::DFS_CHECKSUM_TYPE, "one of CRC32C, CRC32, NULL", |name: String| {
            ChecksumType::from_name(&name)
        });
    let kind = or_default(kind, ChecksumType::Crc32c, "CRC32C");
    let sum = conf.get_as(&keys::DFS_BYTES_PER_CHECKSUM, "a number of bytes above 0", |bytes| {
        DataChecksum::new(kind, u32::try_from(bytes).ok()?).ok()
    });
    Ok(sum?)
}

fn replace_policy(conf: &Conf) -> Result<ReplacePolicy> {
    if !conf.get(&keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_ENABLE)? {
        return Ok(ReplacePolicy::Disabled);
    }
    let key = keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_POLICY;
    let policy = conf.get_as(&key, "one of DEFAULT, ALWAYS, NEVER", |name| {
        match name.to_ascii_uppercase().as_str() {
            "NEVER" => Some(ReplacePolicy::Never),
            "DEFAULT" => Some(ReplacePolicy::Default),
            "ALWAYS" => Some(ReplacePolicy::Always),
            _ => None,
        }
    });
    Ok(policy?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_name_key_value_origin_and_what_would_fit() {
        let refused = |name: &str, value: &str| {
            let mut conf = Conf::new();
            conf.set_option(name, value);
            Settings::from_conf(&conf).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let policy = "dfs.client.block.write.replace-datanode-on-failure.policy";
        for (name, value, expected) in [
            ("dfs.replication", "40000", "a number from 0 to 32767"),
            ("dfs.bytes-per-checksum", "0", "a number of bytes above 0"),
            (policy, "SOMETIMES", "one of DEFAULT, ALWAYS, NEVER"),
            (
                "fs.permissions.umask-mode",
                "0x",
                "an octal (022) or symbolic (u=rwx,g=rx,o=rx) umask",
            ),
            (
                "dfs.client.socket-timeout",
                "soon",
                "a time (a number with ns, us, ms, s, m, h, d or no suffix)",
            ),
        ] {
            let wanted = format!("{name}: `{value}' from the command line is not {expected}");
            assert_eq!(refused(name, value), wanted);
        }
        // Hadoop's client warns of these two.
        for name in ["dfs.checksum.type", "dfs.checksum.combine.mode"] {
            assert_eq!(refused(name, "FOO"), "");
        }
    }

    #[test]
    fn the_defaults_are_hadoop_s() {
        let settings = Settings::from_conf(&Conf::new()).unwrap();
        assert_eq!((settings.replication, settings.block_size), (3, 128 << 20));
        assert_eq!(settings.replace_policy, ReplacePolicy::Default);
        assert_eq!(settings.pipeline_read_timeout(3), Duration::from_secs(75));
        let mut conf = Conf::new();
        conf.set("dfs.client-write-packet-size", "64k");
        assert_eq!(Settings::from_conf(&conf).unwrap().packet_len, 65536);
    }
}
