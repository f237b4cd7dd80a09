//! A block as messages name it.

use crate::ids::{BlockId, GenerationStamp};
use std::fmt;
use std::sync::Arc;
use zerohop_proto::hdfs::{BlockProto, ExtendedBlockProto};

/// A block without its pool: id, generation stamp, length in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// Its id, unique in the pool.
    pub id: BlockId,
    /// Its generation stamp.
    pub stamp: GenerationStamp,
    /// Bytes of data.
    pub len: u64,
}

impl fmt::Display for Block {
    /// `blk_<id>_<stamp>`, as Hadoop logs it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blk_{}_{}", self.id, self.stamp)
    }
}

impl From<&BlockProto> for Block {
    fn from(proto: &BlockProto) -> Self {
        Self {
            id: BlockId(proto.block_id as i64),
            stamp: GenerationStamp(proto.gen_stamp as i64),
            len: proto.num_bytes.unwrap_or(0),
        }
    }
}

impl From<Block> for BlockProto {
    fn from(block: Block) -> Self {
        Self {
            block_id: block.id.0 as u64,
            gen_stamp: block.stamp.0 as u64,
            num_bytes: Some(block.len),
        }
    }
}

/// A block with the id of the block pool it lives in (`BP-<n>-<ip>-<ctime>`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExtendedBlock {
    /// The block pool's id.
    pub pool: Arc<str>,
    /// The block.
    pub block: Block,
}

impl fmt::Display for ExtendedBlock {
    /// `<pool>:blk_<id>_<stamp>`, as Hadoop logs it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.pool, self.block)
    }
}

impl From<&ExtendedBlockProto> for ExtendedBlock {
    fn from(proto: &ExtendedBlockProto) -> Self {
        Self {
            pool: proto.pool_id.as_str().into(),
            block: Block {
                id: BlockId(proto.block_id as i64),
                stamp: GenerationStamp(proto.generation_stamp as i64),
                len: proto.num_bytes.unwrap_or(0),
            },
        }
    }
}

impl From<&ExtendedBlock> for ExtendedBlockProto {
    fn from(block: &ExtendedBlock) -> Self {
        Self {
            pool_id: block.pool.to_string(),
            block_id: block.block.id.0 as u64,
            generation_stamp: block.block.stamp.0 as u64,
            num_bytes: Some(block.block.len),
        }
    }
}
