//! `append`.

use super::Files;
use crate::access::WRITE;
use crate::blocks::{BlockLocations, BlockState, policy};
use crate::commit::DurableState;
use crate::error::{
    AlreadyExists, BlockError, LeaseExpired, LeaseOperation, NotFound, TryAgain, Unsupported,
    refuse,
};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::view::View;
use crate::view::status::status_of;
use crate::{CreateFlags, FileStatus, LocatedBlock, Result};
use zerohop_journal::op::Append;

/// Files of this policy cannot be appended to or truncated.
pub(crate) const LAZY_PERSIST: u8 = 15;

impl Files<'_> {
    /// Opens a file for append. Returns the block to continue (none if a new one is needed) and the file.
    ///
    /// # Errors
    /// As Hadoop's `append`.
    pub fn append(
        &mut self,
        path: &str,
        client_name: &str,
        flags: CreateFlags,
    ) -> Result<(Option<LocatedBlock>, FileStatus)> {
        self.call.begin(|| format!("Cannot append to file{path}"))?;
        check_text("The client's name", client_name)?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        let path = &*located.path;
        if located.last().is_some_and(|slot| self.call.state.tree().get(slot).is_directory()) {
            return refuse(AlreadyExists::AppendedDirectory { path: path.to_owned() });
        }
        self.call.access().check_access_to(&located, WRITE)?;
        if located.last().is_none() {
            let client_host = self.call.ctx.client_host.to_string();
            return refuse(NotFound::Appended { path: path.to_owned(), client_host });
        }
        let slot = self.call.state.paths().file_at(located.last(), path)?;
        if self.call.state.effective_policy(slot) == LAZY_PERSIST {
            return refuse(Unsupported::AppendToLazyPersist { path: path.to_owned() });
        }
        let who = (client_name, &*self.call.ctx.client_host);
        self.recovery().recover_file_lease(LeaseOperation::Append, slot, path, who)?;
        self.check_last_for_append(slot, path)?;
        self.check_append_quota(slot)?;
        let op = Append {
            path: path.to_owned(),
            client_name: client_name.to_owned(),
            client_machine: self.call.ctx.client_host.to_string(),
            // During a rolling upgrade complete replicas are not appended to: a rollback needs their old stamp and length.
            new_block: flags.new_block || self.call.state.rolling_upgrade().is_under_way(),
        };
        let reopened = self.call.commit_call(op)?.reopened;
        Ok((
            append_block(self.call.state, slot, reopened.is_some(), flags.new_block),
            status_of(self.call.state, slot, String::new(), policy::UNSPECIFIED),
        ))
    }

    fn check_last_for_append(&self, slot: Slot, path: &str) -> Result<()> {
        let Some(stored) = self
            .call
            .state
            .files()
            .last_block(slot)
            .and_then(|last| self.call.state.blocks().get(last))
        else {
            return Ok(());
        };
        let block = stored.block;
        match stored.state {
            BlockState::Committed => {
                refuse(TryAgain::AppendCommitted { block, path: path.to_owned() })
            }
            BlockState::Complete
                if !self.call.state.blocks().lookup().has_min_replication(block.id) =>
            {
                refuse(BlockError::AppendNotReplicated { block, path: path.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// The quota is charged for a full last block while it is written again.
    fn check_append_quota(&self, slot: Slot) -> Result<()> {
        let Some(last) = self.call.state.files().last_stored(slot) else { return Ok(()) };
        let missing =
            (self.call.state.files().block_size(slot) as i64).wrapping_sub(last.len as i64);
        self.call.state.ledger().verify_quota(
            self.call.state.tree().get(slot).parent,
            &self.call.state.ledger().space_delta(slot, missing),
            None,
        )
    }
}

impl View<'_> {
    /// The answer to an append that was carried out before a restart and comes again. Where the last
    /// block's replicas are is known only when DataNodes have reported them.
    ///
    /// # Errors
    /// `Error::TryAgain` until they have; `Error::LeaseExpired` when the file has another writer by
    /// now, or none.
    pub fn repeat_append(self, op: &Append) -> Result<(Option<LocatedBlock>, FileStatus)> {
        let path = &*op.path;
        let located = self.access().resolve(path, DirOp::Read)?;
        let slot = self.state.paths().file_at(located.last(), path)?;
        let file = self.state.tree().get(slot).as_file();
        let writer = file.and_then(|file| file.writer()).map(|writer| &*writer.client_name);
        if writer != Some(&*op.client_name) {
            let client = op.client_name.clone();
            return refuse(LeaseExpired::Appended { path: path.to_owned(), client });
        }
        let last =
            self.state.files().last_block(slot).and_then(|last| self.state.blocks().get(last));
        let reopened = last.filter(|last| last.state == BlockState::UnderConstruction);
        let unknown =
            |id| self.safe_mode.is_some() || self.state.blocks().lookup().targets(id).is_empty();
        if let Some(last) = reopened.filter(|last| unknown(last.block.id)) {
            let (block, path) = (last.block, path.to_owned());
            return refuse(TryAgain::AppendNotReported { block, path });
        }
        Ok((
            append_block(self.state, slot, reopened.is_some(), op.new_block),
            status_of(self.state, slot, String::new(), policy::UNSPECIFIED),
        ))
    }
}

fn append_block(
    state: &DurableState,
    slot: Slot,
    reopened: bool,
    new_block: bool,
) -> Option<LocatedBlock> {
    let block = state.files().last_stored(slot)?;
    if reopened {
        let replicas =
            state.blocks().datanodes().locations(&state.blocks().lookup().targets(block.id));
        let offset = state.ledger().file_len(slot).saturating_sub(block.len);
        return Some(LocatedBlock {
            offset,
            locations: BlockLocations { block, replicas, corrupt: false },
        });
    }
    // With NEW_BLOCK the client needs the last block, but not its locations.
    let locations = BlockLocations { block, replicas: Vec::new(), corrupt: false };
    new_block.then_some(LocatedBlock { offset: u64::MAX, locations })
}
