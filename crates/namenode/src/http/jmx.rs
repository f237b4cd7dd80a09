//! `/jmx`: the beans that people's scripts read, under Hadoop's names.

use super::page::{query, text};
use crate::core::Core;
use crate::identity::{LAYOUT_VERSION, SOFTWARE_VERSION, build_version};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use zerohop_namespace::NamespaceStats;
use zerohop_namespace::blocks::{AdminState, BlockStats, NodeFilter, NodeReport};

struct Figures {
    blocks: BlockStats,
    names: NamespaceStats,
    live: Vec<NodeReport>,
    dead: Vec<NodeReport>,
    tip: Option<String>,
}

pub(super) async fn page(State(core): State<Arc<Core>>, raw: RawQuery) -> Response {
    let query = query(raw);
    let wanted = query.get("qry").map_or("*", String::as_str);
    let figures = core.read(|namespace| Figures {
        blocks: namespace.blocks.stats(),
        names: namespace.stats(),
        live: namespace.blocks.node_reports(NodeFilter::Live),
        dead: namespace.blocks.node_reports(NodeFilter::Dead),
        tip: namespace.blocks.safe_mode().is_on().then(|| namespace.blocks.safe_mode().tip()),
    });
    let mut beans = vec![
        info(&core, &figures),
        system(&core, &figures),
        state(&core, &figures),
        status(&core),
        journal(&core),
        runtime(&core),
    ];
    let (pattern, attribute) = match query.get("get").and_then(|get| get.split_once("::")) {
        Some((bean, attribute)) => (bean, Some(attribute)),
        None => (wanted, None),
    };
    beans.retain(|bean| {
        bean.get("name").and_then(Value::as_str).is_some_and(|name| matches(pattern, name))
    });
    if let Some(attribute) = attribute {
        beans.iter_mut().for_each(|bean| keep_only(bean, attribute));
    }
    let page = json!({ "beans": beans });
    text("application/json; charset=utf8", serde_json::to_string_pretty(&page).unwrap_or_default())
}

fn keep_only(bean: &mut Value, attribute: &str) {
    if let Some(bean) = bean.as_object_mut() {
        bean.retain(|name, _| name == "name" || name == "modelerType" || name == attribute);
    }
}

/// An object name pattern: `domain:property,...` with `*` for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern = if pattern == "*:*" { "*" } else { pattern };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    match last {
        None => rest.is_empty(),
        Some("") => true,
        Some(part) => name.ends_with(part),
    }
}

