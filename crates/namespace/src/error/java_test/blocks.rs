//! Blocks, DataNodes, edits and calls that succeed later.

use super::{block, check, path};
use crate::error::{
    ArgumentError, BlockError, DatanodeError, Inconsistent, NotReplicatedYet, SafeMode, TryAgain,
    Unsupported,
};
use zerohop_wire::{BlockId, GenerationStamp, InodeId, JavaException};

#[test]
fn blocks_that_are_not_as_supposed() {
    let (old, new, last) = (block(1, 5, 3), block(2, 4, 4), block(1, 6, 4));
    check(
        JavaException::Io,
        [
            (BlockError::UnknownId { id: BlockId(1) }.into(), "Block 1 does not exist"),
            (BlockError::Unknown { block: old }.into(), "Block blk_1_3 does not exist"),
            (BlockError::UnknownInPipeline { block: old }.into(), "blk_1_3 does not exist."),
            (BlockError::UnknownInRecovery { block: old }.into(), "Block (=blk_1_3) not found"),
            (
                BlockError::NotUnderConstruction { block: old }.into(),
                "blk_1_3 is not under construction",
            ),
            (
                BlockError::UnexpectedState { block: old, state: "COMMITTED" }.into(),
                "Unexpected BlockUCState: blk_1_3 is COMMITTED but not UNDER_CONSTRUCTION",
            ),
            (
                BlockError::FileNotOpen { block: old }.into(),
                "The file blk_1_3 belonged to does not exist or it is not under construction.",
            ),
            (
                BlockError::FileDeleted { block: old }.into(),
                "The blockCollection of blk_1_3 is null, likely because the file owning this block was deleted and the block \
                 removal is delayed",
            ),
            (
                BlockError::FileNotUnderConstruction { path: path() }.into(),
                "Cannot finalize file /d/f because it is not under construction",
            ),
            (
                BlockError::CommitOfOtherStamp { stored: old, committed: new }.into(),
                "Commit block with mismatching GS. NN has blk_1_3, client submits blk_2_4",
            ),
            (
                BlockError::CommitTooShort { committed: 4, stored: 5 }.into(),
                "commitBlock length is less than the stored one 4 vs. 5",
            ),
            (
                BlockError::CommitInRecovery { block: old }.into(),
                "Commit or complete block blk_1_3, whereas it is under recovery.",
            ),
            (
                BlockError::CommitNotLast { block: old, last: BlockId(2) }.into(),
                "Commit block blk_1_3, which is not the last block 2",
            ),
            (
                BlockError::UpdateNotLast { old, new, path: path() }.into(),
                "blk_2_4 and blk_1_3 is not the last block of /d/f",
            ),
            (
                BlockError::UpdateOfOldStamp { old, new, last }.into(),
                "Update blk_1_3 but the new block blk_2_4 does not have a larger generation stamp than the last block \
                 blk_1_4",
            ),
            (
                BlockError::UpdateTooShort { old, new }.into(),
                "Update blk_1_3 (size=5) to a smaller size block blk_2_4 (size=4)",
            ),
            (
                BlockError::UpdateOfUnknownStamp { old, new, last: GenerationStamp(3) }.into(),
                "Update blk_1_3 but the generation stamp of the new block blk_2_4 was never given out; the last one is 3",
            ),
            (
                BlockError::AllocatedAndWritten { block: old }.into(),
                "Request looked like a retry to allocate block blk_1_3 but it already contains 5 bytes",
            ),
            (
                BlockError::PreviousNotLast { path: path(), previous: None, last: Some(old) }
                    .into(),
                "Cannot allocate block in /d/f: passed 'previous' block null does not match actual last block in file \
                 blk_1_3",
            ),
            (BlockError::NotAFile.into(), "not a file"),
            (
                BlockError::AppendNotReplicated { block: old, path: path() }.into(),
                "append: lastBlock=blk_1_3 of src=/d/f is not sufficiently replicated yet.",
            ),
            (
                BlockError::OtherRecovery {
                    recovery: GenerationStamp(5),
                    current: GenerationStamp(0),
                    block: old,
                }
                .into(),
                "The recovery id 5 does not match current recovery id 0 for block blk_1_3",
            ),
            (
                BlockError::Acknowledged { block: old }.into(),
                "blk_1_3 is not deleted: 5 bytes of it were acknowledged. Start the DataNodes that hold it, or delete the \
                 file",
            ),
            (
                BlockError::MayBeWritten { block: old }.into(),
                "blk_1_3 is not deleted: the NameNode became active a short time ago, and a DataNode that has not reported \
                 may hold flushed bytes of it",
            ),
            (
                BlockError::NoStampsLeft { last: GenerationStamp(9) }.into(),
                "No generation stamps are left after 9: nothing can be written before the metadata is mended",
            ),
        ],
    );
    let not_yet = NotReplicatedYet { path: path() };
    check(JavaException::NotReplicatedYet, [(not_yet.into(), "Not replicated yet: /d/f")]);
}

