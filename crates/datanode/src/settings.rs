//! What the DataNode takes from the configuration, read once at start.

use crate::error::Error;
use crate::outliers::{DiskSettings, OutlierLimits, PeerSettings};
use crate::scan::{BlockScannerSettings, DirectoryScannerSettings};
use crate::short_circuit::{CacheLimits, Limits, system_limit};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use zerohop_conf::keys::{
    ZEROHOP_DATANODE_SHORTCIRCUIT_SEGMENTS_MAX as SEGMENTS_MAX,
    ZEROHOP_DATANODE_SHORTCIRCUIT_SEGMENTS_MAX_PER_PROCESS as SEGMENTS_MAX_PER_PROCESS,
    ZEROHOP_DATANODE_SHORTCIRCUIT_SEGMENTS_MAX_PER_USER as SEGMENTS_MAX_PER_USER,
};
use zerohop_conf::{Conf, keys};
use zerohop_daemon::metrics::Intervals;
use zerohop_replica::DirectoryMode;

/// Extra time a node of a pipeline grants for each node behind it (`READ_TIMEOUT_EXTENSION`).
pub(crate) const TIMEOUT_EXTENSION: Duration = Duration::from_secs(5);

/// The settings of one DataNode.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) transfer_addr: SocketAddr,
    pub(crate) ipc_addr: SocketAddr,
    pub(crate) http_addr: SocketAddr,
    /// What the DataNode calls itself.
    pub(crate) host_name: String,
    pub(crate) data_dirs: Vec<String>,
    /// `dfs.datanode.data.dir.perm`
    pub(crate) data_dir_mode: DirectoryMode,
    /// How long the disk of a volume may take to answer a check.
    pub(crate) disk_check_timeout: Duration,
    /// The DataNode was started with `-rollback`.
    pub(crate) rolls_back: bool,
    pub(crate) failed_volumes_tolerated: i64,
    pub(crate) du_reserved: u64,
    pub(crate) du_reserved_pct: u64,
    pub(crate) volume_policy: VolumePolicy,
    /// `None` if replicas are not verified.
    pub(crate) block_scanner: Option<BlockScannerSettings>,
    /// `None` if disks and memory are not compared.
    pub(crate) directory_scanner: Option<DirectoryScannerSettings>,
    pub(crate) max_transfer_threads: usize,
    /// Longest wait for bytes of a peer (`dfs.client.socket-timeout`, which DataNodes use too).
    pub(crate) socket_timeout: Duration,
    /// Longest wait for a peer to take bytes.
    pub(crate) write_timeout: Duration,
    pub(crate) keep_alive: Duration,
    pub(crate) connect_by_name: bool,
    pub(crate) sendfile: bool,
    pub(crate) sync_on_close: bool,
    pub(crate) heartbeat_interval: Duration,
    /// Silence after which a NameNode gets a lifeline.
    pub(crate) lifeline_interval: Duration,
    pub(crate) block_report_initial_delay: Duration,
    pub(crate) balance_bandwidth: u64,
    /// `None`: slow peers are not looked for.
    pub(crate) peer_stats: Option<PeerSettings>,
    /// How disks are timed, and which of them count as slow.
    pub(crate) disk_stats: DiskSettings,
    pub(crate) outliers_interval: Duration,
    pub(crate) pool_ready_timeout: Duration,
    /// How long an unfinished replica waits for its writer over a restart.
    pub(crate) restart_expiry: Duration,
    /// The domain socket's path with `_PORT` in it; empty for none.
    pub(crate) domain_socket_path: String,
    /// Whether clients of this machine get descriptors (`dfs.client.read.shortcircuit`, which
    /// DataNodes read too).
    pub(crate) passes_descriptors: bool,
    /// Directories for shared memory where the kernel gives none without a file.
    pub(crate) shm_directories: Vec<String>,
    pub(crate) shm_limits: Limits,
    pub(crate) cache_limits: CacheLimits,
    /// Over which intervals percentiles are kept.
    pub(crate) percentile_intervals: Intervals,
    /// Handlers that Apache's RPC server would have: a measure of its queue.
    pub(crate) handlers: usize,
}

