//! The settings of the block manager; defaults are Hadoop's.

use super::slow::SlowLimits;

/// Settings, read by the NameNode from its configuration (`dfs.namenode.*`).
#[derive(Clone, Debug)]
pub struct BlockParams {
    /// `dfs.namenode.replication.min`: replicas that make a block complete.
    pub replication_min: u16,
    /// `dfs.replication.max`.
    pub replication_max: u16,
    /// `dfs.replication`: used where no file says otherwise.
    pub replication_default: u16,
    /// `dfs.namenode.replication.max-streams`: copies a node makes at once.
    pub transfer_streams_max: usize,
    /// `dfs.namenode.replication.max-streams-hard-limit`: the same for urgent copies.
    pub transfer_streams_hard_max: usize,
    /// `dfs.block.invalidate.limit`: deletions in one command.
    pub invalidate_limit: usize,
    /// `dfs.namenode.maintenance.replication.min`: live replicas of a block whose others are in maintenance.
    pub maintenance_replication_min: u16,
    /// `dfs.namenode.startup.delay.block.deletion.sec`, in milliseconds.
    pub deletion_delay_ms: u64,
    /// `dfs.namenode.excess.redundancy.timeout-sec`, in milliseconds.
    pub excess_timeout_ms: u64,
    /// `dfs.namenode.excess.redundancy.timeout.check.limit`: excess replicas looked at in one round.
    pub excess_timeout_check_limit: usize,
    /// `dfs.namenode.redundancy.interval.seconds` times the work multiplier: blocks looked at per node and tick.
    pub work_multiplier: usize,
    /// `dfs.namenode.reconstruction.pending.timeout-sec`, in milliseconds.
    pub pending_timeout_ms: u64,
    /// `dfs.namenode.redundancy.interval.seconds`, in milliseconds.
    pub redundancy_interval_ms: u64,
    /// `dfs.heartbeat.interval`, in milliseconds.
    pub heartbeat_interval_ms: u64,
    /// `dfs.namenode.heartbeat.recheck-interval`, in milliseconds.
    pub heartbeat_recheck_ms: u64,
    /// `dfs.namenode.stale.datanode.interval`, in milliseconds.
    pub stale_interval_ms: u64,
    /// `dfs.namenode.avoid.read.stale.datanode`.
    pub avoid_stale_for_read: bool,
    /// `dfs.namenode.avoid.write.stale.datanode`.
    pub avoid_stale_for_write: bool,
    /// `dfs.namenode.write.stale.datanode.ratio`: writes use stale DataNodes if a larger part of the live ones is stale.
    pub stale_for_write_ratio: f32,
    /// Which reports of slow DataNodes count.
    pub slow_limits: SlowLimits,
    /// `dfs.namenode.avoid.read.slow.datanode`.
    pub avoid_slow_for_read: bool,
    /// `dfs.namenode.block-placement-policy.exclude-slow-nodes.enabled`.
    pub avoid_slow_for_write: bool,
    /// `dfs.namenode.redundancy.considerLoad`.
    pub consider_load: bool,
    /// `dfs.namenode.redundancy.considerLoad.factor`.
    pub consider_load_factor: f64,
    /// `dfs.namenode.safemode.threshold-pct`.
    pub safemode_threshold: f32,
    /// `dfs.namenode.safemode.replication.min`, else as `replication_min`: replicas that make a block safe.
    pub safemode_replication_min: u16,
    /// `dfs.namenode.safemode.min.datanodes`.
    pub safemode_min_datanodes: u32,
    /// `dfs.namenode.safemode.extension`, in milliseconds.
    pub safemode_extension_ms: u64,
    /// `dfs.namenode.max.full.block.report.leases`: DataNodes that may send a full report at once.
    pub report_leases_max: usize,
    /// `dfs.namenode.full.block.report.lease.length.ms`: how long one may take for it.
    pub report_lease_ms: u64,
    /// `dfs.namenode.path.based.cache.retry.interval.ms`: how often a DataNode is told what to cache.
    pub cache_retry_ms: u64,
    /// Where the random numbers start; the same seed gives the same placement.
    pub seed: u64,
}

impl Default for BlockParams {
    fn default() -> Self {
        Self {
            replication_min: 1,
            replication_max: 512,
            replication_default: 3,
            transfer_streams_max: 2,
            transfer_streams_hard_max: 4,
            invalidate_limit: 1000,
            maintenance_replication_min: 1,
            deletion_delay_ms: 0,
            excess_timeout_ms: 3_600_000,
            excess_timeout_check_limit: 1000,
            work_multiplier: 2,
            pending_timeout_ms: 300_000,
            redundancy_interval_ms: 3_000,
            heartbeat_interval_ms: 3_000,
            heartbeat_recheck_ms: 300_000,
            stale_interval_ms: 30_000,
            avoid_stale_for_read: false,
            slow_limits: SlowLimits::default(),
            avoid_slow_for_read: true,
            avoid_slow_for_write: false,
            avoid_stale_for_write: false,
            stale_for_write_ratio: 0.5,
            consider_load: true,
            consider_load_factor: 2.0,
            safemode_threshold: 0.999,
            safemode_replication_min: 1,
            safemode_min_datanodes: 0,
            safemode_extension_ms: 30_000,
            report_leases_max: 6,
            report_lease_ms: 300_000,
            cache_retry_ms: 30_000,
            seed: 0x5eed,
        }
    }
}

impl BlockParams {
    /// After this long without a heartbeat a DataNode is dead: twice the recheck and ten heartbeats.
    pub fn expiry_ms(&self) -> u64 {
        2 * self.heartbeat_recheck_ms + 10 * self.heartbeat_interval_ms
    }

    /// How many copies of blocks of a priority a DataNode is told to make at once; 0 is the most urgent.
    pub(super) fn copies_max(&self, priority: usize) -> usize {
        if priority == 0 { self.transfer_streams_hard_max } else { self.transfer_streams_max }
    }
}
