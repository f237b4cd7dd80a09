//! What the configuration says, read once at the start.

use crate::Error;
use crate::audit::AuditSettings;
use crate::lock_holds::HoldThresholds;
use crate::trash_policy::TrashPolicy;
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, Key, keys};
use zerohop_namespace::NamespaceParams;
use zerohop_namespace::blocks::{BlockParams, SlowLimits};
use zerohop_proto::hdfs::{ChecksumTypeProto, FsServerDefaultsProto};
use zerohop_system::random;
use zerohop_transport::login::User;

/// Entries in a page of a listing where dfs.ls.limit makes no sense.
const LIST_LIMIT: usize = 1000;
/// What stands for a dfs.namenode.excess.redundancy.timeout-sec that makes no sense.
const EXCESS_TIMEOUT_SEC: u64 = 3600;
/// The same for dfs.namenode.excess.redundancy.timeout.check.limit.
const EXCESS_CHECK_LIMIT: u64 = 1000;
/// The port of the NameNode's RPC where none is named.
const RPC_PORT: u16 = 8020;

/// Settings of the services around the namespace.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where to listen, `host:port`.
    pub(crate) rpc_bind: String,
    /// A second port for DataNodes and administration, if asked for.
    pub(crate) service_bind: Option<String>,
    pub(crate) http_bind: String,
    /// Only the length of the call queue depends on it here.
    /// `host:port` of `dfs.namenode.lifeline.rpc-address`, if it is set.
    pub(crate) lifeline_bind: Option<String>,
    pub(crate) handlers: usize,
    /// Threads that serve RPC connections.
    pub(crate) readers: usize,
    pub(crate) server_defaults: FsServerDefaultsProto,
    pub(crate) block_params: BlockParams,
    pub(crate) namespace_params: NamespaceParams,
    /// A DataNode's address must resolve to a name.
    pub(crate) registration_check: bool,
    pub(crate) retry_cache: bool,
    pub(crate) retry_expiry: Duration,
    pub(crate) lease_recheck: Duration,
    /// The longest a call is held for a report; then it gets the answer it would have got at once.
    pub(crate) held_max: Duration,
    pub(crate) cache_refresh: Duration,
    /// Paths in one batched listing.
    pub(crate) batched_listing_max: usize,
    pub(crate) lock_holds: HoldThresholds,
    /// The rules of the trash emptier, or `None` if the trash is off.
    pub(crate) trash: Option<TrashPolicy>,
    /// At the start.
    pub(crate) adjustable: Adjustable,
    /// Inodes that a walk over a subtree looks at before it gives the lock up.
    pub(crate) walk_slice: usize,
    /// How long it leaves the lock to others then.
    pub(crate) walk_pause: Duration,
}

/// Settings that may change while the NameNode runs, besides those of the namespace.
#[derive(Clone, Debug)]
pub(crate) struct Adjustable {
    pub(crate) slow_reports: SlowReportSettings,
    pub(crate) audit: Arc<AuditSettings>,
}

impl Adjustable {
    fn from_conf(conf: &Conf) -> Result<Self, Error> {
        let slow_reports = SlowReportSettings {
            peers: conf.get(&keys::DFS_DATANODE_PEER_STATS_ENABLED)?,
            peers_max: above_zero(conf, &keys::DFS_DATANODE_MAX_NODES_TO_REPORT)? as usize,
            disks_max: above_zero(conf, &keys::DFS_DATANODE_MAX_DISKS_TO_REPORT)? as usize,
        };
        Ok(Self { slow_reports, audit: Arc::new(AuditSettings::from_conf(conf)?) })
    }

    /// All settings that may change.
    pub(crate) fn with_params(conf: &Conf) -> Result<(BlockParams, NamespaceParams, Self), Error> {
        Ok((block_params(conf)?, namespace_params(conf)?, Self::from_conf(conf)?))
    }
}