fn bean(name: &str, class: &str, values: Value) -> Value {
    let mut bean = Map::new();
    bean.insert("name".into(), name.into());
    bean.insert("modelerType".into(), class.into());
    if let Value::Object(values) = values {
        bean.extend(values);
    }
    Value::Object(bean)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn info(core: &Core, figures: &Figures) -> Value {
    let blocks = &figures.blocks;
    bean(
        "Hadoop:service=NameNode,name=NameNodeInfo",
        "org.apache.hadoop.hdfs.server.namenode.FSNamesystem",
        json!({
            "Total": blocks.capacity,
            "Used": blocks.dfs_used,
            "Free": blocks.remaining,
            "NonDfsUsedSpace": blocks.non_dfs_used,
            "PercentUsed": percent(blocks.dfs_used, blocks.capacity),
            "PercentRemaining": percent(blocks.remaining, blocks.capacity),
            "BlockPoolUsedSpace": blocks.block_pool_used,
            "PercentBlockPoolUsed": percent(blocks.block_pool_used, blocks.capacity),
            "CacheCapacity": blocks.cache_capacity, "CacheUsed": blocks.cache_used,
            "TotalBlocks": blocks.blocks,
            "TotalFiles": figures.names.inodes,
            "NumberOfMissingBlocks": blocks.missing,
            "NumberOfMissingBlocksWithReplicationFactorOne": blocks.missing_replication_one,
            "Safemode": figures.tip.as_ref().map_or(String::new(), |tip| format!("Safe mode is ON. {tip}")),
            "ClusterId": core.identity.cluster_id,
            "BlockPoolId": &*core.identity.pool,
            "Version": format!("{SOFTWARE_VERSION}, {}", build_version()),
            "SoftwareVersion": SOFTWARE_VERSION,
            "UpgradeFinalized": true,
            "NNStarted": super::date::java_date(core.started_ms),
            "NNStartedTimeInMillis": core.started_ms,
            "LiveNodes": nodes(&figures.live, core).to_string(),
            "DeadNodes": nodes(&figures.dead, core).to_string(),
            "DecomNodes": leaving(&figures.live).to_string(),
            "EnteringMaintenanceNodes": "{}",
            "DistinctVersionCount": versions(&figures.live).len(),
            "DistinctVersions": versions(&figures.live),
            "NameDirStatuses": name_dirs(core).to_string(),
            "NameDirSize": "{}",
            "JournalTransactionInfo": json!({
                "LastAppliedOrWrittenTxId": core.log.last_txid().0.to_string(),
                "MostRecentCheckpointTxId": core.last_checkpoint_txid().to_string(),
            }).to_string(),
            "CorruptFiles": "[]",
            "NumberOfSnapshottableDirs": 0,
            "Threads": 0,
        }),
    )
}

fn nodes(reports: &[NodeReport], core: &Core) -> Value {
    let now = core.clock.now();
    let mut nodes = Map::new();
    for report in reports {
        let (id, stats) = (&report.info.id, &report.info.stats);
        let value = json!({
            "infoAddr": format!("{}:{}", id.ip, id.info_port),
            "infoSecureAddr": format!("{}:{}", id.ip, id.info_secure_port),
            "xferaddr": id.xfer_addr(),
            "location": &*report.info.rack,
            "uuid": id.uuid,
            "lastContact": now.mono_ms.saturating_sub(stats.last_update.mono_ms) / 1000,
            "usedSpace": stats.dfs_used,
            "adminState": stats.admin.name(),
            "nonDfsUsedSpace": stats.non_dfs_used,
            "capacity": stats.capacity,
            "numBlocks": stats.blocks,
            "version": report.software_version,
            "used": stats.dfs_used,
            "remaining": stats.remaining,
            "blockScheduled": report.scheduled_blocks,
            "blockPoolUsed": stats.block_pool_used,
            "blockPoolUsedPercent": percent(stats.block_pool_used, stats.capacity),
            "volfails": report.failed_volumes,
            "numVolumes": report.storages.len(),
            "lastBlockReport": now.mono_ms.saturating_sub(stats.last_block_report.mono_ms) / 60_000,
        });
        nodes.insert(format!("{}:{}", id.host, id.xfer_port), value);
    }
    Value::Object(nodes)
}

fn count(reports: &[NodeReport], state: AdminState) -> usize {
    reports.iter().filter(|report| report.info.stats.admin == state).count()
}

/// DataNodes whose replicas are being copied away.
fn leaving(reports: &[NodeReport]) -> Value {
    let is_leaving =
        |report: &&NodeReport| report.info.stats.admin == AdminState::DecommissionInProgress;
    let node = |report: &NodeReport| {
        let id = &report.info.id;
        let value = json!({ "xferaddr": id.xfer_addr(), "location": &*report.info.rack });
        (format!("{}:{}", id.host, id.xfer_port), value)
    };
    reports.iter().filter(is_leaving).map(node).collect()
}

fn versions(reports: &[NodeReport]) -> Vec<Value> {
    let mut counts = std::collections::BTreeMap::new();
    for report in reports {
        *counts.entry(report.software_version.as_str()).or_insert(0) += 1;
    }
    counts.into_iter().map(|(version, count)| json!({"key": version, "value": count})).collect()
}

fn name_dirs(core: &Core) -> Value {
    let (mut active, mut failed) = (Map::new(), Map::new());
    for dir in core.storage.dirs() {
        let name = dir.root().display().to_string();
        if dir.has_failed() {
            failed.insert(name, "FAILED".into());
        } else {
            active.insert(name, "IMAGE_AND_EDITS".into());
        }
    }
    json!({ "active": active, "failed": failed })
}

fn system(core: &Core, figures: &Figures) -> Value {
    let (blocks, names) = (&figures.blocks, &figures.names);
    let log = core.log.stats();
    bean(
        "Hadoop:service=NameNode,name=FSNamesystem",
        "FSNamesystem",
        json!({
            "tag.Context": "dfs", "tag.HAState": "active",
            "MissingBlocks": blocks.missing,
            "MissingReplOneBlocks": blocks.missing_replication_one,
            "HighestPriorityLowRedundancyReplicatedBlocks": blocks.low_redundancy_with_highest_priority,
            "ExpiredHeartbeats": 0,
            "TransactionsSinceLastCheckpoint": log.last_txid - core.last_checkpoint_txid(),
            "TransactionsSinceLastLogRoll": log.last_txid - log.segment_first_txid + 1,
            "LastWrittenTransactionId": log.last_txid,
            "LastCheckpointTime": core.checkpoint_ms.load(std::sync::atomic::Ordering::Relaxed),
            "CapacityTotal": blocks.capacity, "CapacityTotalGB": (blocks.capacity >> 30),
            "CapacityUsed": blocks.dfs_used, "CapacityUsedGB": (blocks.dfs_used >> 30),
            "CapacityRemaining": blocks.remaining, "CapacityRemainingGB": (blocks.remaining >> 30),
            "CapacityUsedNonDFS": blocks.non_dfs_used,
            "TotalLoad": blocks.xceivers,
            "BlocksTotal": blocks.blocks,
            "NumFilesUnderConstruction": names.open_files,
            "NumActiveClients": names.open_files,
            "FilesTotal": names.inodes,
            "PendingReplicationBlocks": blocks.pending_replication,
            "PendingReconstructionBlocks": blocks.pending_replication,
            "UnderReplicatedBlocks": blocks.under_replicated,
            "LowRedundancyBlocks": blocks.under_replicated,
            "CorruptBlocks": blocks.corrupt,
            "ScheduledReplicationBlocks": blocks.pending_replication,
            "PendingDeletionBlocks": blocks.pending_deletion,
            "ExcessBlocks": blocks.excess,
            "PostponedMisreplicatedBlocks": 0,
            "PendingDataNodeMessageCount": 0,
            "MillisSinceLastLoadedEdits": 0,
            "BlockCapacity": blocks.blocks,
            "NumLiveDataNodes": blocks.live_nodes,
            "NumDeadDataNodes": blocks.dead_nodes,
            "StaleDataNodes": blocks.stale_nodes,
            "NumDecomLiveDataNodes": count(&figures.live, AdminState::Decommissioned),
            "NumDecomDeadDataNodes": count(&figures.dead, AdminState::Decommissioned),
            "NumDecommissioningDataNodes": count(&figures.live, AdminState::DecommissionInProgress),
            "VolumeFailuresTotal": figures.live.iter().map(|node| node.failed_volumes).sum::<u32>(),
            "Snapshots": 0, "SnapshottableDirectories": 0,
            "TotalSyncCount": log.syncs,
            "FSState": fs_state(figures),
        }),
    )
}

fn fs_state(figures: &Figures) -> &'static str {
    if figures.tip.is_some() { "safeMode" } else { "Operational" }
}

