//! Blocks of files being written.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_namespace::{AddBlockRequest, AdditionalDatanodeRequest};
use zerohop_proto::hdfs::{
    AbandonBlockRequestProto, AbandonBlockResponseProto, AddBlockFlagProto, AddBlockRequestProto,
    AddBlockResponseProto, DatanodeInfoProto, ExtendedBlockProto,
    GetAdditionalDatanodeRequestProto, GetAdditionalDatanodeResponseProto, LocatedBlockProto,
    ReportBadBlocksRequestProto, ReportBadBlocksResponseProto, UpdateBlockForPipelineRequestProto,
    UpdateBlockForPipelineResponseProto, UpdatePipelineRequestProto, UpdatePipelineResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{Block, ExtendedBlock, InodeId, JavaException};

fn block(proto: &ExtendedBlockProto) -> Block {
    ExtendedBlock::from(proto).block
}

fn uuids(nodes: &[DatanodeInfoProto]) -> Vec<String> {
    nodes.iter().map(|node| node.id.datanode_uuid.clone()).collect()
}

pub(super) fn add_block(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.held(
        |_: &AddBlockRequestProto| Line::default(),
        move |namespace, op, q| {
            let located = namespace.add_block(
                op,
                &AddBlockRequest {
                    path: &q.src,
                    client_name: &q.client_name,
                    previous: q.previous.as_ref().map(block),
                    file_id: InodeId(q.file_id.unwrap_or(0)),
                    excluded: &uuids(&q.exclude_nodes),
                    favored: &q.favored_nodes,
                    avoid_local: q.flags.contains(&AddBlockFlagProto::NoLocalWrite.into()),
                    ignore_locality: q
                        .flags
                        .contains(&AddBlockFlagProto::IgnoreClientLocality.into()),
                },
            )?;
            Ok(AddBlockResponseProto { block: convert::located_block(located, &pool) })
        },
        |namespace, q, result| match result {
            Err(e) if e.class == JavaException::NotReplicatedYet.class() => {
                namespace.lacking_block(&q.src, InodeId(q.file_id.unwrap_or(0)))
            }
            _ => None,
        },
    )
}

pub(super) fn abandon_block(call: Call<'_>) -> Reply {
    call.write(
        |_: &AbandonBlockRequestProto| Line::default(),
        |namespace, op, q| {
            namespace.abandon_block(
                op,
                &q.src,
                InodeId(q.file_id.unwrap_or(0)),
                &q.holder,
                block(&q.b),
            )?;
            Ok(AbandonBlockResponseProto {})
        },
    )
}

pub(super) fn additional_datanode(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.write(
        |_: &GetAdditionalDatanodeRequestProto| Line::default(),
        |namespace, op, q| {
            let storages =
                q.existing_storage_uuids.iter().cloned().chain(std::iter::repeat(String::new()));
            let existing: Vec<_> = uuids(&q.existings).into_iter().zip(storages).collect();
            let located = namespace.additional_datanode(
                op,
                &AdditionalDatanodeRequest {
                    path: &q.src,
                    client_name: &q.client_name,
                    file_id: InodeId(q.file_id.unwrap_or(0)),
                    block: block(&q.blk),
                    existing: &existing,
                    excluded: &uuids(&q.excludes),
                    count: q.num_additional_nodes as usize,
                },
            )?;
            Ok(GetAdditionalDatanodeResponseProto { block: convert::located_block(located, &pool) })
        },
    )
}

pub(super) fn update_block_for_pipeline(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.write(
        |_: &UpdateBlockForPipelineRequestProto| Line::default(),
        |namespace, op, q| {
            let located =
                namespace.update_block_for_pipeline(op, block(&q.block), &q.client_name)?;
            Ok(UpdateBlockForPipelineResponseProto {
                block: convert::located_block(located, &pool),
            })
        },
    )
}

pub(super) fn update_pipeline(call: Call<'_>) -> Reply {
    call.write_once(
        |_: &UpdatePipelineRequestProto| Line::default(),
        |namespace, op, q| {
            let nodes = q.new_nodes.iter().map(|node| node.datanode_uuid.clone());
            let names = q.storage_i_ds.iter().cloned().chain(std::iter::repeat(String::new()));
            let storages: Vec<_> = nodes.zip(names).collect();
            namespace.update_pipeline(
                op,
                &q.client_name,
                block(&q.old_block),
                block(&q.new_block),
                &storages,
            )?;
            Ok(UpdatePipelineResponseProto {})
        },
    )
}

/// The same method of both protocols: clients find bad replicas as DataNodes do.
pub(crate) fn report_bad_blocks(call: Call<'_>) -> Reply {
    call.write(
        |_: &ReportBadBlocksRequestProto| Line::default(),
        |namespace, _, q| {
            for (block, uuid, storage) in bad_replicas(&q.blocks) {
                namespace.blocks_mut().bad_replica(block, uuid, storage);
            }
            Ok(ReportBadBlocksResponseProto {})
        },
    )
}

/// Each replica named: its block, DataNode and storage.
fn bad_replicas(blocks: &[LocatedBlockProto]) -> impl Iterator<Item = (Block, &str, &str)> {
    blocks.iter().flat_map(|located| {
        let storages = located.storage_i_ds.iter().map(String::as_str).chain(std::iter::repeat(""));
        let nodes = located.locs.iter().map(|node| node.id.datanode_uuid.as_str());
        nodes.zip(storages).map(|(node, storage)| (block(&located.b), node, storage))
    })
}
