//! DataNodes and their storages.

use zerohop_namespace::blocks::{
    AdminState, DatanodeId, DatanodeInfo, DiskLatency, PeerLatency, StorageReport, StorageType,
};
use zerohop_proto::hdfs::datanode::{SlowDiskReportProto, SlowPeerReportProto};
use zerohop_proto::hdfs::{
    DatanodeIdProto, DatanodeInfoProto, DatanodeStorageProto, StorageReportProto,
    datanode_info_proto, datanode_storage_proto,
};

pub(crate) fn datanode_id(id: DatanodeIdProto) -> DatanodeId {
    DatanodeId {
        ip: id.ip_addr,
        host: id.host_name,
        uuid: id.datanode_uuid,
        xfer_port: id.xfer_port,
        info_port: id.info_port,
        info_secure_port: id.info_secure_port.unwrap_or(0),
        ipc_port: id.ipc_port,
    }
}

pub(crate) fn datanode_proto(id: &DatanodeId) -> DatanodeIdProto {
    DatanodeIdProto {
        ip_addr: id.ip.clone(),
        host_name: id.host.clone(),
        datanode_uuid: id.uuid.clone(),
        xfer_port: id.xfer_port,
        info_port: id.info_port,
        ipc_port: id.ipc_port,
        info_secure_port: Some(id.info_secure_port),
    }
}

pub(crate) fn datanode_info(info: &DatanodeInfo) -> DatanodeInfoProto {
    let stats = &info.stats;
    DatanodeInfoProto {
        id: datanode_proto(&info.id),
        capacity: Some(stats.capacity),
        dfs_used: Some(stats.dfs_used),
        remaining: Some(stats.remaining),
        block_pool_used: Some(stats.block_pool_used),
        last_update: Some(stats.last_update.wall_ms),
        xceiver_count: Some(stats.xceivers),
        location: Some(info.rack.to_string()),
        non_dfs_used: Some(stats.non_dfs_used),
        admin_state: Some(admin_state(stats.admin).into()),
        cache_capacity: Some(stats.cache_capacity),
        cache_used: Some(stats.cache_used),
        last_update_monotonic: Some(stats.last_update.mono_ms),
        upgrade_domain: None,
        last_block_report_time: Some(stats.last_block_report.wall_ms),
        last_block_report_monotonic: Some(stats.last_block_report.mono_ms),
        num_blocks: Some(stats.blocks),
    }
}

fn admin_state(state: AdminState) -> datanode_info_proto::AdminState {
    match state {
        AdminState::Normal => datanode_info_proto::AdminState::Normal,
        AdminState::DecommissionInProgress => {
            datanode_info_proto::AdminState::DecommissionInprogress
        }
        AdminState::Decommissioned => datanode_info_proto::AdminState::Decommissioned,
        AdminState::EnteringMaintenance => datanode_info_proto::AdminState::EnteringMaintenance,
        AdminState::InMaintenance => datanode_info_proto::AdminState::InMaintenance,
    }
}

/// A storage type as a message has it; one that this release does not know counts as DISK.
pub(crate) fn storage_type(kind: Option<i32>) -> StorageType {
    kind.and_then(StorageType::from_number).unwrap_or_default()
}

/// A DataNode that another one reports as slow: its name, and how slow.
pub(crate) fn slow_peer(report: &SlowPeerReportProto) -> (String, PeerLatency) {
    let latency = PeerLatency {
        mean_ms: report.aggregate_latency.unwrap_or(0.0),
        median_ms: report.median.unwrap_or(0.0),
        mad_ms: report.mad.unwrap_or(0.0),
        limit_ms: report.upper_limit_latency.unwrap_or(0.0),
    };
    (report.data_node_id.clone().unwrap_or_default(), latency)
}

/// A slow disk: its directory, and how slow.
pub(crate) fn slow_disk(report: SlowDiskReportProto) -> (String, DiskLatency) {
    let latency = DiskLatency {
        metadata_ms: report.mean_metadata_op_latency,
        read_ms: report.mean_read_io_latency,
        write_ms: report.mean_write_io_latency,
    };
    (report.base_path.unwrap_or_default(), latency)
}

pub(crate) fn storage_report(report: StorageReportProto) -> StorageReport {
    let storage = report.storage.unwrap_or_default();
    let (capacity, used, remaining) =
        (report.capacity.unwrap_or(0), report.dfs_used.unwrap_or(0), report.remaining.unwrap_or(0));
    StorageReport {
        id: report.storage_uuid.into(),
        kind: storage_type(storage.storage_type),
        read_only: storage.state
            == Some(datanode_storage_proto::StorageState::ReadOnlyShared.into()),
        failed: report.failed.unwrap_or(false),
        capacity,
        dfs_used: used,
        // Old DataNodes do not say; then it is what the rest leaves.
        non_dfs_used: report
            .non_dfs_used
            .unwrap_or_else(|| capacity.saturating_sub(used).saturating_sub(remaining)),
        remaining,
        block_pool_used: report.block_pool_used.unwrap_or(0),
        mount: report.mount,
    }
}

pub(crate) fn storage_report_proto(report: &StorageReport) -> StorageReportProto {
    let state = if report.read_only {
        datanode_storage_proto::StorageState::ReadOnlyShared
    } else {
        datanode_storage_proto::StorageState::Normal
    };
    StorageReportProto {
        storage_uuid: report.id.to_string(),
        failed: Some(report.failed),
        capacity: Some(report.capacity),
        dfs_used: Some(report.dfs_used),
        remaining: Some(report.remaining),
        block_pool_used: Some(report.block_pool_used),
        storage: Some(DatanodeStorageProto {
            storage_uuid: report.id.to_string(),
            state: Some(state.into()),
            storage_type: Some(report.kind.number()),
        }),
        non_dfs_used: Some(report.non_dfs_used),
        mount: report.mount.clone(),
    }
}
