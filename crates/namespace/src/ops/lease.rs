//! Leases renewed, taken over, and the recovery of files whose writer is gone.

use crate::access::WRITE;
use crate::blocks::BlockState;
use crate::error::{LeaseConflict, LeaseHeld, LeaseOperation, refuse};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::{Namespace, OpContext, OpenFile, Result};
use zerohop_journal::op::ReassignLease;
use zerohop_wire::{BlockId, InodeId};

impl Namespace {
    /// A client says that it is there; all its open files stay its own.
    ///
    /// # Errors
    /// `Error::SafeMode`.
    pub fn renew_lease(&mut self, ctx: &OpContext, client_name: &str) -> Result<()> {
        self.begin(ctx, || format!("Cannot renew lease for {client_name}"))?;
        if self.state.leases().exists(client_name) {
            self.lease_clock.renew(&client_name.into(), ctx.now.mono_ms);
        }
        Ok(())
    }

    /// Takes a file from its writer; true if it is closed now, false if its last block has to be recovered first.
    ///
    /// # Errors
    /// As Hadoop's `recoverLease`.
    pub fn recover_lease(
        &mut self,
        ctx: &OpContext,
        path: &str,
        client_name: &str,
    ) -> Result<bool> {
        self.begin(ctx, || format!("Cannot recover the lease of {path}"))?;
        check_text("The client's name", client_name)?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        let slot = self.state.paths().file_at(located.last(), &located.path)?;
        let Some(writer) = self.state.writer(slot) else { return Ok(true) };
        self.check_access_to(ctx, &located, WRITE)?;
        if !self.state.leases().exists(&writer.client_name) {
            let (op, who) = (LeaseOperation::RecoverLease, (client_name, &*ctx.client_host));
            return refuse(LeaseHeld::new(op, &located.path, who, LeaseConflict::NoLease));
        }
        self.release_lease(slot, Some(client_name))
    }

    /// Releases leases past the hard limit (at most `max` files), and goes on with truncates that the last NameNode's
    /// end cut short; true if any file was touched.
    pub fn check_leases(&mut self, ctx: &OpContext, max: usize) -> bool {
        if self.begin(ctx, String::new).is_err() {
            return false;
        }
        let cut_short = self.resume_truncates();
        let hard_ms = self.params.lease_hard_ms;
        let leases = self.state.leases();
        self.lease_clock.forget_ended(leases);
        let silent = self.lease_clock.silent_files(leases, hard_ms, ctx.now.mono_ms, max);
        let holder = self.lease_clock.namenode_holder(hard_ms, ctx.now);
        for file in &silent {
            match self.state.tree().find(*file).filter(|slot| self.state.writer(*slot).is_some()) {
                Some(slot) => self.release_expired(slot, Some(&holder)),
                // It was deleted, and its lease goes as soon as it is freed.
                None => self.postpone(*file),
            }
        }
        cut_short || !silent.is_empty()
    }

    fn resume_truncates(&mut self) -> bool {
        let mut is_any_touched = false;
        for block in self.state.blocks().lookup().unasked_truncates() {
            let file = self.state.blocks().get(block).map(|stored| stored.file);
            let file = file.filter(|file| self.lease_clock.is_due(*file, self.now.mono_ms));
            let slot = file.and_then(|file| self.state.tree().find(file));
            if let Some(slot) = slot.filter(|slot| self.state.writer(*slot).is_some()) {
                self.release_expired(slot, None);
                is_any_touched = true;
            }
        }
        is_any_touched
    }

    fn release_expired(&mut self, slot: Slot, new_holder: Option<&str>) {
        let Err(e) = self.release_lease(slot, new_holder) else { return };
        tracing::warn!(path = %self.state.tree().path(slot), error = %e, "the lease cannot be released");
        self.postpone(self.state.tree().get(slot).id);
    }

    fn postpone(&mut self, file: InodeId) {
        let until_ms = self.now.mono_ms.saturating_add(self.params.lease_soft_ms);
        self.lease_clock.postpone(file, until_ms);
    }

