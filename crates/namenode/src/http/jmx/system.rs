//! FSNamesystem, and the beans that show some of its members: FSNamesystemState and ReplicatedBlocksState. What this NameNode
//! does not have (erasure coding, tokens, snapshots) is the zero that it is.

use super::figures::Figures;
use crate::core::Core;
use serde_json::{Map, Value, json};
use zerohop_daemon::http::bean;
use zerohop_daemon::metrics::{Number, Record};

const CLASS: &str = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem";

/// Members of FSNamesystem that FSNamesystemState has, too.
const IN_STATE: [&str; 28] = [
    "CapacityTotal",
    "CapacityUsed",
    "CapacityRemaining",
    "ProvidedCapacityTotal",
    "TotalLoad",
    "BlocksTotal",
    "FilesTotal",
    "PendingReplicationBlocks",
    "PendingReconstructionBlocks",
    "UnderReplicatedBlocks",
    "LowRedundancyBlocks",
    "ScheduledReplicationBlocks",
    "PendingDeletionBlocks",
    "NumLiveDataNodes",
    "NumDeadDataNodes",
    "NumDecomLiveDataNodes",
    "NumDecomDeadDataNodes",
    "NumDecommissioningDataNodes",
    "NumStaleStorages",
    "NumInServiceLiveDataNodes",
    "NumInMaintenanceLiveDataNodes",
    "NumInMaintenanceDeadDataNodes",
    "NumEnteringMaintenanceDataNodes",
    "VolumeFailuresTotal",
    "EstimatedCapacityLostTotal",
    "NumEncryptionZones",
    "CurrentTokensCount",
    "PendingSPSPaths",
];

/// Rounded to whole ones, as Hadoop's `DFSUtil.roundBytesToGB`.
fn gigabytes(bytes: u64) -> f64 {
    (bytes as f64 / f64::from(1 << 30)).round()
}

/// Milliseconds spent syncing, a number for each journal; ours are synced together.
fn sync_times(core: &Core) -> String {
    format!("{} ", core.log().stats().sync_us / 1000)
}

/// The record.
pub(super) fn record(core: &Core, figures: &Figures) -> Record {
    let mut record = Record::new("FSNamesystem", "FSNamesystem", "dfs")
        .tag("HAState", core.ha.state().name())
        .tag_of_bean("TotalSyncTimes", sync_times(core))
        .tag_of_bean("EnabledEcPolicies", "");
    namespace(core, figures, &mut record);
    edits(core, &mut record);
    space(figures, &mut record);
    blocks(figures, &mut record);
    datanodes(figures, &mut record);
    not_there(&mut record);
    record
}

fn gauges<const N: usize>(record: &mut Record, gauges: [(&'static str, &'static str, u64); N]) {
    for (name, help, value) in gauges {
        record.gauge(name, help, value);
    }
}

fn namespace(core: &Core, figures: &Figures, record: &mut Record) {
    let names = &figures.names;
    gauges(
        record,
        [
            ("FilesTotal", "Files and directories", names.inodes),
            ("NumFilesUnderConstruction", "Files open for writing", names.open_files),
            ("NumActiveClients", "Clients that hold leases", names.lease_holders),
        ],
    );
    record.gauge(
        "LockQueueLength",
        "Threads that wait for the namespace",
        core.served.lock_queue(),
    );
}

fn edits(core: &Core, record: &mut Record) {
    let log = core.log().stats();
    let since_image = log.last_txid - core.checkpoints.last_txid();
    record.gauge("TransactionsSinceLastCheckpoint", "Transactions since the image", since_image);
    let since_roll = log.last_txid - log.segment_first_txid + 1;
    record.gauge("TransactionsSinceLastLogRoll", "Transactions of the segment", since_roll);
    record.gauge("LastWrittenTransactionId", "The last transaction", log.last_txid);
    let image_ms = core.checkpoints.last_written_ms();
    record.gauge("LastCheckpointTime", "When the image was written, ms since 1970", image_ms);
    record.gauge("TotalSyncCount", "Syncs of the edit log", log.syncs);
    record.gauge("MillisSinceLastLoadedEdits", "0: edits are followed as they come", 0_u64);
    let holds = &core.lock_holds;
    for (name, help, count) in [
        ("ReadLockLongHoldCount", "Long holds by readers", holds.read.long_holds()),
        ("WriteLockLongHoldCount", "Long holds by writers", holds.write.long_holds()),
    ] {
        record.counter(name, help, count);
    }
}

