//! Ends the lease of a writer: its file is closed, or its last block is recovered first.

use super::open_file::OpenFiles;
use crate::Result;
use crate::blocks::BlockState;
use crate::call::Call;
use crate::error::{LeaseConflict, LeaseHeld, LeaseOperation, refuse};
use crate::tree::Slot;
use zerohop_journal::op::ReassignLease;
use zerohop_wire::BlockId;

/// Ends leases on files for a call.
pub(crate) struct LeaseRecovery<'c, 'n> {
    pub(crate) call: &'c mut Call<'n>,
}

impl<'n> LeaseRecovery<'_, 'n> {
    fn open_files(&mut self) -> OpenFiles<'_, 'n> {
        OpenFiles { call: self.call }
    }

    /// Makes sure that an operation may write a file: it must be closed, or its writer's lease past the soft limit.
    ///
    /// # Errors
    /// `Error::LeaseHeld`.
    pub(crate) fn recover_file_lease(
        &mut self,
        op: LeaseOperation,
        slot: Slot,
        path: &str,
        who: (&str, &str),
    ) -> Result<()> {
        let Some(writer) = self.call.state.files().writer(slot).cloned() else { return Ok(()) };
        let id = self.call.state.tree().get(slot).id;
        let conflict = |why| refuse(LeaseHeld::new(op, path, who, why));
        if self.call.state.leases().exists(who.0)
            && self.call.state.leases().holder(id).is_some_and(|holder| &**holder == who.0)
        {
            return conflict(LeaseConflict::AlreadyHolder { client: who.0.to_owned() });
        }
        if !self.call.state.leases().exists(&writer.client_name) {
            return conflict(LeaseConflict::NoLease);
        }
        if self.call.lease_clock.is_silent(
            &writer.client_name,
            self.call.params.lease_soft_ms,
            self.call.ctx.now.mono_ms,
        ) {
            if self.release_lease(slot, None)? {
                return Ok(());
            }
            return conflict(LeaseConflict::RecoveryBegun);
        }
        let (holder, holder_host) =
            (writer.client_name.to_string(), writer.client_machine.to_string());
        let recovering = self
            .call
            .state
            .files()
            .last_block(slot)
            .and_then(|last| self.call.state.blocks().get(last));
        if recovering.is_some_and(|stored| stored.state == BlockState::UnderRecovery) {
            return conflict(LeaseConflict::Recovered { holder, holder_host });
        }
        conflict(LeaseConflict::Owned { holder, holder_host })
    }

    /// Closes a file, or starts the recovery of its last block (`internalReleaseLease`).
    pub(crate) fn release_lease(&mut self, slot: Slot, new_holder: Option<&str>) -> Result<bool> {
        let blocks: Vec<BlockId> = match self.call.state.tree().get(slot).as_file() {
            Some(file) => file.blocks.as_slice().to_vec(),
            None => return Ok(true),
        };
        let complete =
            blocks.iter().take_while(|id| self.call.state.blocks().is_complete(**id)).count();
        if complete == blocks.len() {
            let blocks = self.call.state.files().stored_blocks(slot);
            self.open_files().finalize_file(slot, blocks)?;
            return Ok(true);
        }
        let path = self.call.state.tree().path(slot);
        let state = |at: usize| self.call.state.blocks().get(blocks[at]).map(|stored| stored.state);
        let penultimate_open =
            complete + 2 == blocks.len() && state(complete) != Some(BlockState::Committed);
        if complete + 2 < blocks.len() || penultimate_open {
            return refuse(LeaseHeld::Closed { path });
        }
        let last = blocks[blocks.len() - 1];
        let before = blocks.iter().nth_back(1);
        let before_safe =
            before.is_none_or(|id| self.call.state.blocks().lookup().has_min_replication(*id));
        if state(blocks.len() - 1) == Some(BlockState::Committed) && !before_safe {
            return refuse(LeaseHeld::NotReplicated { path });
        }
        self.recover_last_block(slot, last, new_holder)
    }

    fn recover_last_block(
        &mut self,
        slot: Slot,
        last: BlockId,
        new_holder: Option<&str>,
    ) -> Result<bool> {
        let len = self.call.state.blocks().get(last).map_or(0, |stored| stored.block.len);
        let known = self.call.state.blocks().lookup();
        if len == 0 && !known.has_targets_or_replicas(last) && !known.keeps_empty() {
            // Nothing was written to it, so no DataNode could recover it.
            let mut blocks = self.call.state.files().stored_blocks(slot);
            blocks.pop();
            self.open_files().finalize_file(slot, blocks)?;
            return Ok(true);
        }
        if self.call.state.blocks().lookup().is_recovery_due(last) {
            let stamp = self.call.next_stamp()?;
            self.call.state.blocks_mut().under_construction().start_recovery(last, stamp)?;
        }
        self.hand_over(slot, new_holder)?;
        Ok(false)
    }

    /// Gives the lease to the client that recovers it; if none is named, the old holder's lease is renewed.
    fn hand_over(&mut self, slot: Slot, new_holder: Option<&str>) -> Result<()> {
        let Some(writer) = self.call.state.files().writer(slot) else { return Ok(()) };
        let Some(new_holder) = new_holder else {
            self.call.lease_clock.renew(&writer.client_name, self.call.ctx.now.mono_ms);
            return Ok(());
        };
        let op = ReassignLease {
            lease_holder: writer.client_name.to_string(),
            path: self.call.state.paths().edit_path(slot),
            new_holder: new_holder.to_owned(),
        };
        self.call.commit(op).map(drop)
    }
}
