//! The NameNode's brain: inodes, blocks, leases, quotas, placement as a state machine.
//!
//! Nothing here knows a socket, a disk or a clock. Every mutation is a `journal::op::EditOp` that is committed, by one
//! function: live operations check, build the op, commit it and put it in the outbox ([`Namespace::take_edits`]); replay
//! ([`Namespace::apply`]) commits the ops of a log.

mod access;
mod acl;
mod apply;
pub mod blocks;
mod cache;
mod commit;
#[cfg(test)]
mod commit_test;
mod context;
mod deleted;
mod equal;
pub mod error;
#[cfg(test)]
mod fixture;
mod ha;
mod id_index;
mod ids;
mod image;
mod lease;
mod lease_clock;
mod limits;
mod mode;
mod next;
mod ops;
mod packed;
mod pages;
mod params;
mod policies;
mod quota;
mod rename_check;
mod requests;
mod resolve;
mod rolling_upgrade;
#[cfg(test)]
mod slices_test;
mod subtree;
mod tree;
mod unsupported;
mod usage;
mod views;
mod walk;

pub use apply::ApplyError;
pub use context::OpContext;
pub use error::{Error, Result};
pub use ids::Ids;
pub use image::ImageInfo;
pub use ops::quota_command;
pub use params::NamespaceParams;
pub use quota::{QUOTA_DONT_SET, QUOTA_RESET};
pub use requests::*;
pub use rolling_upgrade::RollingUpgrade;
pub use subtree::{RemovalCheck, SubtreeWalk};
pub use views::*;

use blocks::{BlockManager, Now};
use cache::CacheScan;
use commit::DurableState;
use deleted::DeletedSubtrees;
use error::{SafeMode, refuse};
use lease_clock::LeaseClock;
use zerohop_journal::EditOp;
use zerohop_journal::types::RpcIds;

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
    deleted: DeletedSubtrees,
    /// The scan of the cache directives that is under way.
    cache_scan: Option<CacheScan>,
    lease_clock: LeaseClock,
    now: Now,
    /// A live operation has run: replay is over.
    live: bool,
}

impl Namespace {
    /// An empty namespace: only the root directory, owned by the superuser.
    pub fn new(params: NamespaceParams, blocks: BlockManager) -> Self {
        let state = DurableState::new(&params, blocks);
        Self {
            safe_mode: None,
            params,
            state,
            edits: Vec::new(),
            deleted: DeletedSubtrees::default(),
            cache_scan: None,
            lease_clock: LeaseClock::default(),
            now: Now::default(),
            live: false,
        }
    }

    /// The settings.
    pub fn params(&self) -> &NamespaceParams {
        &self.params
    }

    /// Other settings from here on; those that were only read at the start stay as they were.
    pub fn set_params(&mut self, params: NamespaceParams) {
        self.params = params;
    }

    /// Counters: last inode id, generation stamps, block ids.
    pub fn ids(&self) -> &Ids {
        self.state.ids()
    }

    /// Which block belongs to which file and which storages hold it.
    pub fn blocks(&self) -> &BlockManager {
        self.state.blocks()
    }

    /// The same, for what DataNodes report and operators order.
    pub fn blocks_mut(&mut self) -> &mut BlockManager {
        self.state.blocks_mut()
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
            self.lease_clock.start(ctx.now.mono_ms);
        }
        limits::check_text("The user's name", ctx.user())?;
        self.check_safe_mode(what)
    }

    /// Refuses in safe mode. `what` is Hadoop's text for that (`FSNamesystem.checkNameNodeSafeMode`).
    ///
    /// # Errors
    /// `Error::SafeMode`.
    pub fn check_safe_mode(&self, what: impl FnOnce() -> String) -> Result<()> {
        match &self.safe_mode {
            Some(tip) => refuse(SafeMode { refusal: what(), tip: tip.clone() }),
            None => Ok(()),
        }
    }

    fn wall_ms(&self) -> u64 {
        self.now.wall_ms
    }
}