fn state(core: &Core, figures: &Figures) -> Value {
    let (blocks, names) = (&figures.blocks, &figures.names);
    let log = core.log.stats();
    bean(
        "Hadoop:service=NameNode,name=FSNamesystemState",
        "org.apache.hadoop.hdfs.server.namenode.FSNamesystem",
        json!({
            "CapacityTotal": blocks.capacity,
            "CapacityUsed": blocks.dfs_used,
            "CapacityRemaining": blocks.remaining,
            "TotalLoad": blocks.xceivers,
            "BlocksTotal": blocks.blocks,
            "FilesTotal": names.inodes,
            "PendingReplicationBlocks": blocks.pending_replication,
            "UnderReplicatedBlocks": blocks.under_replicated,
            "ScheduledReplicationBlocks": blocks.pending_replication,
            "PendingDeletionBlocks": blocks.pending_deletion,
            "BlockDeletionStartTime": core.started_ms,
            "FSState": fs_state(figures),
            "NumLiveDataNodes": blocks.live_nodes,
            "NumDeadDataNodes": blocks.dead_nodes,
            "NumDecomLiveDataNodes": count(&figures.live, AdminState::Decommissioned),
            "NumDecomDeadDataNodes": count(&figures.dead, AdminState::Decommissioned),
            "NumDecommissioningDataNodes": count(&figures.live, AdminState::DecommissionInProgress),
            "NumStaleDataNodes": blocks.stale_nodes,
            "NumStaleStorages": 0,
            "NumInMaintenanceLiveDataNodes": 0, "NumInMaintenanceDeadDataNodes": 0,
            "NumEnteringMaintenanceDataNodes": 0,
            "VolumeFailuresTotal": figures.live.iter().map(|node| node.failed_volumes).sum::<u32>(),
            "EstimatedCapacityLostTotal": 0,
            "TotalSyncCount": log.syncs,
            "TotalSyncTimes": format!("{} ", log.sync_us / 1000),
            "MaxObjects": 0,
        }),
    )
}

fn status(core: &Core) -> Value {
    bean(
        "Hadoop:service=NameNode,name=NameNodeStatus",
        "org.apache.hadoop.hdfs.server.namenode.NameNode",
        json!({
            "State": "active",
            "NNRole": "NameNode",
            "HostAndPort": core.settings.rpc_bind,
            "SecurityEnabled": false,
            "LastHATransitionTime": 0,
            "BytesWithFutureGenerationStamps": core.read(|namespace| {
                namespace.blocks.safe_mode().bytes_in_future()
            }),
        }),
    )
}

fn journal(core: &Core) -> Value {
    let log = core.log.stats();
    bean(
        "Hadoop:service=NameNode,name=NameNodeActivity",
        "NameNodeActivity",
        json!({
            "tag.Context": "dfs",
            "TransactionsNumOps": log.transactions,
            "SyncsNumOps": log.syncs,
            "SyncsAvgTime": if log.syncs == 0 { 0.0 } else { log.sync_us as f64 / 1000.0 / log.syncs as f64 },
            "LayoutVersion": LAYOUT_VERSION,
        }),
    )
}

fn runtime(core: &Core) -> Value {
    let now = core.clock.now();
    bean(
        "java.lang:type=Runtime",
        "sun.management.RuntimeImpl",
        json!({
            "StartTime": core.started_ms,
            "Uptime": now.mono_ms,
            "VmName": "zerohop (no Java virtual machine)",
            "SpecVersion": "",
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_patterns_of_names() {
        let name = "Hadoop:service=NameNode,name=FSNamesystem";
        for pattern in [
            "*",
            "*:*",
            name,
            "Hadoop:*",
            "Hadoop:service=NameNode,name=FSN*",
            "*name=FSNamesystem",
        ] {
            assert!(matches(pattern, name), "{pattern}");
        }
        for pattern in
            ["", "java.lang:*", "Hadoop:service=NameNode,name=FSNamesystemS*", "*name=NameNodeInfo"]
        {
            assert!(!matches(pattern, name), "{pattern}");
        }
    }
}