/// What becomes of DataNodes' reports of slow DataNodes and disks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowReportSettings {
    /// Slow DataNodes are taken notice of.
    pub(crate) peers: bool,
    /// How many of them, and of disks, `/jmx` lists.
    pub(crate) peers_max: usize,
    pub(crate) disks_max: usize,
}

impl Settings {
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, Error> {
        let rpc = rpc_address(conf)?;
        let service =
            conf.get(&keys::DFS_NAMENODE_SERVICERPC_ADDRESS)?.filter(|address| !address.is_empty());
        let service_host = conf.get(&keys::DFS_NAMENODE_SERVICERPC_BIND_HOST)?;
        let lifeline = conf
            .get(&keys::DFS_NAMENODE_LIFELINE_RPC_ADDRESS)?
            .filter(|address| !address.is_empty());
        let lifeline_host = conf.get(&keys::DFS_NAMENODE_LIFELINE_RPC_BIND_HOST)?;
        let http = conf.get(&keys::DFS_NAMENODE_HTTP_ADDRESS)?;
        Ok(Self {
            rpc_bind: with_host(&rpc, conf.get(&keys::DFS_NAMENODE_RPC_BIND_HOST)?.as_deref()),
            lifeline_bind: lifeline.map(|address| with_host(&address, lifeline_host.as_deref())),
            service_bind: service.map(|address| with_host(&address, service_host.as_deref())),
            http_bind: with_host(&http, conf.get(&keys::DFS_NAMENODE_HTTP_BIND_HOST)?.as_deref()),
            handlers: conf.get(&keys::DFS_NAMENODE_HANDLER_COUNT)?.max(1) as usize,
            readers: readers(conf.get(&keys::IPC_SERVER_READ_THREADPOOL_SIZE)?),
            server_defaults: server_defaults(conf)?,
            block_params: block_params(conf)?,
            namespace_params: namespace_params(conf)?,
            registration_check: conf
                .get(&keys::DFS_NAMENODE_DATANODE_REGISTRATION_IP_HOSTNAME_CHECK)?,
            retry_cache: conf.get(&keys::DFS_NAMENODE_ENABLE_RETRYCACHE)?,
            retry_expiry: conf.get(&keys::DFS_NAMENODE_RETRYCACHE_EXPIRYTIME_MILLIS)?,
            lease_recheck: conf.get(&keys::DFS_NAMENODE_LEASE_RECHECK_INTERVAL_MS)?,
            held_max: conf.get(&keys::ZEROHOP_NAMENODE_REPORT_WAIT_MAX_MS)?,
            cache_refresh: conf.get(&keys::DFS_NAMENODE_PATH_BASED_CACHE_REFRESH_INTERVAL_MS)?,
            batched_listing_max: above_zero(conf, &keys::DFS_BATCHED_LS_LIMIT)? as usize,
            lock_holds: HoldThresholds::from_conf(conf)?,
            trash: TrashPolicy::from_conf(conf)?,
            adjustable: Adjustable::from_conf(conf)?,
            walk_slice: match conf.get(&keys::DFS_CONTENT_SUMMARY_LIMIT)? {
                limit @ 1.. => limit as usize,
                _ => usize::MAX,
            },
            walk_pause: Duration::from_micros(conf.get(&keys::DFS_CONTENT_SUMMARY_SLEEP_MICROSEC)?),
        })
    }
}

impl Settings {
    /// What formatting needs: no address has to be known for it.
    pub(crate) fn from_conf_for_format(
        conf: &Conf,
    ) -> Result<(BlockParams, NamespaceParams), Error> {
        Ok((block_params(conf)?, namespace_params(conf)?))
    }
}

/// `host:port` clients use: dfs.namenode.rpc-address, else the authority of fs.defaultFS.
fn rpc_address(conf: &Conf) -> Result<String, Error> {
    if let Some(address) =
        conf.get(&keys::DFS_NAMENODE_RPC_ADDRESS)?.filter(|address| !address.is_empty())
    {
        return Ok(with_port(&address));
    }
    match conf.default_hdfs()? {
        Some(authority) => Ok(authority.address()),
        None => Err(Error::Invalid(format!(
            "Invalid URI for NameNode address (check fs.defaultFS): {} has no authority; set fs.defaultFS to \
             hdfs://HOST:PORT or set dfs.namenode.rpc-address",
            conf.default_fs()?
        ))),
    }
}

