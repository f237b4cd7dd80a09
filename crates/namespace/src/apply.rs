//! Edits committed: those that calls make, and those of an edit log, Apache's or ours.

use crate::Error;
use crate::commit::Committed;
use crate::{LoggedEdit, Namespace, OpContext, Result};
use smallvec::SmallVec;
use zerohop_journal::EditOp;
use zerohop_journal::types::RpcIds;
use zerohop_wire::{Block, BlockId, TxId};

/// Inodes and blocks freed before a delete answers; the rest waits for [`Namespace::free_deleted`].
const FREED_AT_ONCE: usize = 1000;

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

impl Namespace {
    /// Makes the change of one edit from the log.
    ///
    /// A block whose length the edit makes final is complete: the NameNode that wrote the log had seen enough replicas, or
    /// will see to them. DataNodes may have reported to this one already.
    ///
    /// # Errors
    /// When it does not fit what is there, or belongs to a feature that is not supported; nothing after it may be applied.
    pub fn apply(&mut self, txid: TxId, op: &EditOp) -> std::result::Result<(), ApplyError> {
        self.apply_in_pieces(txid, op)?;
        self.free_deleted(usize::MAX);
        Ok(())
    }

    /// As [`Namespace::apply`], of a namespace that is served: what a large deletion leaves is for
    /// [`Namespace::free_deleted`].
    ///
    /// # Errors
    /// As there.
    pub fn apply_in_pieces(
        &mut self,
        txid: TxId,
        op: &EditOp,
    ) -> std::result::Result<(), ApplyError> {
        let committed =
            self.state.commit(op).map_err(|reason| ApplyError { txid, op: op.name(), reason })?;
        self.follow(&committed);
        for block in &committed.finished {
            self.state.blocks_mut().under_construction().complete_replayed(*block);
        }
        if self.state.blocks().is_standby() {
            let ids = *self.state.ids();
            self.state.blocks_mut().edit_applied(&ids, &blocks_of(op));
        }
        Ok(())
    }

    /// Commits an edit that no call is remembered for, and puts it in the outbox.
    pub(crate) fn commit(&mut self, op: impl Into<EditOp>) -> Result<Committed> {
        self.commit_for(RpcIds::NONE, op.into())
    }

    /// Commits an edit that carries the ids of the call that caused it, and puts it in the outbox.
    pub(crate) fn commit_call(
        &mut self,
        ctx: &OpContext,
        op: impl Into<EditOp>,
    ) -> Result<Committed> {
        self.commit_for(ctx.rpc, op.into())
    }

    fn commit_for(&mut self, rpc: RpcIds, op: EditOp) -> Result<Committed> {
        let committed = self.state.commit(&op)?;
        self.edits.push(LoggedEdit { op, rpc });
        self.follow(&committed);
        if let (Some(holder), Some(slot)) = (&committed.holder, committed.inode) {
            let file = self.state.tree().get(slot).id;
            self.lease_clock.assigned(holder, file, self.now.mono_ms);
        }
        if committed.deleted.is_some() {
            self.free_deleted(FREED_AT_ONCE);
        }
        Ok(committed)
    }

    /// What follows from an edit wherever it came from.
    fn follow(&mut self, committed: &Committed) {
        if let Some(block) = committed.reopened {
            self.state.blocks_mut().under_construction().expect_reopened(block);
        }
        if let Some(deleted) = &committed.deleted {
            self.deleted.add(deleted);
        }
    }

    /// Frees up to `max` inodes and blocks of deleted subtrees; true while there are more. Call between operations.
    pub fn free_deleted(&mut self, max: usize) -> bool {
        self.deleted.free(&mut self.state, max)
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
