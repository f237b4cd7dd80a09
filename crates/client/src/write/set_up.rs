//! How far the set-up of a pipeline is. Its steps are in [`allocate`](super::allocate) and
//! [`recovery`](super::recovery); between them the NameNode is asked.

use crate::types::{DatanodeInfo, Replica};
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::transfer::pipeline_fault::PipelineFault;

/// A pipeline that is being set up.
pub(super) enum SetUp {
    /// For a new block.
    Block(NewBlock),
    /// For a block that DataNodes have already.
    Pipeline(Rebuild),
}

/// A block that is being allocated.
pub(super) struct NewBlock {
    pub(super) previous: Option<ExtendedBlock>,
    /// Blocks that may be tried after this one.
    pub(super) tries_left: usize,
    pub(super) step: NewBlockStep,
}

pub(super) enum NewBlockStep {
    Ask,
    /// The NameNode was asked for a block.
    Connect,
    /// The NameNode was asked to abandon a block whose pipeline could not be connected.
    Abandoned,
}

/// A pipeline for a block that DataNodes have already.
pub(super) struct Rebuild {
    pub(super) old: ExtendedBlock,
    pub(super) stage: BlockConstructionStage,
    pub(super) step: RebuildStep,
}

pub(super) enum RebuildStep {
    /// The pipeline failed.
    Drop(PipelineFault),
    /// DataNodes that failed are to be replaced.
    Replace,
    /// The NameNode was asked for one more DataNode.
    Copy(Replacement),
    /// The block gets a new generation stamp.
    Stamp,
    /// The NameNode was asked for it.
    Connect,
    /// The pipeline is connected for this block, and the NameNode was asked to record it.
    Updated(ExtendedBlock),
}

/// A DataNode that is looked for.
pub(super) struct Replacement {
    pub(super) nodes: Vec<Replica>,
    pub(super) exclude: Vec<DatanodeInfo>,
    pub(super) tried: usize,
}
