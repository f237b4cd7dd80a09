//! Located blocks.

use super::datanode::datanode_info;
use zerohop_namespace::{LocatedBlock, LocatedBlocks};
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::{ExtendedBlockProto, LocatedBlockProto, LocatedBlocksProto};

pub(crate) fn located_block(located: LocatedBlock, pool: &str) -> LocatedBlockProto {
    let block = located.block();
    let replicas = located.locations.replicas;
    LocatedBlockProto {
        b: ExtendedBlockProto {
            pool_id: pool.to_owned(),
            block_id: block.id.0 as u64,
            generation_stamp: block.stamp.0 as u64,
            num_bytes: Some(block.len),
        },
        offset: located.offset,
        corrupt: located.locations.corrupt,
        block_token: no_token(),
        is_cached: replicas.iter().map(|replica| replica.is_held).collect(),
        storage_types: replicas.iter().map(|replica| replica.kind.number()).collect(),
        storage_i_ds: replicas.iter().map(|replica| replica.storage_id.to_string()).collect(),
        locs: replicas.iter().map(|replica| datanode_info(&replica.node)).collect(),
        block_indices: None,
        block_tokens: Vec::new(),
    }
}

/// Without security a token is there, but empty.
fn no_token() -> TokenProto {
    TokenProto::default()
}

pub(crate) fn located_blocks(blocks: LocatedBlocks, pool: &str) -> LocatedBlocksProto {
    LocatedBlocksProto {
        file_length: blocks.file_len,
        blocks: blocks.blocks.into_iter().map(|block| located_block(block, pool)).collect(),
        under_construction: blocks.under_construction,
        last_block: blocks.last.map(|block| located_block(block, pool)),
        is_last_block_complete: blocks.last_complete,
        file_encryption_info: None,
        ec_policy: None,
    }
}