fn with_port(address: &str) -> String {
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { address.to_owned() } else { format!("{address}:{RPC_PORT}") }
}

fn with_host(address: &str, host: Option<&str>) -> String {
    match (host.filter(|host| !host.is_empty()), address.rsplit_once(':')) {
        (Some(host), Some((_, port))) => format!("{host}:{port}"),
        _ => address.to_owned(),
    }
}

/// At least as many as configured. The namespace changes under one lock: half of the cores serve all
/// changes that it takes, and the other half is left to the disk's and the other daemons' work.
fn readers(configured: i32) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    (cores / 2).clamp(1, 8).max(usize::try_from(configured).unwrap_or(1))
}

fn server_defaults(conf: &Conf) -> Result<FsServerDefaultsProto, Error> {
    let expected = "one of CRC32C, CRC32, NULL";
    let checksum_type = conf.get_as(&keys::DFS_CHECKSUM_TYPE, expected, |name| {
        match name.to_ascii_uppercase().as_str() {
            "CRC32" => Some(ChecksumTypeProto::ChecksumCrc32),
            "CRC32C" => Some(ChecksumTypeProto::ChecksumCrc32c),
            "NULL" => Some(ChecksumTypeProto::ChecksumNull),
            _ => None,
        }
    })?;
    Ok(FsServerDefaultsProto {
        block_size: conf.get(&keys::DFS_BLOCKSIZE)?,
        bytes_per_checksum: above_zero(conf, &keys::DFS_BYTES_PER_CHECKSUM)?,
        write_packet_size: above_zero(conf, &keys::DFS_CLIENT_WRITE_PACKET_SIZE)?,
        replication: replicas(conf, &keys::DFS_REPLICATION)?.into(),
        file_buffer_size: above_zero(conf, &keys::IO_FILE_BUFFER_SIZE)?,
        encrypt_data_transfer: Some(false),
        trash_interval: Some(conf.get(&keys::FS_TRASH_INTERVAL)?.as_secs() / 60),
        checksum_type: Some(checksum_type.into()),
        key_provider_uri: Some(String::new()),
        // HOT, which files have that say nothing.
        policy_id: Some(7),
        snapshot_trash_root_enabled: Some(false),
    })
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis() as u64
}

/// Hadoop takes its own default for what is not above 0.
fn or_default(conf: &Conf, key: &Key<i64>, default: u64) -> Result<u64, ConfError> {
    Ok(u64::try_from(conf.get(key)?).ok().filter(|value| *value > 0).unwrap_or(default))
}

fn above_zero(conf: &Conf, key: &Key<i32>) -> Result<u32, ConfError> {
    conf.get_as(key, "a number above 0", |number| u32::try_from(number).ok().filter(|n| *n > 0))
}

/// A number of replicas; Hadoop keeps it as a Java short.
fn replicas(conf: &Conf, key: &Key<i32>) -> Result<u16, ConfError> {
    conf.get_as(key, "a number from 1 to 32767", |count| {
        u16::try_from(count).ok().filter(|count| (1..=i16::MAX as u16).contains(count))
    })
}

/// The least and the most that a file may ask for.
fn replication_limits(conf: &Conf) -> Result<(u16, u16), ConfError> {
    let max = replicas(conf, &keys::DFS_REPLICATION_MAX)?;
    let min = replicas(conf, &keys::DFS_NAMENODE_REPLICATION_MIN)?;
    if min > max {
        let name = keys::DFS_NAMENODE_REPLICATION_MIN.name;
        return Err(conf.misfit(name, "a number that dfs.replication.max allows"));
    }
    Ok((min, max))
}

