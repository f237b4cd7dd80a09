//! `truncate`.

use super::Files;
use super::append::LAZY_PERSIST;
use crate::Result;
use crate::access::WRITE;
use crate::error::{ArgumentError, LeaseConflict, LeaseHeld, LeaseOperation, Unsupported, refuse};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::tree::Slot;
use zerohop_journal::op::Truncate;
use zerohop_wire::Block;

impl Files<'_> {
    /// Truncates a file; true if it is done, false if DataNodes have to truncate the last block first.
    ///
    /// # Errors
    /// As Hadoop's `truncate`.
    pub fn truncate(&mut self, path: &str, new_len: u64, client_name: &str) -> Result<bool> {
        if new_len > i64::MAX as u64 {
            return refuse(ArgumentError::NegativeLen { len: new_len as i64 });
        }
        self.call.begin(|| format!("Cannot truncate for {path}"))?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        let path = &*located.path;
        self.call.access().check_access_to(&located, WRITE)?;
        let slot = self.call.state.paths().file_at(located.last(), path)?;
        if self.call.state.effective_policy(slot) == LAZY_PERSIST {
            return refuse(Unsupported::TruncateOfLazyPersist { path: path.to_owned() });
        }
        check_text("The client's name", client_name)?;
        let who = (client_name, &*self.call.ctx.client_host);
        if let Some(len) = self.len_being_cut_to(slot) {
            if len == new_len {
                return Ok(false);
            }
            let conflict = LeaseConflict::Truncated { path: path.to_owned() };
            return refuse(LeaseHeld::new(LeaseOperation::Truncate, path, who, conflict));
        }
        self.recovery().recover_file_lease(LeaseOperation::Truncate, slot, path, who)?;
        let old_len = self.call.state.ledger().file_len(slot);
        if old_len == new_len {
            return Ok(true);
        }
        if old_len < new_len {
            return refuse(ArgumentError::LargerLen { len: old_len, new_len });
        }
        self.cut_and_log(slot, path, new_len, client_name)
    }

    /// The length that a pending truncate will give the file.
    fn len_being_cut_to(&self, slot: Slot) -> Option<u64> {
        let last = self.call.state.files().last_stored(slot)?;
        let cut = self.call.state.files().pending_truncate(slot)?;
        Some(
            self.call
                .state
                .ledger()
                .file_len(slot)
                .saturating_sub(last.len)
                .saturating_add(cut.len),
        )
    }

    fn cut_and_log(
        &mut self,
        slot: Slot,
        path: &str,
        new_len: u64,
        client_name: &str,
    ) -> Result<bool> {
        let (kept, kept_len) = self.call.state.files().blocks_up_to(slot, new_len);
        let mut op = Truncate {
            path: path.to_owned(),
            client_name: client_name.to_owned(),
            client_machine: self.call.ctx.client_host.to_string(),
            new_length: new_len as i64,
            timestamp_ms: self.call.wall_ms() as i64,
            block: None,
        };
        if kept_len != new_len
            && let Some(last) = kept.last().copied()
        {
            self.check_truncate_in_upgrade(path)?;
            // The last remaining block is charged as a full one until it is truncated; those after it are freed at once.
            let freed = self
                .call
                .state
                .ledger()
                .file_len(slot)
                .saturating_sub(kept_len)
                .saturating_add(last.len);
            let delta =
                (self.call.state.files().block_size(slot) as i64).wrapping_sub(freed as i64);
            self.call.state.ledger().verify_quota(
                self.call.state.tree().get(slot).parent,
                &self.call.state.ledger().space_delta(slot, delta),
                None,
            )?;
            op.block = Some(Block { stamp: self.call.next_stamp()?, ..last });
        }
        let Some((block, stamp)) = self.call.commit(op)?.cut else { return Ok(true) };
        self.call.state.blocks_mut().under_construction().start_recovery(block, stamp)?;
        Ok(false)
    }

    /// DataNodes truncate replicas in place: a rollback of a rolling upgrade could not restore them.
    fn check_truncate_in_upgrade(&self, path: &str) -> Result<()> {
        if !self.call.state.rolling_upgrade().is_under_way() {
            return Ok(());
        }
        refuse(Unsupported::TruncateInRollingUpgrade { path: path.to_owned() })
    }
}
