//! Figures of the file system and of its DataNodes.

use crate::convert;
use crate::ha::OperationCategory;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_namespace::blocks::{NodeFilter, NodeReport};
use zerohop_proto::hdfs::{
    CorruptFileBlocksProto, DatanodeReportTypeProto, DatanodeStorageReportProto,
    GetDatanodeReportRequestProto, GetDatanodeReportResponseProto,
    GetDatanodeStorageReportRequestProto, GetDatanodeStorageReportResponseProto,
    GetFsEcBlockGroupStatsRequestProto, GetFsEcBlockGroupStatsResponseProto,
    GetFsReplicatedBlockStatsRequestProto, GetFsReplicatedBlockStatsResponseProto,
    GetFsStatsResponseProto, GetFsStatusRequestProto, GetSlowDatanodeReportRequestProto,
    GetSlowDatanodeReportResponseProto, ListCorruptFileBlocksRequestProto,
    ListCorruptFileBlocksResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) const METHODS: &[Method] = &[
    ("getFsStats", fs_stats),
    ("getFsReplicatedBlockStats", replicated_block_stats),
    ("getFsECBlockGroupStats", ec_block_group_stats),
    ("getDatanodeReport", datanodes),
    ("getDatanodeStorageReport", datanode_storages),
    ("getSlowDatanodeReport", slow_datanodes),
    ("listCorruptFileBlocks", corrupt_file_blocks),
];

fn fs_stats(call: Call<'_>) -> Reply {
    call.serve(|service, _: GetFsStatusRequestProto| {
        service.reports().block_stats().map(|stats| GetFsStatsResponseProto {
            capacity: stats.capacity,
            used: stats.dfs_used,
            remaining: stats.remaining,
            under_replicated: stats.under_replicated,
            corrupt_blocks: stats.corrupt,
            missing_blocks: stats.missing,
            missing_repl_one_blocks: Some(stats.missing_replication_one),
            blocks_in_future: Some(stats.bytes_in_future),
            pending_deletion_blocks: Some(stats.pending_deletion),
        })
    })
}

fn replicated_block_stats(call: Call<'_>) -> Reply {
    call.serve(|service, _: GetFsReplicatedBlockStatsRequestProto| {
        service.reports().block_stats().map(|stats| GetFsReplicatedBlockStatsResponseProto {
            low_redundancy: stats.under_replicated,
            corrupt_blocks: stats.corrupt,
            missing_blocks: stats.missing,
            missing_repl_one_blocks: stats.missing_replication_one,
            blocks_in_future: stats.bytes_in_future,
            pending_deletion_blocks: stats.pending_deletion,
            highest_prio_low_redundancy_blocks: Some(stats.low_redundancy_with_highest_priority),
        })
    })
}

/// There are no erasure-coded blocks.
fn ec_block_group_stats(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: GetFsEcBlockGroupStatsRequestProto| {
        Ok(GetFsEcBlockGroupStatsResponseProto::default())
    })
}

fn filter(kind: DatanodeReportTypeProto) -> NodeFilter {
    match kind {
        DatanodeReportTypeProto::All => NodeFilter::All,
        DatanodeReportTypeProto::Live => NodeFilter::Live,
        DatanodeReportTypeProto::Dead => NodeFilter::Dead,
        DatanodeReportTypeProto::Decommissioning => NodeFilter::Decommissioning,
        DatanodeReportTypeProto::EnteringMaintenance => NodeFilter::EnteringMaintenance,
        DatanodeReportTypeProto::InMaintenance => NodeFilter::InMaintenance,
    }
}

fn datanodes(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetDatanodeReportRequestProto| {
        service.reports().datanodes("datanodeReport", filter(q.r#type())).map(|reports| {
            let di = reports.iter().map(|node| convert::datanode_info(&node.info)).collect();
            GetDatanodeReportResponseProto { di }
        })
    })
}

fn datanode_storages(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetDatanodeStorageReportRequestProto| {
        service.reports().datanodes("getDatanodeStorageReport", filter(q.r#type())).map(|reports| {
            let datanode_storage_reports = reports.iter().map(storage_report).collect();
            GetDatanodeStorageReportResponseProto { datanode_storage_reports }
        })
    })
}

fn storage_report(node: &NodeReport) -> DatanodeStorageReportProto {
    DatanodeStorageReportProto {
        datanode_info: convert::datanode_info(&node.info),
        storage_reports: node.storages.iter().map(convert::storage_report_proto).collect(),
    }
}

/// The DataNodes that others report as slow.
fn slow_datanodes(call: Call<'_>) -> Reply {
    call.serve(|service, _: GetSlowDatanodeReportRequestProto| {
        service.reports().datanodes("", NodeFilter::Slow).map(|slow| {
            GetSlowDatanodeReportResponseProto {
                datanode_info_proto: slow
                    .iter()
                    .map(|node| convert::datanode_info(&node.info))
                    .collect(),
            }
        })
    })
}

fn corrupt_file_blocks(call: Call<'_>) -> Reply {
    call.serve(|service, q: ListCorruptFileBlocksRequestProto| {
        let page = service.reports().corrupt_file_blocks(&q.path, q.cookie.as_deref());
        page.map(|(files, cookie)| ListCorruptFileBlocksResponseProto {
            corrupt: CorruptFileBlocksProto {
                files: files.into_iter().map(|file| file.path).collect(),
                cookie,
            },
        })
    })
}
