//! Files cut shorter.

use super::append::LAZY_PERSIST;
use crate::access::WRITE;
use crate::error::{ArgumentError, LeaseConflict, LeaseHeld, LeaseOperation, Unsupported, refuse};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::Truncate;
use zerohop_wire::Block;

impl Namespace {
    /// Cuts a file; true if it is done, false if DataNodes have to cut the last block first.
    ///
    /// # Errors
    /// As Hadoop's `truncate`.
    pub fn truncate(
        &mut self,
        ctx: &OpContext,
        path: &str,
        new_len: u64,
        client_name: &str,
    ) -> Result<bool> {
        if new_len > i64::MAX as u64 {
            return refuse(ArgumentError::NegativeLen { len: new_len as i64 });
        }
        self.begin(ctx, || format!("Cannot truncate for {path}"))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        let path = &*located.path;
        self.check_access_to(ctx, &located, WRITE)?;
        let slot = self.state.paths().file_at(located.last(), path)?;
        if self.state.effective_policy(slot) == LAZY_PERSIST {
            return refuse(Unsupported::TruncateOfLazyPersist { path: path.to_owned() });
        }
        check_text("The client's name", client_name)?;
        let who = (client_name, &*ctx.client_host);
        if let Some(len) = self.len_being_cut_to(slot) {
            if len == new_len {
                return Ok(false);
            }
            let conflict = LeaseConflict::Truncated { path: path.to_owned() };
            return refuse(LeaseHeld::new(LeaseOperation::Truncate, path, who, conflict));
        }
        self.recover_file_lease(LeaseOperation::Truncate, slot, path, who)?;
        let old_len = self.state.ledger().file_len(slot);
        if old_len == new_len {
            return Ok(true);
        }
        if old_len < new_len {
            return refuse(ArgumentError::LargerLen { len: old_len, new_len });
        }
        self.cut_and_log(ctx, slot, path, new_len, client_name)
    }

    /// The length a truncate under way leads to.
    fn len_being_cut_to(&self, slot: Slot) -> Option<u64> {
        let last = self.state.last_stored(slot)?;
        let cut = self.pending_truncate(slot)?;
        Some(self.state.ledger().file_len(slot).saturating_sub(last.len).saturating_add(cut.len))
    }

    /// What a truncate under way makes of a file's last block.
    pub(crate) fn pending_truncate(&self, slot: Slot) -> Option<Block> {
        let last = self
            .state
            .last_stored(slot)
            .filter(|last| !self.state.blocks().is_complete(last.id))?;
        self.state.blocks().lookup().recovery(last.id)?.truncate
    }

    fn cut_and_log(
        &mut self,
        ctx: &OpContext,
        slot: Slot,
        path: &str,
        new_len: u64,
        client_name: &str,
    ) -> Result<bool> {
        let (kept, kept_len) = self.state.blocks_up_to(slot, new_len);
        let mut op = Truncate {
            path: path.to_owned(),
            client_name: client_name.to_owned(),
            client_machine: ctx.client_host.to_string(),
            new_length: new_len as i64,
            timestamp_ms: self.wall_ms() as i64,
            block: None,
        };
        if kept_len != new_len
            && let Some(last) = kept.last().copied()
        {
            self.check_truncate_in_upgrade(path)?;
            // The last one that stays counts as full until it is cut; those behind it are free at once.
            let freed = self
                .state
                .ledger()
                .file_len(slot)
                .saturating_sub(kept_len)
                .saturating_add(last.len);
            let delta = (self.state.block_size(slot) as i64).wrapping_sub(freed as i64);
            self.state.ledger().verify_quota(
                self.state.tree().get(slot).parent,
                &self.state.ledger().space_delta(slot, delta),
                None,
            )?;
            op.block = Some(Block { stamp: self.next_stamp()?, ..last });
        }
        let Some((block, stamp)) = self.commit(op)?.cut else { return Ok(true) };
        self.state.blocks_mut().under_construction().start_recovery(block, stamp)?;
        Ok(false)
    }

    /// DataNodes cut replicas in place, and nothing could bring back what they cut when a rolling upgrade is rolled back.
    fn check_truncate_in_upgrade(&self, path: &str) -> Result<()> {
        if !self.state.rolling_upgrade().is_under_way() {
            return Ok(());
        }
        refuse(Unsupported::TruncateInRollingUpgrade { path: path.to_owned() })
    }
}
