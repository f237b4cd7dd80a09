//! Figures of the file system and of its DataNodes.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_namespace::blocks::NodeFilter;
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

pub(super) fn fs_stats(call: Call<'_>) -> Reply {
    call.read(
        |_: &GetFsStatusRequestProto| Line::default(),
        |namespace, _, _| {
            let stats = namespace.blocks().stats();
            Ok(GetFsStatsResponseProto {
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
        },
    )
}

pub(super) fn replicated_block_stats(call: Call<'_>) -> Reply {
    call.read(
        |_: &GetFsReplicatedBlockStatsRequestProto| Line::default(),
        |namespace, _, _| {
            let stats = namespace.blocks().stats();
            Ok(GetFsReplicatedBlockStatsResponseProto {
                low_redundancy: stats.under_replicated,
                corrupt_blocks: stats.corrupt,
                missing_blocks: stats.missing,
                missing_repl_one_blocks: stats.missing_replication_one,
                blocks_in_future: stats.bytes_in_future,
                pending_deletion_blocks: stats.pending_deletion,
                highest_prio_low_redundancy_blocks: Some(
                    stats.low_redundancy_with_highest_priority,
                ),
            })
        },
    )
}

/// There are no erasure-coded blocks.
pub(super) fn ec_block_group_stats(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: GetFsEcBlockGroupStatsRequestProto| {
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

pub(super) fn datanodes(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    call.read(
        |_: &GetDatanodeReportRequestProto| Line::of("datanodeReport"),
        |namespace, op, q| {
            core.check_superuser(op)?;
            let reports = namespace.blocks().node_reports(filter(q.r#type()));
            Ok(GetDatanodeReportResponseProto {
                di: reports.iter().map(|node| convert::datanode_info(&node.info)).collect(),
            })
        },
    )
}

pub(super) fn datanode_storages(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    call.read(
        |_: &GetDatanodeStorageReportRequestProto| Line::of("getDatanodeStorageReport"),
        |namespace, op, q| {
            core.check_superuser(op)?;
            let reports = namespace.blocks().node_reports(filter(q.r#type()));
            let reports = reports.iter().map(|node| DatanodeStorageReportProto {
                datanode_info: convert::datanode_info(&node.info),
                storage_reports: node.storages.iter().map(convert::storage_report_proto).collect(),
            });
            Ok(GetDatanodeStorageReportResponseProto {
                datanode_storage_reports: reports.collect(),
            })
        },
    )
}

/// The DataNodes that others report as slow.
pub(super) fn slow_datanodes(call: Call<'_>) -> Reply {
    call.ask(|core, op, _: GetSlowDatanodeReportRequestProto| {
        core.check_superuser(op)?;
        let slow = core.read(|namespace| namespace.blocks().node_reports(NodeFilter::Slow));
        let datanode_info_proto = slow.iter().map(|node| convert::datanode_info(&node.info));
        Ok(GetSlowDatanodeReportResponseProto {
            datanode_info_proto: datanode_info_proto.collect(),
        })
    })
}

pub(super) fn corrupt_file_blocks(call: Call<'_>) -> Reply {
    call.read(
        |q: &ListCorruptFileBlocksRequestProto| Line::path("listCorruptFileBlocks", &q.path),
        |namespace, op, q| {
            let (files, cookie) =
                namespace.list_corrupt_file_blocks(op, &q.path, q.cookie.as_deref())?;
            Ok(ListCorruptFileBlocksResponseProto {
                corrupt: CorruptFileBlocksProto {
                    files: files.into_iter().map(|file| file.path).collect(),
                    cookie,
                },
            })
        },
    )
}
