//! What NameNodes are told of the volumes and of all replicas.

use super::pools::BlockPools;
use super::volumes::Volumes;
use std::sync::Arc;
use zerohop_proto::hdfs::datanode::VolumeFailureSummaryProto;
use zerohop_proto::hdfs::{DatanodeStorageProto, StorageReportProto};
use zerohop_wire::BlockId;
use zerohop_wire::block_report::{ReplicaState, ReportBuilder, ReportedReplica};

/// What a heartbeat says of the volumes.
pub(crate) struct StorageState {
    pub(crate) reports: Vec<StorageReportProto>,
    pub(crate) failed_volumes: u32,
    pub(crate) failure_summary: Option<VolumeFailureSummaryProto>,
}

/// The blocks of one storage.
pub(crate) struct StorageBlocks {
    pub(crate) storage: DatanodeStorageProto,
    pub(crate) blocks: ReportBuilder,
}

/// What a heartbeat says to the NameNode of a pool; of all pools together without one. The figures
/// are the last measured ones: no disk is asked.
pub(super) fn storage_state(volumes: &Volumes, pool_id: Option<&str>) -> StorageState {
    let reports = volumes.in_use().iter().map(|v| v.report(pool_id)).collect();
    let (failed_volumes, failure_summary) = volumes.failures().summary();
    StorageState { reports, failed_volumes, failure_summary }
}

/// Returns the replicas of a pool by storage, for a full report, without blocks for which `is_left_out` is true.
pub(super) fn full_report(
    volumes: &Volumes,
    pools: &BlockPools,
    pool_id: &str,
    is_left_out: impl Fn(BlockId) -> bool,
) -> Vec<StorageBlocks> {
    let volumes = volumes.in_use();
    let mut builders: Vec<ReportBuilder> =
        volumes.iter().map(|_| ReportBuilder::default()).collect();
    if let Ok(pool) = pools.get(pool_id) {
        for replica in pool.all() {
            let status = replica.lock();
            let state = status.original_state();
            if state == ReplicaState::Temporary || is_left_out(status.block().id) {
                continue;
            }
            let reported = ReportedReplica { block: status.block(), state };
            let at = volumes.iter().position(|volume| Arc::ptr_eq(volume, &replica.volume));
            if let Some(builder) = at.and_then(|at| builders.get_mut(at)) {
                builder.add(&reported);
            }
        }
    }
    let storages = volumes.iter().map(|volume| volume.storage());
    storages.zip(builders).map(|(storage, blocks)| StorageBlocks { storage, blocks }).collect()
}
