//! Keys that a NameNode changes while it runs (`NameNode.reconfigurePropertyImpl`).

use crate::core::Core;
use crate::settings::Adjustable;
use std::sync::Arc;
use zerohop_conf::{Conf, keys};
use zerohop_transport::reconfigure::{Reconfigurable, Reconfiguration, Refused};

/// In Apache's order.
const KEYS: [&str; 14] = [
    keys::DFS_BLOCK_INVALIDATE_LIMIT.name,
    keys::DFS_DATANODE_MAX_NODES_TO_REPORT.name,
    keys::DFS_DATANODE_PEER_STATS_ENABLED.name,
    keys::DFS_HEARTBEAT_INTERVAL.name,
    keys::DFS_NAMENODE_AVOID_READ_SLOW_DATANODE.name,
    keys::DFS_NAMENODE_BLOCK_PLACEMENT_POLICY_EXCLUDE_SLOW_NODES_ENABLED.name,
    keys::DFS_NAMENODE_HEARTBEAT_RECHECK_INTERVAL.name,
    keys::DFS_NAMENODE_MAX_SLOWPEER_COLLECT_NODES.name,
    keys::DFS_NAMENODE_RECONSTRUCTION_PENDING_TIMEOUT_SEC.name,
    keys::DFS_NAMENODE_REPLICATION_MAX_STREAMS.name,
    keys::DFS_NAMENODE_REPLICATION_MAX_STREAMS_HARD_LIMIT.name,
    keys::DFS_NAMENODE_REPLICATION_WORK_MULTIPLIER_PER_ITERATION.name,
    keys::FS_PROTECTED_DIRECTORIES.name,
    keys::HADOOP_CALLER_CONTEXT_ENABLED.name,
];

/// Apache's NameNode changes these too. Some have no effect here, others need a restart.
const FIXED_KEYS: [&str; 13] = [
    "dfs.block.placement.ec.classname",
    "dfs.block.replicator.classname",
    "dfs.image.parallel.load",
    "dfs.namenode.block-placement.min-blocks-for.write",
    "dfs.namenode.decommission.backoff.monitor.pending.blocks.per.lock",
    "dfs.namenode.decommission.backoff.monitor.pending.limit",
    "dfs.namenode.lock.detailed-metrics.enabled",
    "dfs.namenode.read-lock-reporting-threshold-ms",
    "dfs.namenode.slowpeer.collect.interval",
    "dfs.namenode.write-lock-reporting-threshold-ms",
    "dfs.storage.policy.satisfier.mode",
    "ipc.server.log.slow.rpc",
    "ipc.server.log.slow.rpc.threshold.ms",
];

impl Reconfigurable for Core {
    fn keys(&self) -> &'static [&'static str] {
        &KEYS
    }

    fn fixed_keys(&self) -> &'static [&'static str] {
        &FIXED_KEYS
    }

    fn reconfiguration(&self) -> &Reconfiguration {
        &self.reconfiguration
    }

    /// The settings are read as at the start, with one key changed: the others are what they were.
    fn put_into_force(this: &Arc<Self>, _: &'static str, conf: Conf) -> Result<Conf, Refused> {
        let (blocks, names, adjustable) = Adjustable::with_params(&conf)?;
        let ((), _) = this.write(|namespace| {
            namespace.blocks_mut().set_params(blocks);
            namespace.set_params(names);
        });
        this.set_adjustable(adjustable);
        Ok(conf)
    }
}
