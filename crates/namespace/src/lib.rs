//! The NameNode's brain: inodes, blocks, leases, quotas, placement as a state machine.
//!
//! Nothing here knows a socket, a disk or a clock. Every mutation is a `journal::op::EditOp`: live operations validate,
//! change the tree and push the op to the outbox ([`Namespace::take_edits`]); replay ([`Namespace::apply`]) makes the
//! same change from the op. What both do is one function an op, in `ops/`.

mod access;
mod acl;
mod apply;
pub mod blocks;
mod cache;
mod commit;
mod context;
mod equal;
mod fail;
mod garbage;
mod id_index;
mod ids;
mod image;
mod lease;
mod limits;
mod next;
mod ops;
mod packed;
mod pages;
mod params;
mod quota;
mod requests;
mod resolve;
#[cfg(test)]
mod slices_test;
mod subtree;
mod tree;
mod unsupported;
mod usage;
mod views;

pub use apply::ApplyError;
pub use context::{INVALID_CALL_ID, OpContext};
pub use fail::Result;
pub use ids::Ids;
pub use image::ImageInfo;
pub use ops::quota_command;
pub use params::NamespaceParams;
pub use quota::{QUOTA_DONT_SET, QUOTA_RESET};
pub use requests::*;
pub use subtree::SubtreeWalk;
pub use views::*;

use blocks::{BlockManager, Now};
use commit::DurableState;
use fail::fail;
use zerohop_journal::EditOp;
use zerohop_journal::types::RpcIds;
use zerohop_wire::JavaException;

/// An edit on its way to the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEdit {
    /// The change.
    pub op: EditOp,
    /// The call that caused it, for the retry cache of whoever replays it.
    pub rpc: RpcIds,
}

/// The whole namespace of one NameNode.
pub struct Namespace {
    /// Set while in safe mode: the text clients get (`SafeMode::tip`); every mutation is refused with it.
    pub safe_mode: Option<String>,
    params: NamespaceParams,
    /// What images and edit logs carry.
    state: DurableState,
    edits: Vec<LoggedEdit>,
    /// Subtrees that were deleted and whose inodes are still to be freed.
    garbage: garbage::Garbage,
    now: Now,
    /// A live operation has run: replay is over.
    live: bool,
}

impl Namespace {
    /// An empty namespace: only the root folder, owned by the superuser.
    pub fn new(params: NamespaceParams, blocks: BlockManager) -> Self {
        let state = DurableState::new(&params, blocks);
        Self {
            safe_mode: None,
            params,
            state,
            edits: Vec::new(),
            garbage: garbage::Garbage::default(),
            now: Now::default(),
            live: false,
        }
    }

    /// The settings.
    pub fn params(&self) -> &NamespaceParams {
        &self.params
    }

    /// Counters: last inode id, generation stamps, block ids.
    pub fn ids(&self) -> &Ids {
        &self.state.ids
    }

    /// Which block belongs to which file and which storages hold it.
    pub fn blocks(&self) -> &BlockManager {
        &self.state.blocks
    }

    /// The same, for what DataNodes report and operators order.
    pub fn blocks_mut(&mut self) -> &mut BlockManager {
        &mut self.state.blocks
    }

    /// Edits made since the last call, in order; to be journaled before the answer leaves.
    ///
    /// An operation that failed may have made some (an expired lease that was taken over): take them all the same.
    pub fn take_edits(&mut self) -> Vec<LoggedEdit> {
        std::mem::take(&mut self.edits)
    }

    /// Begins a live mutation: takes the time, refuses in safe mode. `what` is Hadoop's text for that.
    fn begin(&mut self, ctx: &OpContext, what: impl FnOnce() -> String) -> Result<()> {
        self.now = ctx.now;
        if !self.live {
            self.live = true;
            self.state.leases.renew_all(ctx.now.mono_ms);
        }
        limits::check_text("The user's name", &ctx.user)?;
        self.check_safe_mode(what)
    }

    /// Refuses in safe mode. `what` is Hadoop's text for that (`FSNamesystem.checkNameNodeSafeMode`).
    ///
    /// # Errors
    /// `SafeModeException`.
    pub fn check_safe_mode(&self, what: impl FnOnce() -> String) -> Result<()> {
        match &self.safe_mode {
            Some(tip) => fail(
                JavaException::SafeMode,
                format!("{}. Name node is in safe mode.\n{tip}", what()),
            ),
            None => Ok(()),
        }
    }

    /// An edit no call is to be remembered for.
    fn log(&mut self, op: impl Into<EditOp>) {
        self.edits.push(LoggedEdit { op: op.into(), rpc: RpcIds::NONE });
    }

    /// An edit that carries the ids of the call that caused it.
    fn log_call(&mut self, ctx: &OpContext, op: impl Into<EditOp>) {
        self.edits
            .push(LoggedEdit { op: op.into(), rpc: RpcIds::new(&ctx.client_id, ctx.call_id) });
    }

    fn wall_ms(&self) -> u64 {
        self.now.wall_ms
    }
}