/// How the volume of a new replica is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum VolumePolicy {
    /// One after the other.
    RoundRobin {
        /// Bytes of each volume that new replicas leave free.
        left_free: u64,
    },
    /// More often those with more space.
    AvailableSpace {
        /// Volumes whose free space differs by less count as balanced.
        balanced_within: u64,
        /// Share of new replicas for the emptier ones.
        preference: f32,
    },
}

impl Settings {
    /// Reads the settings.
    pub(crate) fn read(conf: &Conf) -> Result<Self, Error> {
        let data_dirs = conf.get(&keys::DFS_DATANODE_DATA_DIR)?;
        let directories = i64::try_from(data_dirs.len()).unwrap_or(i64::MAX);
        Ok(Self {
            transfer_addr: address(conf, &keys::DFS_DATANODE_ADDRESS)?,
            ipc_addr: address(conf, &keys::DFS_DATANODE_IPC_ADDRESS)?,
            http_addr: address(conf, &keys::DFS_DATANODE_HTTP_ADDRESS)?,
            host_name: match conf.get(&keys::DFS_DATANODE_HOSTNAME)? {
                Some(name) if !name.is_empty() => name,
                _ => own_host_name(),
            },
            failed_volumes_tolerated: conf.get_as(
                &keys::DFS_DATANODE_FAILED_VOLUMES_TOLERATED,
                "-1, or a number below that of the directories of dfs.datanode.data.dir",
                |count| Some(i64::from(count)).filter(|c| (-1..directories.max(1)).contains(c)),
            )?,
            data_dirs,
            rolls_back: false,
            percentile_intervals: conf.get_as(
                &keys::DFS_METRICS_PERCENTILES_INTERVALS,
                Intervals::EXPECTED,
                |list| Intervals::parse(&list),
            )?,
            data_dir_mode: conf.get_as(
                &keys::DFS_DATANODE_DATA_DIR_PERM,
                "an octal number that lets the owner in, as 700",
                |text: String| DirectoryMode::parse(&text),
            )?,
            disk_check_timeout: conf.get_as(
                &keys::DFS_DATANODE_DISK_CHECK_TIMEOUT,
                "a time above 0",
                |time: Duration| Some(time).filter(|time| !time.is_zero()),
            )?,
            du_reserved: conf.get(&keys::DFS_DATANODE_DU_RESERVED)?,
            du_reserved_pct: conf.get_as(
                &keys::DFS_DATANODE_DU_RESERVED_PCT,
                "a number from 0 to 100",
                |share| u64::try_from(share).ok().filter(|share| *share <= 100),
            )?,
            volume_policy: VolumePolicy::read(conf)?,
            block_scanner: BlockScannerSettings::read(conf)?,
            directory_scanner: DirectoryScannerSettings::read(conf)?,
            max_transfer_threads: positive(conf, &keys::DFS_DATANODE_MAX_TRANSFER_THREADS)?,
            socket_timeout: never_zero(conf.get(&keys::DFS_CLIENT_SOCKET_TIMEOUT)?),
            write_timeout: never_zero(conf.get(&keys::DFS_DATANODE_SOCKET_WRITE_TIMEOUT)?),
            keep_alive: conf.get(&keys::DFS_DATANODE_SOCKET_REUSE_KEEPALIVE)?,
            connect_by_name: conf.get(&keys::DFS_DATANODE_USE_DATANODE_HOSTNAME)?,
            sendfile: conf.get(&keys::DFS_DATANODE_TRANSFERTO_ALLOWED)?,
            sync_on_close: conf.get(&keys::DFS_DATANODE_SYNCONCLOSE)?,
            heartbeat_interval: never_zero(conf.get(&keys::DFS_HEARTBEAT_INTERVAL)?),
            lifeline_interval: match conf.get(&keys::DFS_DATANODE_LIFELINE_INTERVAL_SECONDS)? {
                Some(interval) => never_zero(interval),
                None => never_zero(conf.get(&keys::DFS_HEARTBEAT_INTERVAL)?) * 3,
            },
            block_report_initial_delay: conf.get(&keys::DFS_BLOCKREPORT_INITIALDELAY)?,
            peer_stats: peer_stats(conf)?,
            disk_stats: disk_stats(conf)?,
            outliers_interval: conf.get(&keys::DFS_DATANODE_OUTLIERS_REPORT_INTERVAL)?,
            balance_bandwidth: conf.get(&keys::DFS_DATANODE_BALANCE_BANDWIDTHPERSEC)?,
            pool_ready_timeout: conf.get(&keys::DFS_DATANODE_BP_READY_TIMEOUT)?,
            restart_expiry: conf.get(&keys::DFS_DATANODE_RESTART_REPLICA_EXPIRATION)?,
            domain_socket_path: conf.get(&keys::DFS_DOMAIN_SOCKET_PATH)?.trim().to_owned(),
            passes_descriptors: conf.get(&keys::DFS_CLIENT_READ_SHORTCIRCUIT)?,
            shm_directories: conf.get(&keys::DFS_DATANODE_SHARED_FILE_DESCRIPTOR_PATHS)?,
            shm_limits: Limits {
                per_process: positive(conf, &SEGMENTS_MAX_PER_PROCESS)?,
                per_user: positive(conf, &SEGMENTS_MAX_PER_USER)?,
                total: positive(conf, &SEGMENTS_MAX)?,
            },
            cache_limits: cache_limits(conf)?,
            handlers: positive(conf, &keys::DFS_DATANODE_HANDLER_COUNT)?,
        })
    }
}