fn space(figures: &Figures, record: &mut Record) {
    let blocks = &figures.blocks;
    gauges(
        record,
        [
            ("CapacityTotal", "Bytes that DataNodes have", blocks.capacity),
            ("CapacityUsed", "Bytes of replicas", blocks.dfs_used),
            ("CapacityRemaining", "Bytes that are free", blocks.remaining),
            ("CapacityUsedNonDFS", "Bytes that others use", blocks.non_dfs_used),
            ("TotalLoad", "Connections to DataNodes for data", u64::from(blocks.xceivers)),
        ],
    );
    for (name, bytes) in [
        ("CapacityTotalGB", blocks.capacity),
        ("CapacityUsedGB", blocks.dfs_used),
        ("CapacityRemainingGB", blocks.remaining),
    ] {
        record.gauge(name, "The same in GB, rounded", gigabytes(bytes));
    }
}

fn blocks(figures: &Figures, record: &mut Record) {
    let blocks = &figures.blocks;
    let low = "Blocks with too few replicas";
    let copied = "Blocks whose replicas are on their way";
    gauges(
        record,
        [
            ("BlocksTotal", "Blocks", blocks.blocks),
            ("MissingBlocks", "Blocks without a good replica", blocks.missing),
            ("MissingReplOneBlocks", "Those of replication 1", blocks.missing_replication_one),
            (
                "HighestPriorityLowRedundancyReplicatedBlocks",
                "Blocks of which one replica is left",
                blocks.low_redundancy_with_highest_priority,
            ),
            ("PendingReplicationBlocks", copied, blocks.pending_replication),
            ("PendingReconstructionBlocks", copied, blocks.pending_replication),
            ("ScheduledReplicationBlocks", copied, blocks.pending_replication),
            ("UnderReplicatedBlocks", low, blocks.under_replicated),
            ("LowRedundancyBlocks", low, blocks.under_replicated),
            ("CorruptBlocks", "Blocks with a corrupt replica", blocks.corrupt),
            ("PendingDeletionBlocks", "Replicas that are to be deleted", blocks.pending_deletion),
            ("ExcessBlocks", "Replicas that are too many", blocks.excess),
            ("UnknownReplicas", "Replicas of blocks that no file has", blocks.unknown.replicas),
            ("UnknownReplicasNewerThanMetadata", "Newer ones of them", blocks.unknown.newer),
            (
                "PostponedMisreplicatedBlocks",
                "Blocks whose superfluous or corrupt replicas wait for block reports",
                blocks.postponed,
            ),
            ("BlockCapacity", "Blocks that memory is set aside for", blocks.block_capacity),
            ("LowRedundancyReplicatedBlocks", low, blocks.under_replicated - blocks.missing),
            ("CorruptReplicatedBlocks", "Blocks with a corrupt replica", blocks.corrupt),
            ("MissingReplicatedBlocks", "Blocks without a good replica", blocks.missing),
            (
                "MissingReplicationOneBlocks",
                "Those of replication 1",
                blocks.missing_replication_one,
            ),
            (
                "BytesInFutureReplicatedBlocks",
                "Bytes newer than the metadata",
                blocks.bytes_in_future,
            ),
            ("PendingDeletionReplicatedBlocks", "Replicas to be deleted", blocks.pending_deletion),
            ("TotalReplicatedBlocks", "Blocks", blocks.blocks),
            ("NumTimedOutPendingReconstructions", "Copies that came too late", blocks.copies_late),
            (
                "PendingDataNodeMessageCount",
                "Messages of DataNodes that wait for edits",
                figures.pending_messages as u64,
            ),
        ],
    );
    record.gauge(
        "ReconstructionQueuesInitProgress",
        "1: queues are filled as blocks are known",
        1.0,
    );
}

fn datanodes(figures: &Figures, record: &mut Record) {
    let (blocks, nodes) = (&figures.blocks, &figures.nodes);
    record.counter("ExpiredHeartbeats", "DataNodes that fell silent", blocks.expired_heartbeats);
    for (name, help, count) in [
        ("NumLiveDataNodes", "DataNodes that send heartbeats", blocks.live_nodes),
        ("NumDeadDataNodes", "DataNodes that do not", blocks.dead_nodes),
        ("StaleDataNodes", "Live ones that are late", blocks.stale_nodes),
        ("NumDecomLiveDataNodes", "Decommissioned, live", nodes.live_decommissioned),
        ("NumDecomDeadDataNodes", "Decommissioned, dead", nodes.dead_decommissioned),
        ("NumDecommissioningDataNodes", "Being decommissioned", nodes.decommissioning),
        ("NumInServiceLiveDataNodes", "In service, live", nodes.live_in_service),
        ("NumInMaintenanceLiveDataNodes", "In maintenance, live", nodes.live_in_maintenance),
        ("NumInMaintenanceDeadDataNodes", "In maintenance, dead", nodes.dead_in_maintenance),
        ("NumEnteringMaintenanceDataNodes", "Entering maintenance", nodes.entering_maintenance),
        ("VolumeFailuresTotal", "Volumes of live DataNodes that failed", nodes.failed_volumes),
        (
            "NumStaleStorages",
            "Storages without a full report to this active NameNode",
            blocks.stale_storages,
        ),
    ] {
        record.gauge(name, help, count);
    }
    let lost = "Bytes of the volumes that failed";
    record.gauge("EstimatedCapacityLostTotal", lost, nodes.capacity_lost);
}

