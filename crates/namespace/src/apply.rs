//! What follows from a committed edit, and the edits of a log: Apache's or ours.

use crate::Error;
use crate::commit::{Committed, DurableState};
use crate::deleted::DeletedSubtrees;
use smallvec::SmallVec;
use zerohop_journal::EditOp;
use zerohop_wire::{Block, BlockId, TxId};

/// Inodes and blocks freed before a delete answers; the rest waits for `Namespace::free_deleted`.
pub(crate) const FREED_AT_ONCE: usize = 1000;

/// An edit that cannot be applied: the log is damaged, or uses what is not supported.
#[derive(Debug, thiserror::Error)]
#[error("cannot replay {op} (transaction {txid}): {reason}")]
pub struct ApplyError {
    /// The edit's transaction.
    pub txid: TxId,
    /// Hadoop's name of the edit, `OP_ADD` and so on.
    pub op: &'static str,
    /// Why not.
    pub reason: Error,
}

/// Makes the change of one edit from the log; what a large deletion leaves stays in `deleted`.
pub(crate) fn apply(
    state: &mut DurableState,
    deleted: &mut DeletedSubtrees,
    txid: TxId,
    op: &EditOp,
) -> Result<(), ApplyError> {
    let committed =
        state.commit(op).map_err(|reason| ApplyError { txid, op: op.name(), reason })?;
    follow(state, deleted, &committed);
    for block in &committed.finished {
        state.blocks_mut().under_construction().complete_replayed(*block);
    }
    if state.blocks().is_standby() {
        let ids = *state.ids();
        state.blocks_mut().edit_applied(&ids, &blocks_of(op));
    }
    Ok(())
}

/// What follows from an edit, whether a call made it or a log contains it.
pub(crate) fn follow(
    state: &mut DurableState,
    deleted: &mut DeletedSubtrees,
    committed: &Committed,
) {
    if let Some(block) = committed.reopened {
        state.blocks_mut().under_construction().expect_reopened(block);
    }
    if let Some(subtree) = &committed.deleted {
        deleted.add(subtree);
    }
}

/// The blocks that an edit adds or changes.
fn blocks_of(op: &EditOp) -> SmallVec<[BlockId; 2]> {
    let ids = |blocks: &[Block]| blocks.iter().map(|block| block.id).collect();
    match op {
        EditOp::Add(op) => ids(&op.blocks),
        EditOp::Close(op) => ids(&op.blocks),
        EditOp::UpdateBlocks(op) => ids(&op.blocks),
        EditOp::AddBlock(op) => op.penultimate.iter().chain([&op.last]).map(|it| it.id).collect(),
        EditOp::Truncate(op) => ids(op.block.as_slice()),
        _ => SmallVec::new(),
    }
}