#[test]
fn a_block_without_a_place() {
    let no_targets = |excluded| {
        BlockError::NoTargets { path: path(), found: 0, minimum: 1, live: 2, excluded }.into()
    };
    check(
        JavaException::Io,
        [
            (
                no_targets(0),
                "File /d/f could only be written to 0 of the 1 minReplication nodes. There are 2 datanode(s) running and no \
                 node(s) are excluded in this operation.",
            ),
            (
                no_targets(2),
                "File /d/f could only be written to 0 of the 1 minReplication nodes. There are 2 datanode(s) running and 2 \
                 node(s) are excluded in this operation.",
            ),
        ],
    );
}

#[test]
fn datanodes_that_are_not_known() {
    let uuid = || "u".to_owned();
    let (sender, expected) = ("10.0.0.9:9866".to_owned(), "10.0.0.1:9866".to_owned());
    check(
        JavaException::UnregisteredNode,
        [
            (
                DatanodeError::UuidOfAnother { sender, uuid: uuid(), expected }.into(),
                "Data node 10.0.0.9:9866 is attempting to report storage ID u. Node 10.0.0.1:9866 is expected to serve this \
                 storage.",
            ),
            (
                DatanodeError::Unknown { uuid: uuid() }.into(),
                "Unresolved datanode registration: unknown datanode u",
            ),
        ],
    );
    check(
        JavaException::Io,
        [
            (
                DatanodeError::DeadOrUnregistered { uuid: uuid() }.into(),
                "ProcessReport from dead or unregistered node: u",
            ),
            (
                DatanodeError::ReportOutOfDate { uuid: uuid() }.into(),
                "Full block report of u is out of date: the DataNode registered or reported again",
            ),
        ],
    );
}

#[test]
fn what_is_not_supported() {
    let edit = Unsupported::Edit { what: path(), feature: "erasure coding" };
    let name = "raw.hdfs.crypto.x".to_owned();
    check(
        JavaException::UnsupportedOperation,
        [
            (Unsupported::Symlinks.into(), "Symlinks not supported"),
            (
                Unsupported::AppendToLazyPersist { path: path() }.into(),
                "Cannot append to lazy persist file /d/f",
            ),
            (
                Unsupported::TruncateOfLazyPersist { path: path() }.into(),
                "Cannot truncate lazy persist file /d/f",
            ),
            (
                Unsupported::TruncateInRollingUpgrade { path: path() }.into(),
                "Cannot truncate /d/f within a block while a rolling upgrade is in progress: finalize it first, or truncate \
                 to the end of a block",
            ),
            (
                Unsupported::XAttr { name, feature: "encryption zones" }.into(),
                "raw.hdfs.crypto.x belongs to encryption zones, which this NameNode does not support",
            ),
            (
                edit.into(),
                "/d/f needs erasure coding, which this NameNode does not support: take it away with Apache's NameNode, save \
                 the namespace there (hdfs dfsadmin -saveNamespace) and start again",
            ),
        ],
    );
    check(
        JavaException::HadoopIllegalArgument,
        [
            (
                ArgumentError::ReplicateAndErasureCode.into(),
                "SHOULD_REPLICATE flag and ecPolicyName are exclusive parameters. Set both is not allowed!",
            ),
            (
                ArgumentError::ErasureCodingPolicy { name: "RS".to_owned() }.into(),
                "Policy 'RS' does not match any enabled erasure coding policies: []. An erasure coding policy can be enabled \
                 by enableErasureCodingPolicy API.",
            ),
            (
                ArgumentError::NegativeLen { len: -1 }.into(),
                "Cannot truncate to a negative file size: -1.",
            ),
            (
                ArgumentError::LargerLen { len: 1, new_len: 2 }.into(),
                "Cannot truncate to a larger file size. Current size: 1, truncate size: 2.",
            ),
        ],
    );
}