fn block_params(conf: &Conf) -> Result<BlockParams, Error> {
    let (replication_min, replication_max) = replication_limits(conf)?;
    let replication_default = replicas(conf, &keys::DFS_REPLICATION)?;
    Ok(BlockParams {
        replication_min,
        replication_max,
        replication_default,
        transfer_streams_max: conf.get(&keys::DFS_NAMENODE_REPLICATION_MAX_STREAMS)?.max(0)
            as usize,
        transfer_streams_hard_max: conf
            .get(&keys::DFS_NAMENODE_REPLICATION_MAX_STREAMS_HARD_LIMIT)?
            .max(0) as usize,
        invalidate_limit: conf.get(&keys::DFS_BLOCK_INVALIDATE_LIMIT)?.max(1) as usize,
        maintenance_replication_min: conf.get_as(
            &keys::DFS_NAMENODE_MAINTENANCE_REPLICATION_MIN,
            "a number from 0 to dfs.replication",
            |count| u16::try_from(count).ok().filter(|count| *count <= replication_default),
        )?,
        deletion_delay_ms: millis(conf.get(&keys::DFS_NAMENODE_STARTUP_DELAY_BLOCK_DELETION_SEC)?),
        excess_timeout_ms: or_default(
            conf,
            &keys::DFS_NAMENODE_EXCESS_REDUNDANCY_TIMEOUT_SEC,
            EXCESS_TIMEOUT_SEC,
        )?
        .saturating_mul(1000),
        excess_timeout_check_limit: or_default(
            conf,
            &keys::DFS_NAMENODE_EXCESS_REDUNDANCY_TIMEOUT_CHECK_LIMIT,
            EXCESS_CHECK_LIMIT,
        )? as usize,
        work_multiplier: above_zero(
            conf,
            &keys::DFS_NAMENODE_REPLICATION_WORK_MULTIPLIER_PER_ITERATION,
        )? as usize,
        pending_timeout_ms: millis(
            conf.get(&keys::DFS_NAMENODE_RECONSTRUCTION_PENDING_TIMEOUT_SEC)?,
        ),
        redundancy_interval_ms: millis(conf.get(&keys::DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS)?),
        heartbeat_interval_ms: millis(conf.get(&keys::DFS_HEARTBEAT_INTERVAL)?),
        heartbeat_recheck_ms: millis(conf.get(&keys::DFS_NAMENODE_HEARTBEAT_RECHECK_INTERVAL)?),
        stale_interval_ms: conf.get_as(
            &keys::DFS_NAMENODE_STALE_DATANODE_INTERVAL,
            "a time above 0",
            |interval| Some(millis(interval)).filter(|ms| *ms > 0),
        )?,
        slow_limits: SlowLimits {
            valid_ms: millis(conf.get(&keys::DFS_DATANODE_OUTLIERS_REPORT_INTERVAL)?)
                .saturating_mul(3),
            nodes_max: above_zero(conf, &keys::DFS_NAMENODE_MAX_SLOWPEER_COLLECT_NODES)? as usize,
        },
        avoid_slow_for_read: conf.get(&keys::DFS_NAMENODE_AVOID_READ_SLOW_DATANODE)?,
        avoid_slow_for_write: conf
            .get(&keys::DFS_NAMENODE_BLOCK_PLACEMENT_POLICY_EXCLUDE_SLOW_NODES_ENABLED)?,
        avoid_stale_for_read: conf.get(&keys::DFS_NAMENODE_AVOID_READ_STALE_DATANODE)?,
        avoid_stale_for_write: conf.get(&keys::DFS_NAMENODE_AVOID_WRITE_STALE_DATANODE)?,
        stale_for_write_ratio: conf.get_as(
            &keys::DFS_NAMENODE_WRITE_STALE_DATANODE_RATIO,
            "a number above 0 and up to 1",
            |ratio| Some(ratio).filter(|ratio| *ratio > 0.0 && *ratio <= 1.0),
        )?,
        report_leases_max: conf.get(&keys::DFS_NAMENODE_MAX_FULL_BLOCK_REPORT_LEASES)?.max(1)
            as usize,
        report_lease_ms: millis(conf.get(&keys::DFS_NAMENODE_FULL_BLOCK_REPORT_LEASE_LENGTH_MS)?),
        cache_retry_ms: millis(conf.get(&keys::DFS_NAMENODE_PATH_BASED_CACHE_RETRY_INTERVAL_MS)?),
        consider_load: conf.get(&keys::DFS_NAMENODE_REDUNDANCY_CONSIDERLOAD)?,
        consider_load_factor: conf.get(&keys::DFS_NAMENODE_REDUNDANCY_CONSIDERLOAD_FACTOR)?,
        safemode_threshold: conf.get(&keys::DFS_NAMENODE_SAFEMODE_THRESHOLD_PCT)?,
        safemode_replication_min: match conf.get(&keys::DFS_NAMENODE_SAFEMODE_REPLICATION_MIN)? {
            Some(count) => u16::try_from(count.max(1)).unwrap_or(u16::MAX),
            None => replication_min,
        },
        safemode_min_datanodes: conf.get(&keys::DFS_NAMENODE_SAFEMODE_MIN_DATANODES)?.max(0) as u32,
        safemode_extension_ms: millis(conf.get(&keys::DFS_NAMENODE_SAFEMODE_EXTENSION)?),
        seed: random::u64(..),
    })
}

