//! FSNamesystem, FSNamesystemState and ReplicatedBlocksState. Members about what this NameNode does not
//! have (erasure coding, tokens, snapshots) are left out, or are the zero that they are.

use super::figures::{Figures, count};
use crate::core::Core;
use serde_json::{Value, json};
use zerohop_daemon::http::bean;
use zerohop_namespace::blocks::AdminState;

/// Rounded to whole ones, as Hadoop's `DFSUtil.roundBytesToGB`.
fn gigabytes(bytes: u64) -> f64 {
    (bytes as f64 / f64::from(1 << 30)).round()
}

/// Milliseconds spent syncing, a number for each journal; ours are synced together.
fn sync_times(core: &Core) -> String {
    format!("{} ", core.log().stats().sync_us / 1000)
}

pub(super) fn system(core: &Core, figures: &Figures) -> Value {
    let (blocks, names) = (&figures.blocks, &figures.names);
    let log = core.log().stats();
    bean(
        "Hadoop:service=NameNode,name=FSNamesystem",
        "FSNamesystem",
        json!({
            "tag.Context": "dfs", "tag.HAState": core.ha.state().name(),
            "MissingBlocks": blocks.missing,
            "MissingReplOneBlocks": blocks.missing_replication_one,
            "HighestPriorityLowRedundancyReplicatedBlocks": blocks.low_redundancy_with_highest_priority,
            "ExpiredHeartbeats": blocks.expired_heartbeats,
            "TransactionsSinceLastCheckpoint": log.last_txid - core.checkpoints.last_txid(),
            "TransactionsSinceLastLogRoll": log.last_txid - log.segment_first_txid + 1,
            "LastWrittenTransactionId": log.last_txid,
            "LastCheckpointTime": core.checkpoints.last_written_ms(),
            "CapacityTotal": blocks.capacity, "CapacityTotalGB": gigabytes(blocks.capacity),
            "CapacityUsed": blocks.dfs_used, "CapacityUsedGB": gigabytes(blocks.dfs_used),
            "CapacityRemaining": blocks.remaining, "CapacityRemainingGB": gigabytes(blocks.remaining),
            "CapacityUsedNonDFS": blocks.non_dfs_used,
            "TotalLoad": blocks.xceivers,
            "BlocksTotal": blocks.blocks,
            "NumFilesUnderConstruction": names.open_files,
            "NumActiveClients": names.lease_holders,
            "FilesTotal": names.inodes,
            "PendingReplicationBlocks": blocks.pending_replication,
            "PendingReconstructionBlocks": blocks.pending_replication,
            "UnderReplicatedBlocks": blocks.under_replicated,
            "LowRedundancyBlocks": blocks.under_replicated,
            "CorruptBlocks": blocks.corrupt,
            "ScheduledReplicationBlocks": blocks.pending_replication,
            "PendingDeletionBlocks": blocks.pending_deletion,
            "ExcessBlocks": blocks.excess,
            "UnknownReplicas": blocks.unknown.replicas,
            "UnknownReplicasNewerThanMetadata": blocks.unknown.newer,
            "PostponedMisreplicatedBlocks": 0,
            "PendingDataNodeMessageCount": core.read(|namespace| namespace.blocks().pending_messages()),
            "MillisSinceLastLoadedEdits": 0,
            "BlockCapacity": blocks.block_capacity,
            "NumLiveDataNodes": blocks.live_nodes,
            "NumDeadDataNodes": blocks.dead_nodes,
            "StaleDataNodes": blocks.stale_nodes,
            "NumDecomLiveDataNodes": count(&figures.live, AdminState::Decommissioned),
            "NumDecomDeadDataNodes": count(&figures.dead, AdminState::Decommissioned),
            "NumDecommissioningDataNodes": count(&figures.live, AdminState::DecommissionInProgress),
            "VolumeFailuresTotal": figures.failed_volumes(),
            "EstimatedCapacityLostTotal": figures.capacity_lost(),
            "NumStaleStorages": blocks.stale_storages,
            "NumInServiceLiveDataNodes": count(&figures.live, AdminState::Normal),
            "NumInMaintenanceLiveDataNodes": count(&figures.live, AdminState::InMaintenance),
            "NumInMaintenanceDeadDataNodes": count(&figures.dead, AdminState::InMaintenance),
            "NumEnteringMaintenanceDataNodes": count(&figures.live, AdminState::EnteringMaintenance),
            "LowRedundancyReplicatedBlocks": blocks.under_replicated - blocks.missing,
            "CorruptReplicatedBlocks": blocks.corrupt,
            "MissingReplicatedBlocks": blocks.missing,
            "MissingReplicationOneBlocks": blocks.missing_replication_one,
            "PendingDeletionReplicatedBlocks": blocks.pending_deletion,
            "TotalReplicatedBlocks": blocks.blocks,
            "tag.TotalSyncTimes": sync_times(core),
            "Snapshots": 0, "SnapshottableDirectories": 0,
            "TotalSyncCount": log.syncs,
            "FSState": fs_state(figures),
        }),
    )
}

fn fs_state(figures: &Figures) -> &'static str {
    if figures.tip.is_some() { "safeMode" } else { "Operational" }
}

pub(super) fn state(core: &Core, figures: &Figures) -> Value {
    let (blocks, names) = (&figures.blocks, &figures.names);
    let log = core.log().stats();
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
            "NumStaleStorages": blocks.stale_storages,
            "NumInServiceLiveDataNodes": count(&figures.live, AdminState::Normal),
            "NumInMaintenanceLiveDataNodes": count(&figures.live, AdminState::InMaintenance),
            "NumInMaintenanceDeadDataNodes": count(&figures.dead, AdminState::InMaintenance),
            "NumEnteringMaintenanceDataNodes": count(&figures.live, AdminState::EnteringMaintenance),
            "PendingReconstructionBlocks": blocks.pending_replication,
            "LowRedundancyBlocks": blocks.under_replicated,
            "SnapshotStats": json!({ "SnapshottableDirectories": 0, "Snapshots": 0 }).to_string(),
            "VolumeFailuresTotal": figures.failed_volumes(),
            "EstimatedCapacityLostTotal": figures.capacity_lost(),
            "TotalSyncCount": log.syncs,
            "TotalSyncTimes": sync_times(core),
            "MaxObjects": core.settings.namespace_params.objects_max,
        }),
    )
}

pub(super) fn replicated(figures: &Figures) -> Value {
    let blocks = &figures.blocks;
    bean(
        "Hadoop:service=NameNode,name=ReplicatedBlocksState",
        "org.apache.hadoop.hdfs.server.namenode.FSNamesystem",
        json!({
            "LowRedundancyReplicatedBlocks": blocks.under_replicated - blocks.missing,
            "CorruptReplicatedBlocks": blocks.corrupt,
            "MissingReplicatedBlocks": blocks.missing,
            "MissingReplicationOneBlocks": blocks.missing_replication_one,
            "BytesInFutureReplicatedBlocks": 0,
            "PendingDeletionReplicatedBlocks": blocks.pending_deletion,
            "TotalReplicatedBlocks": blocks.blocks,
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::gigabytes;

    #[test]
    fn gigabytes_are_rounded() {
        assert_eq!(gigabytes(3 << 29), 2.0);
        assert_eq!(gigabytes((3 << 29) - 1), 1.0);
        assert_eq!(gigabytes(0), 0.0);
    }
}
