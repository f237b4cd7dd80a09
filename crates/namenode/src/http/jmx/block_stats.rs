//! BlockStats: space by type of storage.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use zerohop_daemon::http::bean;
use zerohop_namespace::blocks::{AdminState, NodeReport};

/// Sums over the storages of one type.
#[derive(Default)]
struct TypeStats {
    capacity: u64,
    used: u64,
    non_dfs_used: u64,
    remaining: u64,
    block_pool_used: u64,
    nodes_in_service: u64,
}

/// The bean, of live DataNodes (`BlockStatsMXBean`); those out of service count for no capacity.
pub(super) fn bean_of(live: &[NodeReport]) -> Value {
    let mut types: BTreeMap<String, TypeStats> = BTreeMap::new();
    for node in live.iter().filter(|node| node.info.stats.admin == AdminState::Normal) {
        let mut counted = Vec::new();
        for storage in node.storages.iter().filter(|storage| !storage.failed) {
            let stats = types.entry(storage.kind.as_str_name().to_owned()).or_default();
            stats.capacity += storage.capacity;
            stats.used += storage.dfs_used;
            stats.non_dfs_used += storage.non_dfs_used;
            stats.remaining += storage.remaining;
            stats.block_pool_used += storage.block_pool_used;
            if !counted.contains(&storage.kind) {
                counted.push(storage.kind);
                stats.nodes_in_service += 1;
            }
        }
    }
    let rows = types.into_iter().map(|(kind, stats)| {
        json!({ "key": kind, "value": {
            "blockPoolUsed": stats.block_pool_used,
            "capacityNonDfsUsed": stats.non_dfs_used,
            "capacityRemaining": stats.remaining,
            "capacityTotal": stats.capacity,
            "capacityUsed": stats.used,
            "nodesInService": stats.nodes_in_service,
        } })
    });
    bean(
        "Hadoop:service=NameNode,name=BlockStats",
        "org.apache.hadoop.hdfs.server.blockmanagement.BlockManager",
        json!({ "StorageTypeStats": rows.collect::<Vec<_>>() }),
    )
}
