//! A call that changes the namespace.

use crate::access::PermissionChecker;
use crate::apply::{self, FREED_AT_ONCE};
use crate::commit::{Committed, DurableState};
use crate::deleted::DeletedSubtrees;
use crate::error::{LimitError, refuse};
use crate::lease_clock::LeaseClock;
use crate::limits::check_text;
use crate::ops::directory_rules::DirectoryRules;
use crate::safe_mode_notice::SafeModeNotice;
use crate::{NamespaceParams, OpContext, Result};
use zerohop_journal::EditOp;
use zerohop_journal::types::RpcIds;

/// An edit on its way to the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEdit {
    /// The change.
    pub op: EditOp,
    /// The call that caused it, for the retry cache of a NameNode that replays it.
    pub rpc: RpcIds,
}

/// One call that changes the namespace, and the parts that it needs. An operation begins it, resolves and checks its
/// paths, builds an edit and commits it.
pub(crate) struct Call<'n> {
    pub(crate) ctx: &'n OpContext,
    pub(crate) params: &'n NamespaceParams,
    pub(crate) state: &'n mut DurableState,
    pub(crate) lease_clock: &'n mut LeaseClock,
    pub(crate) deleted: &'n mut DeletedSubtrees,
    /// The edits to be journaled before the answer leaves.
    pub(crate) edits: &'n mut Vec<LoggedEdit>,
    /// Set while in safe mode.
    pub(crate) safe_mode: Option<&'n SafeModeNotice>,
}

impl Call<'_> {
    /// Begins a change: refuses in safe mode. `what` is Hadoop's text for that.
    pub(crate) fn begin(&mut self, what: impl FnOnce() -> String) -> Result<()> {
        self.lease_clock.start_once(self.ctx.now.mono_ms);
        check_text("The user's name", self.ctx.user())?;
        self.check_safe_mode(what)
    }

    /// Refuses in safe mode. `what` is Hadoop's text for that (`FSNamesystem.checkNameNodeSafeMode`).
    pub(crate) fn check_safe_mode(&self, what: impl FnOnce() -> String) -> Result<()> {
        check_safe_mode(self.safe_mode, what)
    }

    /// Resolves paths and checks the caller's permissions.
    pub(crate) fn access(&self) -> PermissionChecker<'_> {
        PermissionChecker { params: self.params, tree: self.state.tree(), ctx: self.ctx }
    }

    /// The limits of directories, and what new inodes inherit.
    pub(crate) fn rules(&self) -> DirectoryRules<'_> {
        DirectoryRules { params: self.params, state: self.state, ctx: self.ctx }
    }

    pub(crate) fn wall_ms(&self) -> u64 {
        self.ctx.now.wall_ms
    }

    /// Commits an edit without the ids of the call, and puts it in the outbox: the call may be repeated.
    pub(crate) fn commit(&mut self, op: impl Into<EditOp>) -> Result<Committed> {
        self.commit_for(RpcIds::NONE, op.into())
    }

    /// Commits an edit that carries the ids of the call that caused it, and puts it in the outbox.
    pub(crate) fn commit_call(&mut self, op: impl Into<EditOp>) -> Result<Committed> {
        self.commit_for(self.ctx.rpc, op.into())
    }

    fn commit_for(&mut self, rpc: RpcIds, op: EditOp) -> Result<Committed> {
        let committed = self.state.commit(&op)?;
        self.edits.push(LoggedEdit { op, rpc });
        apply::follow(self.state, self.deleted, &committed);
        if let (Some(holder), Some(slot)) = (&committed.holder, committed.inode) {
            let file = self.state.tree().get(slot).id;
            self.lease_clock.assigned(holder, file, self.ctx.now.mono_ms);
        }
        if committed.deleted.is_some() {
            self.deleted.free(self.state, FREED_AT_ONCE);
        }
        Ok(committed)
    }

    /// Whether one more inode or block fits `dfs.namenode.max.objects` once `freed` are gone (`checkFsObjectLimit`). As
    /// there, an operation that makes several is counted as one. What is deleted does not count, also if it is not freed
    /// yet.
    pub(crate) fn check_object_limit(&self, freed: usize) -> Result<()> {
        let limit = self.params.objects_max;
        let objects =
            self.state.blocks().block_count().saturating_add(self.state.tree().len() as u64);
        let objects = objects.saturating_sub(self.deleted.objects());
        if limit == 0 || objects.saturating_sub(freed as u64) < limit {
            return Ok(());
        }
        refuse(LimitError::Objects { limit })
    }
}

/// Refuses in safe mode; `what` is Hadoop's text of the refusal.
pub(crate) fn check_safe_mode(
    safe_mode: Option<&SafeModeNotice>,
    what: impl FnOnce() -> String,
) -> Result<()> {
    safe_mode.map_or(Ok(()), |notice| Err(notice.refuse(what())))
}
