//! What heartbeats and lifelines say.

use crate::namenodes::PoolService;
use crate::node::Node;
use zerohop_proto::hdfs::datanode::{DatanodeRegistrationProto, HeartbeatRequestProto};

/// A heartbeat with what is known now: no disk is asked.
pub(super) fn heartbeat(
    node: &Node,
    service: &PoolService,
    registration: DatanodeRegistrationProto,
    wants_lease: bool,
) -> HeartbeatRequestProto {
    let pool_id = service.pool_id();
    let state = node.store.storage_reports(pool_id.as_deref());
    HeartbeatRequestProto {
        registration,
        reports: state.reports,
        xmits_in_progress: Some(node.transfers_under_way()),
        // Never zero: a NameNode compares loads by ratio, and a load of zero elsewhere would
        // make one writer too many here.
        xceiver_count: Some(u32::try_from(node.threads.busy() + 1).unwrap_or(u32::MAX)),
        failed_volumes: Some(state.failed_volumes),
        cache_capacity: Some(node.store.cache().capacity()),
        cache_used: Some(node.store.cache().used()),
        volume_failure_summary: state.failure_summary,
        request_full_block_report_lease: Some(wants_lease),
        slow_peers: Vec::new(),
        slow_disks: Vec::new(),
    }
}
