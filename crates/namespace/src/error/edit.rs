//! Edits and requests that cannot be carried out as they are.

use std::fmt;
use thiserror::Error;
use zerohop_wire::{Block, InodeId};

/// What to do about an image or a log that is refused.
pub(crate) const ADVICE: &str = "which this NameNode does not support: take it away with Apache's NameNode, save the \
                                 namespace there (hdfs dfsadmin -saveNamespace) and start again";

/// An operation, or a feature that an edit needs, that this NameNode does not support.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Unsupported {
    #[error("Symlinks not supported")]
    Symlinks,
    #[error("Cannot append to lazy persist file {path}")]
    AppendToLazyPersist { path: String },
    #[error("Cannot truncate lazy persist file {path}")]
    TruncateOfLazyPersist { path: String },
    #[error(
        "Cannot truncate {path} within a block while a rolling upgrade is in progress: finalize it first, or truncate to the \
         end of a block"
    )]
    TruncateInRollingUpgrade { path: String },
    /// The name with its prefix.
    #[error("{name} belongs to {feature}, which this NameNode does not support")]
    XAttr { name: String, feature: &'static str },
    /// What an edit does, or the path that it is about.
    #[error("{what} needs {feature}, {ADVICE}")]
    Edit { what: String, feature: &'static str },
}

/// An edit does not fit the state: the edit log is damaged, or a check before the commit is missing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Inconsistent {
    #[error("inode {id} is already there, for {path} it is to be added again")]
    InodeExists { id: InodeId, path: String },
    #[error("{path} is already there or above it is no directory")]
    CannotAttach { path: String },
    #[error("{path} is not a directory")]
    NotADirectory { path: String },
    #[error("a file is joined twice to {target}")]
    JoinedTwice { target: String },
    #[error("{path} is only {len} bytes long")]
    TooShort { path: String, len: u64 },
    #[error("{path} cannot be cut to {len} bytes")]
    CannotCut { path: String, len: u64 },
    #[error("the last block of {path} is {}, not {}", BlockOrNone(last), BlockOrNone(expected))]
    OtherLastBlock { path: String, last: Option<Block>, expected: Option<Block> },
    #[error(
        "Mismatched block IDs or generation stamps, attempting to replace block {old} with {new} as block # {at}/{count} of \
         {path}"
    )]
    OtherBlock { old: Block, new: Block, at: usize, count: usize, path: String },
    #[error("Trying to remove more than one block from file {path}")]
    SeveralRemoved { path: String },
    #[error("Trying to remove a block from file {path} which is not under construction.")]
    RemovedFromClosed { path: String },
    #[error("Failed to finalize {path}: not all blocks are COMPLETE")]
    NotComplete { path: String },
    #[error("Failed to start rolling upgrade since a rolling upgrade is already in progress.")]
    RollingUpgradeStarted,
}

struct BlockOrNone<'a>(&'a Option<Block>);

impl fmt::Display for BlockOrNone<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(block) => block.fmt(f),
            None => f.write_str("none"),
        }
    }
}

/// A request whose arguments are invalid in any namespace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ArgumentError {
    #[error(
        "SHOULD_REPLICATE flag and ecPolicyName are exclusive parameters. Set both is not allowed!"
    )]
    ReplicateAndErasureCode,
    #[error(
        "Policy '{name}' does not match any enabled erasure coding policies: []. An erasure coding policy can be enabled by \
         enableErasureCodingPolicy API."
    )]
    ErasureCodingPolicy { name: String },
    #[error("Cannot truncate to a negative file size: {len}.")]
    NegativeLen { len: i64 },
    #[error(
        "Cannot truncate to a larger file size. Current size: {len}, truncate size: {new_len}."
    )]
    LargerLen { len: u64, new_len: u64 },
    #[error("Bandwidth should not be negative.")]
    NegativeBandwidth,
}

/// Files cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ConcatError {
    #[error("Target file name is empty")]
    NoTarget,
    #[error("No sources given")]
    NoSources,
    #[error("Concat operation doesn't support .reserved relative path : {path}")]
    ReservedPath { path: String },
    #[error("concat: target file {path} is under construction")]
    TargetOpen { path: String },
    #[error("Source file {path} is not in the same directory with the target {target}")]
    OtherDirectory { path: String, target: String },
    #[error("concat: the src file {path} is the same with the target file {target}")]
    SourceIsTarget { path: String, target: String },
    #[error("concat: at least two of the source files are the same")]
    SourceTwice,
    #[error("concat: source file {path} is invalid or empty or underConstruction")]
    EmptyOrOpen { path: String },
    #[error(
        "concat: source file {path} has preferred block size {block_size} which is greater than the target file's preferred \
         block size {target_block_size}"
    )]
    LargerBlocks { path: String, block_size: u64, target_block_size: u64 },
}

/// The NameNode is in safe mode.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{refusal}. Name node is in safe mode.\n{tip}")]
#[allow(missing_docs)]
pub struct SafeMode {
    /// What cannot be done.
    pub refusal: String,
    /// What safe mode waits for, and how to leave it.
    pub tip: String,
}

/// A call that succeeds when the client sends it again after a while.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum TryAgain {
    #[error(
        "The permissions below {path} change faster than they can be checked. Try again when less is changed there."
    )]
    PermissionsChange { path: String },
    #[error("append: lastBlock={block} of src={path} is COMMITTED but not yet COMPLETE.")]
    AppendCommitted { block: Block, path: String },
    #[error("append: the replicas of {block} of {path} are not reported yet")]
    AppendNotReported { block: Block, path: String },
    #[error(
        "Zero blocklocations for {path}: after a failover the DataNodes that write {block} have not reported it yet"
    )]
    WrittenNotReported { block: Block, path: String },
    /// The safe mode of the start: it ends when DataNodes have reported. The text is that of Java's exception within an exception.
    #[error("org.apache.hadoop.hdfs.server.namenode.SafeModeException: {0}")]
    SafeMode(SafeMode),
}
