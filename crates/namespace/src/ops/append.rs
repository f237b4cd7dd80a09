//! Files opened again at their end.

use crate::access::WRITE;
use crate::blocks::{BlockLocations, BlockState, policy};
use crate::error::{
    AlreadyExists, BlockError, LeaseExpired, LeaseOperation, NotFound, TryAgain, Unsupported,
    refuse,
};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::{CreateFlags, FileStatus, LocatedBlock, Namespace, OpContext, Result};
use zerohop_journal::op::Append;

/// Files of this policy cannot be appended to or truncated.
pub(crate) const LAZY_PERSIST: u8 = 15;

impl Namespace {
    /// Opens a file for append; the block to go on with (none if a new one is needed) and the file.
    ///
    /// # Errors
    /// As Hadoop's `append`.
    pub fn append(
        &mut self,
        ctx: &OpContext,
        path: &str,
        client_name: &str,
        flags: CreateFlags,
    ) -> Result<(Option<LocatedBlock>, FileStatus)> {
        self.begin(ctx, || format!("Cannot append to file{path}"))?;
        check_text("The client's name", client_name)?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        let path = &*located.path;
        if located.last().is_some_and(|slot| self.state.tree().get(slot).is_directory()) {
            return refuse(AlreadyExists::AppendedDirectory { path: path.to_owned() });
        }
        self.check_access_to(ctx, &located, WRITE)?;
        if located.last().is_none() {
            let client_host = ctx.client_host.to_string();
            return refuse(NotFound::Appended { path: path.to_owned(), client_host });
        }
        let slot = self.state.paths().file_at(located.last(), path)?;
        if self.state.effective_policy(slot) == LAZY_PERSIST {
            return refuse(Unsupported::AppendToLazyPersist { path: path.to_owned() });
        }
        self.recover_file_lease(
            LeaseOperation::Append,
            slot,
            path,
            (client_name, &ctx.client_host),
        )?;
        self.check_last_for_append(slot, path)?;
        self.check_append_quota(slot)?;
        let op = Append {
            path: path.to_owned(),
            client_name: client_name.to_owned(),
            client_machine: ctx.client_host.to_string(),
            // What a rolling upgrade may be rolled back to stays as it is: an appended replica has another stamp and length.
            new_block: flags.new_block || self.state.rolling_upgrade().is_under_way(),
        };
        let reopened = self.commit_call(ctx, op)?.reopened;
        Ok((
            self.append_block(slot, reopened.is_some(), flags.new_block),
            self.status_of(slot, String::new(), policy::UNSPECIFIED),
        ))
    }

    /// The answer to an append that was carried out before a restart and comes again. Where the last
    /// block's replicas are is known only when DataNodes have reported them.
    ///
    /// # Errors
    /// `Error::TryAgain` until they have; `Error::LeaseExpired` when the file has another writer by
    /// now, or none.
    pub fn repeat_append(&self, op: &Append) -> Result<(Option<LocatedBlock>, FileStatus)> {
        let path = &*op.path;
        let located = self.resolve(&OpContext::internal(self.now), path, DirOp::Read)?;
        let slot = self.state.paths().file_at(located.last(), path)?;
        let file = self.state.tree().get(slot).as_file();
        let writer = file.and_then(|file| file.writer()).map(|writer| &*writer.client_name);
        if writer != Some(&*op.client_name) {
            let client = op.client_name.clone();
            return refuse(LeaseExpired::Appended { path: path.to_owned(), client });
        }
        let last = self.state.last_block(slot).and_then(|last| self.state.blocks().get(last));
        let reopened = last.filter(|last| last.state == BlockState::UnderConstruction);
        let unknown =
            |id| self.safe_mode.is_some() || self.state.blocks().lookup().targets(id).is_empty();
        if let Some(last) = reopened.filter(|last| unknown(last.block.id)) {
            let (block, path) = (last.block, path.to_owned());
            return refuse(TryAgain::AppendNotReported { block, path });
        }
        Ok((
            self.append_block(slot, reopened.is_some(), op.new_block),
            self.status_of(slot, String::new(), policy::UNSPECIFIED),
        ))
    }

    fn check_last_for_append(&self, slot: Slot, path: &str) -> Result<()> {
        let Some(stored) =
            self.state.last_block(slot).and_then(|last| self.state.blocks().get(last))
        else {
            return Ok(());
        };
        let block = stored.block;
        match stored.state {
            BlockState::Committed => {
                refuse(TryAgain::AppendCommitted { block, path: path.to_owned() })
            }
            BlockState::Complete if !self.state.blocks().lookup().has_min_replication(block.id) => {
                refuse(BlockError::AppendNotReplicated { block, path: path.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// A last block that is written again counts as full.
    fn check_append_quota(&self, slot: Slot) -> Result<()> {
        let Some(last) = self.state.last_stored(slot) else { return Ok(()) };
        let missing = (self.state.block_size(slot) as i64).wrapping_sub(last.len as i64);
        self.state.ledger().verify_quota(
            self.state.tree().get(slot).parent,
            &self.state.ledger().space_delta(slot, missing),
            None,
        )
    }

    fn append_block(&self, slot: Slot, reopened: bool, new_block: bool) -> Option<LocatedBlock> {
        let block = self.state.last_stored(slot)?;
        if reopened {
            let replicas = self
                .state
                .blocks()
                .datanodes()
                .locations(&self.state.blocks().lookup().targets(block.id));
            let offset = self.state.ledger().file_len(slot).saturating_sub(block.len);
            return Some(LocatedBlock {
                offset,
                locations: BlockLocations { block, replicas, corrupt: false },
            });
        }
        // With NEW_BLOCK the client wants to know the last block, not where it is.
        let locations = BlockLocations { block, replicas: Vec::new(), corrupt: false };
        new_block.then_some(LocatedBlock { offset: u64::MAX, locations })
    }
}
