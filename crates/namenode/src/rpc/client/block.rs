//! Blocks of files being written.

use crate::convert;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use crate::service::{AddBlockCall, NewPipeline};
use zerohop_namespace::AdditionalDatanodeRequest;
use zerohop_proto::hdfs::{
    AbandonBlockRequestProto, AbandonBlockResponseProto, AddBlockFlagProto, AddBlockRequestProto,
    AddBlockResponseProto, DatanodeInfoProto, ExtendedBlockProto,
    GetAdditionalDatanodeRequestProto, GetAdditionalDatanodeResponseProto, LocatedBlockProto,
    ReportBadBlocksRequestProto, ReportBadBlocksResponseProto, UpdateBlockForPipelineRequestProto,
    UpdateBlockForPipelineResponseProto, UpdatePipelineRequestProto, UpdatePipelineResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{Block, ExtendedBlock, InodeId};

pub(super) const METHODS: &[Method] = &[
    ("addBlock", add_block),
    ("abandonBlock", abandon_block),
    ("getAdditionalDatanode", additional_datanode),
    ("updateBlockForPipeline", update_block_for_pipeline),
    ("updatePipeline", update_pipeline),
    ("reportBadBlocks", report_bad_blocks),
];

fn block(proto: &ExtendedBlockProto) -> Block {
    ExtendedBlock::from(proto).block
}

fn uuids(nodes: &[DatanodeInfoProto]) -> Vec<String> {
    nodes.iter().map(|node| node.id.datanode_uuid.clone()).collect()
}

fn add_block(call: Call<'_>) -> Reply {
    call.serve(|service, q: AddBlockRequestProto| {
        let pool = service.pool();
        let has = |flag: AddBlockFlagProto| q.flags.contains(&flag.into());
        let request = AddBlockCall {
            avoid_local: has(AddBlockFlagProto::NoLocalWrite),
            ignore_locality: has(AddBlockFlagProto::IgnoreClientLocality),
            path: q.src,
            client_name: q.client_name,
            previous: q.previous.as_ref().map(block),
            file: InodeId(q.file_id.unwrap_or(0)),
            excluded: uuids(&q.exclude_nodes),
            favored: q.favored_nodes,
        };
        service.blocks().add_block(request).map(move |located| AddBlockResponseProto {
            block: convert::located_block(located, &pool),
        })
    })
}

fn abandon_block(call: Call<'_>) -> Reply {
    call.serve(|service, q: AbandonBlockRequestProto| {
        service
            .blocks()
            .abandon_block(&q.src, InodeId(q.file_id.unwrap_or(0)), &q.holder, block(&q.b))
            .map(|()| AbandonBlockResponseProto {})
    })
}

fn additional_datanode(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetAdditionalDatanodeRequestProto| {
        let pool = service.pool();
        let storages = q.existing_storage_uuids.into_iter().chain(std::iter::repeat(String::new()));
        let existing: Vec<_> = uuids(&q.existings).into_iter().zip(storages).collect();
        let request = AdditionalDatanodeRequest {
            path: &q.src,
            client_name: &q.client_name,
            file_id: InodeId(q.file_id.unwrap_or(0)),
            block: block(&q.blk),
            existing: &existing,
            excluded: &uuids(&q.excludes),
            count: q.num_additional_nodes as usize,
        };
        service.blocks().additional_datanode(&request).map(move |located| {
            GetAdditionalDatanodeResponseProto { block: convert::located_block(located, &pool) }
        })
    })
}

fn update_block_for_pipeline(call: Call<'_>) -> Reply {
    call.serve(|service, q: UpdateBlockForPipelineRequestProto| {
        let pool = service.pool();
        let located = service.blocks().update_block_for_pipeline(block(&q.block), &q.client_name);
        located.map(move |located| UpdateBlockForPipelineResponseProto {
            block: convert::located_block(located, &pool),
        })
    })
}

fn update_pipeline(call: Call<'_>) -> Reply {
    call.serve(|service, q: UpdatePipelineRequestProto| {
        let nodes = q.new_nodes.into_iter().map(|node| node.datanode_uuid);
        let names = q.storage_i_ds.into_iter().chain(std::iter::repeat(String::new()));
        let storages: Vec<_> = nodes.zip(names).collect();
        let pipeline = NewPipeline {
            client_name: &q.client_name,
            old: block(&q.old_block),
            new: block(&q.new_block),
            storages: &storages,
        };
        service.blocks().update_pipeline(&pipeline).map(|()| UpdatePipelineResponseProto {})
    })
}

/// A method of ClientProtocol and of DatanodeProtocol: both find corrupt replicas.
pub(crate) fn report_bad_blocks(call: Call<'_>) -> Reply {
    call.serve(|service, q: ReportBadBlocksRequestProto| {
        service
            .blocks()
            .report_bad_blocks(bad_replicas(&q.blocks))
            .map(|()| ReportBadBlocksResponseProto {})
    })
}

/// Each replica named: its block, DataNode and storage.
fn bad_replicas(blocks: &[LocatedBlockProto]) -> impl Iterator<Item = (Block, &str, &str)> {
    blocks.iter().flat_map(|located| {
        let storages = located.storage_i_ds.iter().map(String::as_str).chain(std::iter::repeat(""));
        let nodes = located.locs.iter().map(|node| node.id.datanode_uuid.as_str());
        nodes.zip(storages).map(|(node, storage)| (block(&located.b), node, storage))
    })
}