impl VolumePolicy {
    fn read(conf: &Conf) -> Result<Self, Error> {
        use keys::{
            DFS_DATANODE_AVAILABLE_SPACE_VOLUME_CHOOSING_POLICY_BALANCED_SPACE_PREFERENCE_FRACTION as FRACTION,
            DFS_DATANODE_AVAILABLE_SPACE_VOLUME_CHOOSING_POLICY_BALANCED_SPACE_THRESHOLD as THRESHOLD,
            DFS_DATANODE_FSDATASET_VOLUME_CHOOSING_POLICY as CLASS,
            DFS_DATANODE_ROUND_ROBIN_VOLUME_CHOOSING_POLICY_ADDITIONAL_AVAILABLE_SPACE as LEFT_FREE,
        };
        let in_turn = Self::RoundRobin { left_free: conf.get(&LEFT_FREE)? };
        let by_space = Self::AvailableSpace {
            balanced_within: conf.get(&THRESHOLD)?,
            preference: conf.get(&FRACTION)?,
        };
        let known = "RoundRobinVolumeChoosingPolicy or AvailableSpaceVolumeChoosingPolicy";
        let policy = conf.get_as(&CLASS, known, |class| {
            match class.rsplit('.').next().unwrap_or_default() {
                "RoundRobinVolumeChoosingPolicy" => Some(in_turn),
                "AvailableSpaceVolumeChoosingPolicy" => Some(by_space),
                _ => None,
            }
        });
        Ok(policy?)
    }
}

fn peer_stats(conf: &Conf) -> Result<Option<PeerSettings>, Error> {
    let is_enabled = conf.get(&keys::DFS_DATANODE_PEER_STATS_ENABLED)?;
    let count = |key| {
        conf.get_as(key, "a number above 0", |n: i64| u64::try_from(n).ok().filter(|n| *n > 0))
    };
    let settings = PeerSettings {
        samples_min: count(&keys::DFS_DATANODE_PEER_METRICS_MIN_OUTLIER_DETECTION_SAMPLES)?,
        limits: OutlierLimits {
            resources_min: count(&keys::DFS_DATANODE_MIN_OUTLIER_DETECTION_NODES)? as usize,
            low_threshold_ms: conf
                .get(&keys::DFS_DATANODE_SLOWPEER_LOW_THRESHOLD_MS)?
                .as_secs_f64()
                * 1000.0,
        },
    };
    Ok(Some(settings).filter(|_| is_enabled))
}

