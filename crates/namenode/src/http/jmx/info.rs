//! NameNodeInfo: the cluster and its DataNodes; lists are JSON in a text, as Hadoop has them.

use super::figures::{Figures, Lists, percent};
use crate::core::Core;
use crate::http::date;
use crate::identity::{SOFTWARE_VERSION, build_version};
use serde_json::{Map, Value, json};
use zerohop_daemon::http::bean;
use zerohop_daemon::process;
use zerohop_namespace::blocks::{AdminState, NodeReport};
use zerohop_wire::authority;

pub(super) fn bean_of(core: &Core, figures: &Figures, lists: &Lists) -> Value {
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
            "CompileInfo": format!("zerohop {}", build_version()),
            "ProvidedCapacity": 0,
            "UpgradeFinalized": true,
            "NNStarted": date::java_date(core.started_ms),
            "NNStartedTimeInMillis": core.started_ms,
            "LiveNodes": nodes(&lists.live, core).to_string(),
            "DeadNodes": dead(&lists.dead, core).to_string(),
            "DecomNodes": with_state(&lists.live, AdminState::DecommissionInProgress).to_string(),
            "EnteringMaintenanceNodes": with_state(&lists.live, AdminState::EnteringMaintenance).to_string(),
            "DistinctVersionCount": versions(&lists.live).len(),
            "DistinctVersions": versions(&lists.live),
            "NameDirStatuses": name_dirs(core).to_string(),
            "NameDirSize": name_dir_sizes(core).to_string(),
            "JournalTransactionInfo": json!({
                "LastAppliedOrWrittenTxId": core.last_txid().0.to_string(),
                "MostRecentCheckpointTxId": core.checkpoints.last_txid().to_string(),
            }).to_string(),
            "NameJournalStatus": journals(core).to_string(),
            "NodeUsage": usage(&lists.live).to_string(),
            "CorruptFiles": json!(lists.corrupt_files).to_string(),
            "CorruptFilesCount": lists.corrupt_files.len(),
            "HighestPriorityLowRedundancyReplicatedBlocks": blocks.low_redundancy_with_highest_priority,
            "HighestPriorityLowRedundancyECBlocks": 0,
            "RollingUpgradeStatus": rolling_upgrade(core),
            "NumberOfSnapshottableDirs": 0,
            "Threads": process::threads(),
        }),
    )
}

/// `RollingUpgradeInfo.Bean`; null while none is under way.
fn rolling_upgrade(core: &Core) -> Value {
    core.query_rolling_upgrade().map_or(Value::Null, |report| {
        json!({
            "blockPoolId": &*core.identity.pool,
            "createdRollbackImages": report.has_rollback_image,
            "finalizeTime": report.upgrade.finalized_ms().unwrap_or(0),
            "startTime": report.upgrade.started_ms(),
        })
    })
}

fn nodes(reports: &[NodeReport], core: &Core) -> Value {
    let now = core.clock.now();
    let mut nodes = Map::new();
    for report in reports {
        let (id, stats) = (&report.info.id, &report.info.stats);
        let failures = &report.volume_failures;
        let mut value = json!({
            "infoAddr": authority(&id.ip, id.info_port),
            "infoSecureAddr": authority(&id.ip, id.info_secure_port),
            "xferaddr": authority(&id.ip, id.xfer_port),
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
            "blockPoolUsedPercentStdDev": deviation(&used_shares(report)),
            "volfails": report.failed_volumes,
            "numVolumes": report.storages.len(),
            "lastBlockReport": now.mono_ms.saturating_sub(stats.last_block_report.mono_ms) / 60_000,
        });
        if report.failed_volumes > 0
            && let Some(value) = value.as_object_mut()
        {
            value.insert("failedStorageIDs".into(), json!(failures.directories));
            value.insert("lastVolumeFailureDate".into(), failures.last_ms.into());
            value.insert("estimatedCapacityLostTotal".into(), failures.capacity_lost.into());
        }
        nodes.insert(id.name(), value);
    }
    Value::Object(nodes)
}

