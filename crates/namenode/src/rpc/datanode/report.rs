//! What DataNodes tell of their replicas.

use super::check::{check_may_be_decoded, check_pool, check_sender, may_be_decoded};
use super::command;
use crate::convert;
use crate::core::Core;
use crate::message::encode;
use crate::rpc::answer::{Call, RpcResult};
use std::sync::Arc;
use zerohop_namespace::BlockSynchronization;
use zerohop_namespace::blocks::{
    BlockManager, Command, ReplicaEvent, ReportOutcome, ReportedReplica, StorageType,
};
use zerohop_proto::hdfs::DatanodeIdProto;
use zerohop_proto::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use zerohop_proto::hdfs::datanode::{
    BlockReceivedAndDeletedRequestProto, BlockReceivedAndDeletedResponseProto,
    BlockReportContextProto, BlockReportRequestProto, BlockReportResponseProto,
    CacheReportRequestProto, CacheReportResponseProto, CommitBlockSynchronizationRequestProto,
    CommitBlockSynchronizationResponseProto, ErrorReportRequestProto, ErrorReportResponseProto,
    ReceivedDeletedBlockInfoProto, StorageBlockReportProto, StorageReceivedDeletedBlocksProto,
    error_report_request_proto::ErrorCode,
};
use zerohop_system::clock;
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::block_report::{Report, decode_longs};
use zerohop_wire::{Block, BlockId, ExtendedBlock, JavaException};

/// Replicas of a full report that are taken in before others get the namespace's lock.
const REPLICAS_MAX: usize = 1000;

/// A full report, storage by storage.
pub(super) fn full(call: Call<'_>) -> Reply {
    let core = call.core;
    let take = || -> RpcResult<BlockReportResponseProto> {
        let register = || {
            let cmd = command::proto(Command::Register, &core.identity.pool);
            Ok(BlockReportResponseProto { cmd: Some(cmd) })
        };
        if !may_be_decoded(&call)? {
            return register();
        }
        let request: BlockReportRequestProto = call.request()?;
        check_sender(core, &request.registration)?;
        check_pool(core, &request.block_pool_id)?;
        let uuid = &request.registration.datanode_id.datanode_uuid;
        let registered =
            core.read(|namespace| namespace.blocks().datanodes().check_registered(uuid));
        if let Err(reason) = registered {
            tracing::warn!("a DataNode reports before it has registered: {reason}");
            return register();
        }
        check_lease(core, uuid, request.context.as_ref())?;
        for report in &request.reports {
            let replicas = replicas(report)?;
            let (id, kind) = (
                report.storage.storage_uuid.as_str().into(),
                convert::storage_type(report.storage.storage_type),
            );
            let count = replicas.len();
            let (begun, _under_way) = (clock::now(), core.activity.reports_under_way.during());
            let outcome = take_full_report(core, uuid, (&id, kind), replicas)?;
            core.activity.block_reports.add_ms(clock::since(begun));
            log_report(&id, &request.registration.datanode_id, count, outcome);
        }
        let last = request
            .context
            .is_none_or(|context| i64::from(context.cur_rpc) + 1 >= i64::from(context.total_rpcs));
        if last {
            core.write(|namespace| namespace.blocks_mut().block_reports().end_report(uuid));
        }
        // It has DataNodes delete what they kept from before an upgrade. A storage that has not reported may hold the only
        // replicas of blocks.
        let may_finalize = last
            && core.ha.is_active()
            && core.read(|namespace| {
                !namespace.rolling_upgrade().is_under_way()
                    && !namespace.blocks().datanodes().has_stale_storages(uuid)
            });
        let cmd = may_finalize.then(|| command::finalize(&core.identity.pool));
        Ok(BlockReportResponseProto { cmd })
    };
    Reply::Now(take().map(|response| encode(&response)))
}

/// Takes in the report of a storage in slices, so that a large DataNode does not hold up everybody.
fn take_full_report(
    core: &Core,
    uuid: &str,
    storage: (&Arc<str>, StorageType),
    replicas: Vec<ReportedReplica>,
) -> RpcResult<ReportOutcome> {
    let begin = core.write(|namespace| {
        namespace.blocks_mut().block_reports().begin_full_report(uuid, storage, replicas)
    });
    let mut report = begin.0?;
    loop {
        let (outcome, _) = core.write(|namespace| {
            namespace.blocks_mut().continue_full_report(&mut report, REPLICAS_MAX)
        });
        if let Some(outcome) = outcome? {
            return Ok(outcome);
        }
    }
}

fn log_report(storage: &str, node: &DatanodeIdProto, count: usize, outcome: ReportOutcome) {
    let ReportOutcome { unknown, deletions } = outcome;
    let (ip, port, uuid) = (&node.ip_addr, node.xfer_port, &node.datanode_uuid);
    tracing::info!(
        "BLOCK* processReport: from storage {storage} node {uuid}, blocks: {count}, invalidatedBlocks: {deletions}"
    );
    if unknown.replicas > 0 {
        tracing::warn!(
            "BLOCK* processReport: storage {storage} of {ip}:{port} has {} replicas ({} bytes) of blocks that no file has, \
             {} of them newer than this NameNode's metadata. They are kept until the storage's next full block report, and \
             deleted then. If the image may be too old, keep safe mode on (dfsadmin -safemode enter), which holds deletions, \
             and restart with the right one. \"zerohop dfsadmin -listPendingDeletions\" lists them",
            unknown.replicas,
            unknown.bytes,
            unknown.newer
        );
    }
}

