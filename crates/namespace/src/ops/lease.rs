//! Renews and ends leases.

use super::lease_recovery::LeaseRecovery;
use crate::Result;
use crate::access::WRITE;
use crate::call::Call;
use crate::error::{LeaseConflict, LeaseHeld, LeaseOperation, refuse};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::tree::Slot;
use zerohop_wire::InodeId;

/// Renews and ends leases (`LeaseManager`).
pub struct LeaseManager<'n> {
    pub(crate) call: Call<'n>,
}

impl<'n> LeaseManager<'n> {
    fn recovery(&mut self) -> LeaseRecovery<'_, 'n> {
        LeaseRecovery { call: &mut self.call }
    }

    /// Renews the lease of a client on all its open files.
    ///
    /// # Errors
    /// `Error::SafeMode`.
    pub fn renew_lease(&mut self, client_name: &str) -> Result<()> {
        self.call.begin(|| format!("Cannot renew lease for {client_name}"))?;
        if self.call.state.leases().exists(client_name) {
            self.call.lease_clock.renew(&client_name.into(), self.call.ctx.now.mono_ms);
        }
        Ok(())
    }

    /// Ends the lease on a file; true if the file is closed now, false if its last block has to be recovered first.
    ///
    /// # Errors
    /// As Hadoop's `recoverLease`.
    pub fn recover_lease(&mut self, path: &str, client_name: &str) -> Result<bool> {
        self.call.begin(|| format!("Cannot recover the lease of {path}"))?;
        check_text("The client's name", client_name)?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        let slot = self.call.state.paths().file_at(located.last(), &located.path)?;
        let Some(writer) = self.call.state.files().writer(slot) else { return Ok(true) };
        self.call.access().check_access_to(&located, WRITE)?;
        if !self.call.state.leases().exists(&writer.client_name) {
            let (op, who) =
                (LeaseOperation::RecoverLease, (client_name, &*self.call.ctx.client_host));
            return refuse(LeaseHeld::new(op, &located.path, who, LeaseConflict::NoLease));
        }
        self.recovery().release_lease(slot, Some(client_name))
    }

    /// Releases leases past the hard limit (at most `max` files), and resumes truncates that were pending when the last
    /// NameNode ended; true if any file was touched.
    pub fn check_leases(&mut self, max: usize) -> bool {
        if self.call.begin(String::new).is_err() {
            return false;
        }
        let cut_short = self.resume_truncates();
        let hard_ms = self.call.params.lease_hard_ms;
        let leases = self.call.state.leases();
        self.call.lease_clock.forget_ended(leases);
        let silent =
            self.call.lease_clock.silent_files(leases, hard_ms, self.call.ctx.now.mono_ms, max);
        let holder = self.call.lease_clock.namenode_holder(hard_ms, self.call.ctx.now);
        for file in &silent {
            match self
                .call
                .state
                .tree()
                .find(*file)
                .filter(|slot| self.call.state.files().writer(*slot).is_some())
            {
                Some(slot) => self.release_expired(slot, Some(&holder)),
                // The file was deleted; its lease ends when the inode is freed.
                None => self.postpone(*file),
            }
        }
        cut_short || !silent.is_empty()
    }

    fn resume_truncates(&mut self) -> bool {
        let mut is_any_touched = false;
        for block in self.call.state.blocks().lookup().unasked_truncates() {
            let file = self.call.state.blocks().get(block).map(|stored| stored.file);
            let file =
                file.filter(|file| self.call.lease_clock.is_due(*file, self.call.ctx.now.mono_ms));
            let slot = file.and_then(|file| self.call.state.tree().find(file));
            if let Some(slot) = slot.filter(|slot| self.call.state.files().writer(*slot).is_some())
            {
                self.release_expired(slot, None);
                is_any_touched = true;
            }
        }
        is_any_touched
    }

    fn release_expired(&mut self, slot: Slot, new_holder: Option<&str>) {
        let Err(e) = self.recovery().release_lease(slot, new_holder) else { return };
        tracing::warn!(path = %self.call.state.tree().path(slot), error = %e, "the lease cannot be released");
        self.postpone(self.call.state.tree().get(slot).id);
    }

    fn postpone(&mut self, file: InodeId) {
        let until_ms = self.call.ctx.now.mono_ms.saturating_add(self.call.params.lease_soft_ms);
        self.call.lease_clock.postpone(file, until_ms);
    }
}