/// More than 100 is 100, and less than 0 is 0, as for Apache.
fn disk_stats(conf: &Conf) -> Result<DiskSettings, Error> {
    let percent = conf.get(&keys::DFS_DATANODE_FILEIO_PROFILING_SAMPLING_PERCENTAGE)?;
    let disks_min = conf.get_as(
        &keys::DFS_DATANODE_MIN_OUTLIER_DETECTION_DISKS,
        "a number above 0",
        |n: i64| usize::try_from(n).ok().filter(|n| *n > 0),
    )?;
    let low_threshold = conf.get(&keys::DFS_DATANODE_SLOWDISK_LOW_THRESHOLD_MS)?;
    Ok(DiskSettings {
        sampling_percent: percent.clamp(0, 100).unsigned_abs(),
        keeps_history: conf.get(&keys::ZEROHOP_DATANODE_HEATMAP_ENABLED)?,
        limits: OutlierLimits {
            resources_min: disks_min,
            low_threshold_ms: low_threshold.as_secs_f64() * 1000.0,
        },
        excluded_max: conf.get_as(
            &keys::DFS_DATANODE_MAX_SLOWDISKS_TO_EXCLUDE,
            "a number of 0 or more",
            |n: i32| usize::try_from(n).ok(),
        )?,
        interval: conf.get(&keys::DFS_DATANODE_OUTLIERS_REPORT_INTERVAL)?,
        slow_call: conf.get(&keys::DFS_DATANODE_SLOW_IO_WARNING_THRESHOLD_MS)?,
    })
}

fn cache_limits(conf: &Conf) -> Result<CacheLimits, Error> {
    let limits = CacheLimits {
        bytes: conf.get(&keys::DFS_DATANODE_MAX_LOCKED_MEMORY)?,
        revocation: conf.get(&keys::DFS_DATANODE_CACHE_REVOCATION_TIMEOUT_MS)?,
        polling: conf.get(&keys::DFS_DATANODE_CACHE_REVOCATION_POLLING_MS)?,
    };
    let allowed = system_limit();
    if limits.bytes > allowed {
        return Err(Error::Config(format!(
            "Cannot start datanode because the configured max locked memory size \
             ({}) of {} bytes is more than the datanode's available RLIMIT_MEMLOCK ulimit of \
             {allowed} bytes. Raise it (ulimit -l, LimitMEMLOCK=) or set less.",
            keys::DFS_DATANODE_MAX_LOCKED_MEMORY.name,
            limits.bytes
        )));
    }
    Ok(limits)
}

/// Zero means "no limit" in Hadoop; a socket option cannot say that and a day is as good.
fn never_zero(duration: Duration) -> Duration {
    if duration.is_zero() { Duration::from_secs(24 * 3600) } else { duration }
}

fn positive(conf: &Conf, key: &zerohop_conf::Key<i32>) -> Result<usize, Error> {
    let count = conf.get_as(key, "a number above 0", |count| {
        usize::try_from(count).ok().filter(|count| *count > 0)
    });
    Ok(count?)
}

fn address(conf: &Conf, key: &zerohop_conf::Key<String>) -> Result<SocketAddr, Error> {
    let addr = conf.get_as(key, "HOST:PORT of this machine", |text| {
        text.trim_start_matches("hdfs://").to_socket_addrs().ok()?.next()
    });
    Ok(addr?)
}

fn own_host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_name_key_value_origin_and_what_would_fit() {
        let mut base = Conf::new();
        base.set("dfs.datanode.data.dir", "/a,/b");
        base.set("dfs.datanode.failed.volumes.tolerated", "1");
        assert!(Settings::read(&base).is_ok());
        let directories = "-1, or a number below that of the directories of dfs.datanode.data.dir";
        let policies = "RoundRobinVolumeChoosingPolicy or AvailableSpaceVolumeChoosingPolicy";
        for (name, value, expected) in [
            ("dfs.datanode.failed.volumes.tolerated", "2", directories),
            ("dfs.datanode.failed.volumes.tolerated", "-2", directories),
            ("dfs.datanode.du.reserved.pct", "101", "a number from 0 to 100"),
            ("dfs.datanode.max.transfer.threads", "0", "a number above 0"),
            ("dfs.datanode.address", "nowhere", "HOST:PORT of this machine"),
            ("dfs.datanode.fsdataset.volume.choosing.policy", "a.Random", policies),
        ] {
            let mut conf = base.clone();
            conf.set_option(name, value);
            let error = Settings::read(&conf).unwrap_err().to_string();
            let wanted = format!("{name}: `{value}' from the command line is not {expected}");
            assert_eq!(error, wanted);
        }
    }
}