fn dead(reports: &[NodeReport], core: &Core) -> Value {
    let now = core.clock.now();
    let node = |report: &NodeReport| {
        let (id, stats) = (&report.info.id, &report.info.stats);
        let value = json!({
            "lastContact": now.mono_ms.saturating_sub(stats.last_update.mono_ms) / 1000,
            "decommissioned": stats.admin == AdminState::Decommissioned,
            "adminState": stats.admin.name(),
            "xferaddr": authority(&id.ip, id.xfer_port),
            "location": &*report.info.rack,
        });
        (id.name(), value)
    };
    reports.iter().map(node).collect()
}

/// DataNodes that are being taken out of service in one way or the other.
fn with_state(reports: &[NodeReport], state: AdminState) -> Value {
    let is_wanted = |report: &&NodeReport| report.info.stats.admin == state;
    let node = |report: &NodeReport| {
        let id = &report.info.id;
        let value = json!({
            "xferaddr": authority(&id.ip, id.xfer_port), "location": &*report.info.rack,
        });
        (id.name(), value)
    };
    reports.iter().filter(is_wanted).map(node).collect()
}

/// Per cent of each storage that block data takes.
fn used_shares(report: &NodeReport) -> Vec<f64> {
    let share = |storage: &zerohop_namespace::blocks::StorageReport| {
        percent(storage.block_pool_used, storage.capacity)
    };
    report.storages.iter().map(share).collect()
}

fn deviation(shares: &[f64]) -> f64 {
    if shares.is_empty() {
        return 0.0;
    }
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    (shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>() / count).sqrt()
}

/// How evenly the DataNodes in service are filled.
fn usage(live: &[NodeReport]) -> Value {
    let in_service = live.iter().filter(|node| node.info.stats.admin == AdminState::Normal);
    let mut shares: Vec<f64> = in_service
        .map(|node| percent(node.info.stats.dfs_used, node.info.stats.capacity))
        .collect();
    shares.sort_by(f64::total_cmp);
    let text = |share: Option<&f64>| format!("{:.2}%", share.copied().unwrap_or(0.0));
    json!({ "nodeUsage": {
        "min": text(shares.first()), "median": text(shares.get(shares.len() / 2)),
        "max": text(shares.last()), "stdDev": text(Some(&deviation(&shares))),
    } })
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

/// Bytes of each name directory, its subdirectories included.
fn name_dir_sizes(core: &Core) -> Value {
    fn size(directory: &std::path::Path) -> u64 {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
            Ok(found) if found.is_dir() => size(&entry.path()),
            Ok(found) => found.len(),
            // Removed since it was listed.
            Err(_) => 0,
        };
        entries.map(bytes).sum()
    }
    let dirs = core.storage.dirs().iter().filter(|dir| !dir.has_failed());
    dirs.map(|dir| (dir.root().display().to_string(), json!(size(dir.root())))).collect()
}

/// Where the edits go.
fn journals(core: &Core) -> Value {
    let first = core.log().stats().segment_first_txid;
    let journal = |root: std::path::Display<'_>, has_failed: bool| {
        let stream = match has_failed {
            true => "Failed".to_owned(),
            false => {
                format!("EditLogFileOutputStream({root}/current/edits_inprogress_{first:019})")
            }
        };
        json!({
            "required": "false", "disabled": has_failed.to_string(),
            "manager": format!("FileJournalManager(root={root})"), "stream": stream,
        })
    };
    let dirs = core.storage.dirs().iter().filter(|dir| dir.holds_edits());
    dirs.map(|dir| journal(dir.root().display(), dir.has_failed())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_is_that_of_all() {
        assert_eq!(deviation(&[]), 0.0);
        assert_eq!(deviation(&[5.0]), 0.0);
        assert_eq!(deviation(&[2.0, 6.0]), 2.0);
        let empty = json!({ "nodeUsage": {
            "min": "0.00%", "median": "0.00%", "max": "0.00%", "stdDev": "0.00%",
        } });
        assert_eq!(usage(&[]), empty);
    }
}