fn namespace_params(conf: &Conf) -> Result<NamespaceParams, Error> {
    let (replication_min, replication_max) = replication_limits(conf)?;
    Ok(NamespaceParams {
        superuser: User::of_process().name,
        supergroup: conf.get(&keys::DFS_PERMISSIONS_SUPERUSERGROUP)?,
        op_size_max: conf.get(&keys::DFS_NAMENODE_MAX_OP_SIZE)?.max(1024) as usize,
        permissions_enabled: conf.get(&keys::DFS_PERMISSIONS_ENABLED)?,
        acls_enabled: conf.get(&keys::DFS_NAMENODE_ACLS_ENABLED)?,
        posix_acl_inheritance: conf.get(&keys::DFS_NAMENODE_POSIX_ACL_INHERITANCE_ENABLED)?,
        xattrs_enabled: conf.get(&keys::DFS_NAMENODE_XATTRS_ENABLED)?,
        storage_policy_enabled: conf.get(&keys::DFS_STORAGE_POLICY_ENABLED)?,
        storage_policy_superuser_only: conf
            .get(&keys::DFS_STORAGE_POLICY_PERMISSIONS_SUPERUSER_ONLY)?,
        component_len_max: conf.get(&keys::DFS_NAMENODE_FS_LIMITS_MAX_COMPONENT_LENGTH)?.max(0)
            as usize,
        directory_items_max: conf.get_as(
            &keys::DFS_NAMENODE_FS_LIMITS_MAX_DIRECTORY_ITEMS,
            "a number from 1 to 6400000",
            |items| usize::try_from(items).ok().filter(|items| (1..=6_400_000).contains(items)),
        )?,
        block_size_min: conf.get(&keys::DFS_NAMENODE_FS_LIMITS_MIN_BLOCK_SIZE)?,
        blocks_per_file_max: conf.get(&keys::DFS_NAMENODE_FS_LIMITS_MAX_BLOCKS_PER_FILE)?.max(1)
            as usize,
        xattrs_per_inode_max: conf.get_as(
            &keys::DFS_NAMENODE_FS_LIMITS_MAX_XATTRS_PER_INODE,
            "a number of 0 or above",
            |count| usize::try_from(count).ok(),
        )?,
        xattr_size_max: conf.get_as(
            &keys::DFS_NAMENODE_FS_LIMITS_MAX_XATTR_SIZE,
            "a number of bytes from 1 to 32768",
            |size| usize::try_from(size).ok().filter(|size| (1..=32_768).contains(size)),
        )?,
        access_time_precision_ms: millis(conf.get(&keys::DFS_NAMENODE_ACCESSTIME_PRECISION)?),
        // Hadoop takes its own default for what is not above 0.
        list_limit: match conf.get(&keys::DFS_LS_LIMIT)? {
            limit @ 1.. => limit as usize,
            _ => LIST_LIMIT,
        },
        open_files_batch: above_zero(conf, &keys::DFS_NAMENODE_LIST_OPENFILES_NUM_RESPONSES)?
            as usize,
        corrupt_files_batch: conf.get(&keys::DFS_NAMENODE_MAX_CORRUPT_FILE_BLOCKS_RETURNED)?.max(1)
            as usize,
        caching_enabled: conf.get(&keys::DFS_NAMENODE_CACHING_ENABLED)?,
        cache_directives_batch: conf
            .get(&keys::DFS_NAMENODE_LIST_CACHE_DIRECTIVES_NUM_RESPONSES)?
            .max(1) as usize,
        cache_pools_batch: conf.get(&keys::DFS_NAMENODE_LIST_CACHE_POOLS_NUM_RESPONSES)?.max(1)
            as usize,
        replication_min,
        replication_max,
        replication_default: replicas(conf, &keys::DFS_REPLICATION)?,
        quota_by_type_enabled: conf.get(&keys::DFS_QUOTA_BY_STORAGE_TYPE_ENABLED)?,
        lease_hard_ms: millis(conf.get(&keys::DFS_NAMENODE_LEASE_HARD_LIMIT_SEC)?),
        protected_directories: conf.get(&keys::FS_PROTECTED_DIRECTORIES)?,
        protected_subdirectories: conf.get(&keys::DFS_PROTECTED_SUBDIRECTORIES_ENABLE)?,
        objects_max: conf.get_as(
            &keys::DFS_NAMENODE_MAX_OBJECTS,
            "a number of 0 or above",
            |count| u64::try_from(count).ok(),
        )?,
        owner_sets_quota: conf.get(&keys::DFS_PERMISSIONS_ALLOW_OWNER_SET_QUOTA)?,
        content_summary_sub_access: conf.get(&keys::DFS_PERMISSIONS_CONTENTSUMMARY_SUBACCESS)?,
        ..NamespaceParams::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_name_key_value_origin_and_what_would_fit() {
        let mut base = Conf::new();
        base.set("fs.defaultFS", "hdfs://localhost:0");
        assert!(Settings::from_conf(&base).is_ok());
        for (name, value, expected) in [
            ("dfs.checksum.type", "FOO", "one of CRC32C, CRC32, NULL"),
            ("dfs.replication", "0", "a number from 1 to 32767"),
            ("dfs.replication.max", "40000", "a number from 1 to 32767"),
            ("dfs.namenode.replication.min", "600", "a number that dfs.replication.max allows"),
            ("dfs.bytes-per-checksum", "-1", "a number above 0"),
            ("dfs.namenode.stale.datanode.interval", "0", "a time above 0"),
            ("dfs.namenode.fs-limits.max-directory-items", "0", "a number from 1 to 6400000"),
            ("dfs.namenode.fs-limits.max-xattr-size", "1m", "a number of bytes from 1 to 32768"),
            ("dfs.namenode.fs-limits.max-xattrs-per-inode", "-1", "a number of 0 or above"),
            ("dfs.namenode.max.objects", "-1", "a number of 0 or above"),
        ] {
            let mut conf = base.clone();
            conf.set_option(name, value);
            let error = Settings::from_conf(&conf).map(|_| ()).unwrap_err().to_string();
            let wanted = format!("{name}: `{value}' from the command line is not {expected}");
            assert_eq!(error, wanted);
        }
        base.set("dfs.ls.limit", "-5");
        let settings = Settings::from_conf(&base).unwrap();
        assert_eq!(settings.namespace_params.list_limit, LIST_LIMIT);
    }
}
