//! Blocks that are not as a call supposes, and DataNodes that are not known.

use std::fmt;
use thiserror::Error;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// A block is not as a client or DataNode supposes, or there is no place for it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum BlockError {
    #[error("Block {id} does not exist")]
    UnknownId { id: BlockId },
    #[error("Block {block} does not exist")]
    Unknown { block: Block },
    #[error("{block} does not exist.")]
    UnknownInPipeline { block: Block },
    #[error("Block (={block}) not found")]
    UnknownInRecovery { block: Block },
    #[error("{block} is not under construction")]
    NotUnderConstruction { block: Block },
    #[error("Unexpected BlockUCState: {block} is {state} but not UNDER_CONSTRUCTION")]
    UnexpectedState { block: Block, state: &'static str },
    #[error("The file {block} belonged to does not exist or it is not under construction.")]
    FileNotOpen { block: Block },
    #[error(
        "The blockCollection of {block} is null, likely because the file owning this block was deleted and the block \
         removal is delayed"
    )]
    FileDeleted { block: Block },
    #[error("Cannot finalize file {path} because it is not under construction")]
    FileNotUnderConstruction { path: String },
    #[error("Commit block with mismatching GS. NN has {stored}, client submits {committed}")]
    CommitOfOtherStamp { stored: Block, committed: Block },
    #[error("commitBlock length is less than the stored one {committed} vs. {stored}")]
    CommitTooShort { committed: u64, stored: u64 },
    #[error("Commit or complete block {block}, whereas it is under recovery.")]
    CommitInRecovery { block: Block },
    #[error("Commit block {block}, which is not the last block {last}")]
    CommitNotLast { block: Block, last: BlockId },
    #[error("{new} and {old} is not the last block of {path}")]
    UpdateNotLast { old: Block, new: Block, path: String },
    #[error(
        "Update {old} but the new block {new} does not have a larger generation stamp than the last block {last}"
    )]
    UpdateOfOldStamp { old: Block, new: Block, last: Block },
    #[error("Update {old} (size={}) to a smaller size block {new} (size={})", old.len, new.len)]
    UpdateTooShort { old: Block, new: Block },
    #[error(
        "Update {old} but the generation stamp of the new block {new} was never given out; the last one is {last}"
    )]
    UpdateOfUnknownStamp { old: Block, new: Block, last: GenerationStamp },
    #[error("Request looked like a retry to allocate block {block} but it already contains {} bytes", block.len)]
    AllocatedAndWritten { block: Block },
    #[error(
        "Cannot allocate block in {path}: passed 'previous' block {} does not match actual last block in file {}",
        BlockOrNull(previous),
        BlockOrNull(last)
    )]
    PreviousNotLast { path: String, previous: Option<Block>, last: Option<Block> },
    #[error("not a file")]
    NotAFile,
    #[error(
        "File {path} could only be written to {found} of the {minimum} minReplication nodes. There are {live} datanode(s) \
         running and {} node(s) are excluded in this operation.",
        CountOrNo(*excluded)
    )]
    NoTargets { path: String, found: usize, minimum: u16, live: usize, excluded: usize },
    #[error("append: lastBlock={block} of src={path} is not sufficiently replicated yet.")]
    AppendNotReplicated { block: Block, path: String },
    #[error(
        "The recovery id {recovery} does not match current recovery id {current} for block {block}"
    )]
    OtherRecovery { recovery: GenerationStamp, current: GenerationStamp, block: Block },
    #[error(
        "{block} is not deleted: {} bytes of it were acknowledged. Start the DataNodes that hold it, or delete the file",
        block.len
    )]
    Acknowledged { block: Block },
    #[error(
        "{block} is not deleted: the NameNode became active a short time ago, and a DataNode that has not reported may hold \
         flushed bytes of it"
    )]
    MayBeWritten { block: Block },
    #[error(
        "No generation stamps are left after {last}: nothing can be written before the metadata is mended"
    )]
    NoStampsLeft { last: GenerationStamp },
}

/// The block before the last one of a file lacks replicas; `addBlock` succeeds when DataNodes have reported them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("Not replicated yet: {path}")]
#[allow(missing_docs)]
pub struct NotReplicatedYet {
    pub path: String,
}

struct BlockOrNull<'a>(&'a Option<Block>);

impl fmt::Display for BlockOrNull<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(block) => block.fmt(f),
            None => f.write_str("null"),
        }
    }
}

struct CountOrNo(usize);

impl fmt::Display for CountOrNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("no"),
            some => some.fmt(f),
        }
    }
}

/// A DataNode that is not known here, or that sent what does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum DatanodeError {
    /// Another DataNode registered with its UUID: `sender` and `expected` are addresses.
    #[error(
        "Data node {sender} is attempting to report storage ID {uuid}. Node {expected} is expected to serve this storage."
    )]
    UuidOfAnother { sender: String, uuid: String, expected: String },
    #[error("Unresolved datanode registration: unknown datanode {uuid}")]
    Unknown { uuid: String },
    #[error("ProcessReport from dead or unregistered node: {uuid}")]
    DeadOrUnregistered { uuid: String },
    #[error(
        "Full block report of {uuid} is out of date: the DataNode registered or reported again"
    )]
    ReportOutOfDate { uuid: String },
}