#[test]
fn a_bandwidth_below_zero() {
    let negative = ArgumentError::NegativeBandwidth;
    check(JavaException::IllegalArgument, [(negative.into(), "Bandwidth should not be negative.")]);
}

#[test]
fn edits_that_do_not_fit() {
    let (old, new) = (block(1, 5, 3), block(2, 4, 4));
    check(
        JavaException::IllegalState,
        [
            (
                Inconsistent::InodeExists { id: InodeId(7), path: path() }.into(),
                "inode 7 is already there, for /d/f it is to be added again",
            ),
            (
                Inconsistent::CannotAttach { path: path() }.into(),
                "/d/f is already there or above it is no directory",
            ),
            (Inconsistent::NotADirectory { path: path() }.into(), "/d/f is not a directory"),
            (Inconsistent::JoinedTwice { target: path() }.into(), "a file is joined twice to /d/f"),
            (Inconsistent::TooShort { path: path(), len: 5 }.into(), "/d/f is only 5 bytes long"),
            (
                Inconsistent::CannotCut { path: path(), len: 5 }.into(),
                "/d/f cannot be cut to 5 bytes",
            ),
            (
                Inconsistent::OtherLastBlock { path: path(), last: None, expected: Some(old) }
                    .into(),
                "the last block of /d/f is none, not blk_1_3",
            ),
            (
                Inconsistent::OtherBlock { old, new, at: 0, count: 2, path: path() }.into(),
                "Mismatched block IDs or generation stamps, attempting to replace block blk_1_3 with blk_2_4 as block # 0/2 \
                 of /d/f",
            ),
            (
                Inconsistent::SeveralRemoved { path: path() }.into(),
                "Trying to remove more than one block from file /d/f",
            ),
            (
                Inconsistent::RemovedFromClosed { path: path() }.into(),
                "Trying to remove a block from file /d/f which is not under construction.",
            ),
            (
                Inconsistent::NotComplete { path: path() }.into(),
                "Failed to finalize /d/f: not all blocks are COMPLETE",
            ),
            (
                Inconsistent::RollingUpgradeStarted.into(),
                "Failed to start rolling upgrade since a rolling upgrade is already in progress.",
            ),
        ],
    );
}

#[test]
fn calls_that_succeed_later() {
    let (refusal, tip) = ("Cannot create directory /a".to_owned(), "The tip.".to_owned());
    check(
        JavaException::SafeMode,
        [(
            SafeMode { refusal, tip }.into(),
            "Cannot create directory /a. Name node is in safe mode.\nThe tip.",
        )],
    );
    check(
        JavaException::Retriable,
        [
            (
                TryAgain::PermissionsChange { path: path() }.into(),
                "The permissions below /d/f change faster than they can be checked. Try again when less is changed there.",
            ),
            (
                TryAgain::AppendCommitted { block: block(1, 5, 3), path: path() }.into(),
                "append: lastBlock=blk_1_3 of src=/d/f is COMMITTED but not yet COMPLETE.",
            ),
            (
                TryAgain::AppendNotReported { block: block(1, 5, 3), path: path() }.into(),
                "append: the replicas of blk_1_3 of /d/f are not reported yet",
            ),
            (
                TryAgain::WrittenNotReported { block: block(1, 5, 3), path: path() }.into(),
                "Zero blocklocations for /d/f: after a failover the DataNodes that write blk_1_3 have not reported it yet",
            ),
        ],
    );
}