/// Of what this NameNode does not have there are none.
fn not_there(record: &mut Record) {
    for name in [
        "SnapshottableDirectories",
        "Snapshots",
        "NumEncryptionZones",
        "CurrentTokensCount",
        "PendingSPSPaths",
        "ProvidedCapacityTotal",
        "LowRedundancyECBlockGroups",
        "CorruptECBlockGroups",
        "MissingECBlockGroups",
        "BytesInFutureECBlockGroups",
        "PendingDeletionECBlocks",
        "TotalECBlockGroups",
        "HighestPriorityLowRedundancyECBlocks",
    ] {
        record.gauge(name, "0: there are none", 0_u64);
    }
}

/// The value of a member of a record.
fn member(record: &Record, name: &str) -> Value {
    match record.get(name) {
        Some(Number::Whole(value)) => value.into(),
        Some(Number::Real(value)) => value.into(),
        None => Value::Null,
    }
}

fn members<'n>(record: &Record, names: impl IntoIterator<Item = &'n str>) -> Map<String, Value> {
    names.into_iter().map(|name| (name.to_owned(), member(record, name))).collect()
}

/// FSNamesystemState.
pub(super) fn state(core: &Core, figures: &Figures, record: &Record) -> Value {
    let mut values = members(record, IN_STATE);
    let own = json!({
        "BlockDeletionStartTime": core.started_ms,
        "FSState": if figures.tip.is_some() { "safeMode" } else { "Operational" },
        "NumStaleDataNodes": member(record, "StaleDataNodes"),
        "FsLockQueueLength": member(record, "LockQueueLength"),
        "ReconstructionQueuesInitProgress": member(record, "ReconstructionQueuesInitProgress"),
        "SnapshotStats": json!({ "SnapshottableDirectories": 0, "Snapshots": 0 }).to_string(),
        "TotalSyncCount": member(record, "TotalSyncCount"),
        "TotalSyncTimes": sync_times(core),
        "TopUserOpCounts": top_user_counts(core).to_string(),
        "MaxObjects": core.settings.namespace_params.objects_max,
    });
    if let Value::Object(own) = own {
        values.extend(own);
    }
    let name = "Hadoop:service=NameNode,name=FSNamesystemState";
    bean(name, CLASS, Value::Object(values))
}

/// As Hadoop writes them: windows with operations with users.
fn top_user_counts(core: &Core) -> Value {
    let now = core.clock.now();
    let windows = core.top_users.report(now.mono_ms).into_iter().map(|window| {
        let operations = window.operations.into_iter().map(|operation| {
            let users = operation.users.iter();
            let users = users.map(|(user, count)| json!({ "user": &**user, "count": count }));
            json!({
                "opType": operation.kind, "totalCount": operation.total,
                "topUsers": users.collect::<Vec<_>>(),
            })
        });
        json!({ "windowLenMs": window.length_ms, "ops": operations.collect::<Vec<_>>() })
    });
    let windows: Vec<Value> = windows.collect();
    json!({ "timestamp": now.wall_ms, "windows": windows })
}

/// ReplicatedBlocksState.
pub(super) fn replicated(record: &Record) -> Value {
    let names = [
        "LowRedundancyReplicatedBlocks",
        "CorruptReplicatedBlocks",
        "MissingReplicatedBlocks",
        "MissingReplicationOneBlocks",
        "BytesInFutureReplicatedBlocks",
        "PendingDeletionReplicatedBlocks",
        "TotalReplicatedBlocks",
        "HighestPriorityLowRedundancyReplicatedBlocks",
    ];
    let name = "Hadoop:service=NameNode,name=ReplicatedBlocksState";
    bean(name, CLASS, Value::Object(members(record, names)))
}

/// ECBlockGroupsState: there are none.
pub(super) fn erasure_coded(record: &Record) -> Value {
    let names = [
        "LowRedundancyECBlockGroups",
        "CorruptECBlockGroups",
        "MissingECBlockGroups",
        "BytesInFutureECBlockGroups",
        "PendingDeletionECBlocks",
        "TotalECBlockGroups",
        "HighestPriorityLowRedundancyECBlocks",
    ];
    let mut values = members(record, names);
    values.insert("EnabledEcPolicies".to_owned(), "".into());
    let name = "Hadoop:service=NameNode,name=ECBlockGroupsState";
    bean(name, CLASS, Value::Object(values))
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