/// A report out of its turn is refused; the DataNode asks for a lease with its next heartbeat.
fn check_lease(
    core: &Core,
    uuid: &str,
    context: Option<&BlockReportContextProto>,
) -> RpcResult<()> {
    let Some(context) = context else { return Ok(()) };
    // Zero is Apache's default of a field that is not sent.
    let lease = context.lease_id.unwrap_or(0);
    if core.read(|namespace| namespace.blocks().is_report_lease_held(uuid, lease)) {
        return Ok(());
    }
    let message =
        format!("Block report 0x{:x} was rejected as lease 0x{lease:x} is invalid", context.id);
    Err(JavaException::InvalidBlockReportLease.with(message))
}

/// All of it is read before any of it counts: a damaged report must not look like lost replicas.
fn replicas(report: &StorageBlockReportProto) -> RpcResult<Vec<ReportedReplica>> {
    let read = match report.number_of_blocks {
        Some(count) => Report::new(count, &report.blocks_buffers).collect(),
        None => decode_longs(&report.blocks),
    };
    read.map_err(|error| JavaException::Io.with(error.to_string()))
}

pub(super) fn incremental(call: Call<'_>) -> Reply {
    let core = call.core;
    core.activity.incremental_reports.increment();
    let take = || -> RpcResult<BlockReceivedAndDeletedResponseProto> {
        check_may_be_decoded(&call)?;
        let request: BlockReceivedAndDeletedRequestProto = call.request()?;
        check_sender(core, &request.registration)?;
        check_pool(core, &request.block_pool_id)?;
        let uuid = &request.registration.datanode_id.datanode_uuid;
        let (result, _) = core.write(|namespace| {
            request.blocks.iter().try_for_each(|storage| {
                let (id, kind) = storage_of(storage);
                let blocks = namespace.blocks();
                let events: Vec<_> =
                    storage.blocks.iter().map(|info| event(info, blocks)).collect();
                namespace.blocks_mut().block_reports().incremental_report(uuid, (&id, kind), events)
            })
        });
        result?;
        Ok(BlockReceivedAndDeletedResponseProto {})
    };
    Reply::Now(take().map(|response| encode(&response)))
}

fn storage_of(report: &StorageReceivedDeletedBlocksProto) -> (Arc<str>, StorageType) {
    let kind = report.storage.as_ref().and_then(|storage| storage.storage_type);
    (report.storage_uuid.as_str().into(), convert::storage_type(kind))
}

fn event(info: &ReceivedDeletedBlockInfoProto, blocks: &BlockManager) -> ReplicaEvent {
    let block = Block::from(&info.block);
    let hint = info.delete_hint.as_deref().filter(|hint| !hint.is_empty());
    match info.status() {
        BlockStatus::Receiving => ReplicaEvent::Receiving(block),
        BlockStatus::Received => match hint.and_then(|uuid| blocks.datanodes().by_uuid(uuid)) {
            Some(from) => ReplicaEvent::Moved(block, from),
            None => ReplicaEvent::Received(block),
        },
        BlockStatus::Deleted => ReplicaEvent::Deleted(block),
    }
}

/// What a DataNode holds locked in memory.
pub(super) fn cache(call: Call<'_>) -> Reply {
    if let Err(error) = check_may_be_decoded(&call) {
        return Reply::exception(error);
    }
    call.ask(|core, _, q: CacheReportRequestProto| {
        check_sender(core, &q.registration)?;
        let uuid = &q.registration.datanode_id.datanode_uuid;
        let held = q.blocks.iter().map(|id| BlockId(*id as i64));
        let begun = clock::now();
        if core.settings.namespace_params.caching_enabled {
            core.write(|namespace| {
                namespace.blocks_mut().datanode_manager().cache_report(uuid, held)
            })
            .0?;
        }
        core.activity.cache_reports.add_ms(clock::since(begun));
        Ok(CacheReportResponseProto { cmd: None })
    })
}

pub(super) fn error(call: Call<'_>) -> Reply {
    let core: Arc<Core> = call.core.clone();
    if let Err(error) = check_may_be_decoded(&call) {
        return Reply::exception(error);
    }
    call.ask(|_, _, q: ErrorReportRequestProto| {
        let id = convert::datanode_id(q.registartion.datanode_id.clone());
        if q.error_code == ErrorCode::Notify as u32 {
            tracing::info!("Error report from {}: {}", id.xfer_addr(), q.msg);
            return Ok(ErrorReportResponseProto {});
        }
        check_sender(&core, &q.registartion)?;
        tracing::warn!("Error report from {}: {}", id.xfer_addr(), q.msg);
        if q.error_code == ErrorCode::FatalDiskError as u32 {
            _ = core.write(|namespace| namespace.blocks_mut().datanode_manager().remove(&id.uuid));
        }
        Ok(ErrorReportResponseProto {})
    })
}

pub(super) fn commit_synchronization(call: Call<'_>) -> Reply {
    call.serve(|service, q: CommitBlockSynchronizationRequestProto| {
        let nodes = q.new_taragets.into_iter().map(|node| node.datanode_uuid);
        let names = q.new_target_storages.into_iter().chain(std::iter::repeat(String::new()));
        let targets: Vec<_> = nodes.zip(names).collect();
        let done = service.blocks().commit_block_synchronization(&BlockSynchronization {
            block: ExtendedBlock::from(&q.block).block,
            new_stamp: q.new_gen_stamp as i64,
            new_len: q.new_length,
            close_file: q.close_file,
            delete_block: q.delete_block,
            targets: &targets,
        });
        done.map(|()| CommitBlockSynchronizationResponseProto {})
    })
}