    /// Open files with an inode id above `after`, and whether there are more.
    ///
    /// # Errors
    /// `Error::Denied` for all but the superuser.
    pub fn list_open_files(
        &self,
        ctx: &OpContext,
        after: InodeId,
        path: &str,
    ) -> Result<(Vec<OpenFile>, bool)> {
        self.check_superuser(ctx, "listOpenFiles")?;
        let mut found = Vec::new();
        for id in self.state.leases().files_after(after) {
            let Some((slot, writer)) =
                self.state.tree().find(id).and_then(|slot| Some((slot, self.state.writer(slot)?)))
            else {
                continue;
            };
            let full = self.state.tree().path(slot);
            if path.is_empty() || path == "/" || is_at_or_below(&full, path) {
                found.push(OpenFile {
                    id,
                    path: full,
                    client_name: writer.client_name.to_string(),
                    client_machine: writer.client_machine.to_string(),
                });
            }
            if found.len() >= self.params.open_files_batch {
                return Ok((found, true));
            }
        }
        Ok((found, false))
    }

    /// A file that an operation wants to write: closed, or taken from a writer silent past the soft limit.
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
        let Some(writer) = self.state.writer(slot).cloned() else { return Ok(()) };
        let id = self.state.tree().get(slot).id;
        let conflict = |why| refuse(LeaseHeld::new(op, path, who, why));
        if self.state.leases().exists(who.0)
            && self.state.leases().holder(id).is_some_and(|holder| &**holder == who.0)
        {
            return conflict(LeaseConflict::AlreadyHolder { client: who.0.to_owned() });
        }
        if !self.state.leases().exists(&writer.client_name) {
            return conflict(LeaseConflict::NoLease);
        }
        if self.lease_clock.is_silent(
            &writer.client_name,
            self.params.lease_soft_ms,
            self.now.mono_ms,
        ) {
            if self.release_lease(slot, None)? {
                return Ok(());
            }
            return conflict(LeaseConflict::RecoveryBegun);
        }
        let (holder, holder_host) =
            (writer.client_name.to_string(), writer.client_machine.to_string());
        let recovering = self.state.last_block(slot).and_then(|last| self.state.blocks().get(last));
        if recovering.is_some_and(|stored| stored.state == BlockState::UnderRecovery) {
            return conflict(LeaseConflict::Recovered { holder, holder_host });
        }
        conflict(LeaseConflict::Owned { holder, holder_host })
    }

    /// Ends a writer's hold on a file: closes it, or has its last block recovered (`internalReleaseLease`).
    pub(crate) fn release_lease(&mut self, slot: Slot, new_holder: Option<&str>) -> Result<bool> {
        let blocks: Vec<BlockId> = match self.state.tree().get(slot).as_file() {
            Some(file) => file.blocks.as_slice().to_vec(),
            None => return Ok(true),
        };
        let complete = blocks.iter().take_while(|id| self.state.blocks().is_complete(**id)).count();
        if complete == blocks.len() {
            self.finalize_file(slot, self.state.stored_blocks(slot))?;
            return Ok(true);
        }
        let path = self.state.tree().path(slot);
        let state = |at: usize| self.state.blocks().get(blocks[at]).map(|stored| stored.state);
        let penultimate_open =
            complete + 2 == blocks.len() && state(complete) != Some(BlockState::Committed);
        if complete + 2 < blocks.len() || penultimate_open {
            return refuse(LeaseHeld::Closed { path });
        }
        let last = blocks[blocks.len() - 1];
        let before = blocks.iter().nth_back(1);
        let before_safe =
            before.is_none_or(|id| self.state.blocks().lookup().has_min_replication(*id));
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
        let len = self.state.blocks().get(last).map_or(0, |stored| stored.block.len);
        if len == 0 && !self.state.blocks().lookup().has_targets_or_replicas(last) {
            // Nothing was ever written of it: no DataNode could recover it.
            let mut blocks = self.state.stored_blocks(slot);
            blocks.pop();
            self.finalize_file(slot, blocks)?;
            return Ok(true);
        }
        if self.state.blocks().lookup().is_recovery_due(last) {
            let stamp = self.next_stamp()?;
            self.state.blocks_mut().under_construction().start_recovery(last, stamp)?;
        }
        self.hand_over(slot, new_holder)?;
        Ok(false)
    }

    /// The lease goes to whoever drives the recovery; without one the old holder has time again.
    fn hand_over(&mut self, slot: Slot, new_holder: Option<&str>) -> Result<()> {
        let Some(writer) = self.state.writer(slot) else { return Ok(()) };
        let Some(new_holder) = new_holder else {
            self.lease_clock.renew(&writer.client_name, self.now.mono_ms);
            return Ok(());
        };
        let op = ReassignLease {
            lease_holder: writer.client_name.to_string(),
            path: self.state.paths().edit_path(slot),
            new_holder: new_holder.to_owned(),
        };
        self.commit(op).map(drop)
    }
}

fn is_at_or_below(path: &str, top: &str) -> bool {
    let top = top.trim_end_matches('/');
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
