//! Files cut shorter.

use super::append::LAZY_PERSIST;
use super::lease::RecoverOp;
use super::mkdirs::{inconsistent, shared};
use crate::access::WRITE;
use crate::fail::{fail, illegal, unsupported};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::tree::{Slot, Writer};
use crate::usage::BlocksChange;
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::Truncate;
use zerohop_wire::{Block, BlockId, JavaException};

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
            return illegal(format!(
                "Cannot truncate to a negative file size: {}.",
                new_len as i64
            ));
        }
        self.begin(ctx, || format!("Cannot truncate for {path}"))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        let path = &*located.path;
        self.check_access_to(ctx, &located, WRITE)?;
        let slot = self.file_at(located.last(), path)?;
        if self.effective_policy(slot) == LAZY_PERSIST {
            return unsupported(format!("Cannot truncate lazy persist file {path}"));
        }
        check_text("The client's name", client_name)?;
        let who = (client_name, &*ctx.client_host);
        if let Some(len) = self.len_being_cut_to(slot) {
            if len == new_len {
                return Ok(false);
            }
            return fail(
                JavaException::AlreadyBeingCreated,
                format!(
                    "Failed to TRUNCATE_FILE {path} for {} on {} because {path} is being truncated.",
                    who.0, who.1
                ),
            );
        }
        self.recover_file_lease(RecoverOp::Truncate, slot, path, who)?;
        let old_len = self.file_len(slot);
        if old_len == new_len {
            return Ok(true);
        }
        if old_len < new_len {
            return illegal(format!(
                "Cannot truncate to a larger file size. Current size: {old_len}, truncate size: {new_len}."
            ));
        }
        self.cut_and_log(ctx, slot, path, new_len, client_name)
    }

    /// The length a truncate under way leads to.
    fn len_being_cut_to(&self, slot: Slot) -> Option<u64> {
        let last = self.last_stored(slot)?;
        let cut = self.pending_truncate(slot)?;
        Some(self.file_len(slot).saturating_sub(last.len).saturating_add(cut.len))
    }

    /// What a truncate under way makes of a file's last block.
    pub(crate) fn pending_truncate(&self, slot: Slot) -> Option<Block> {
        let last = self.last_stored(slot).filter(|last| !self.state.blocks.is_complete(last.id))?;
        self.state.blocks.recovery(last.id)?.truncate
    }

    fn cut_and_log(
        &mut self,
        ctx: &OpContext,
        slot: Slot,
        path: &str,
        new_len: u64,
        client_name: &str,
    ) -> Result<bool> {
        let (kept, kept_len) = self.blocks_up_to(slot, new_len);
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
            // The last one that stays counts as full until it is cut; those behind it are free at once.
            let freed = self.file_len(slot).saturating_sub(kept_len).saturating_add(last.len);
            let delta = (self.block_size(slot) as i64).wrapping_sub(freed as i64);
            self.verify_quota(
                self.state.tree.get(slot).parent,
                &self.space_delta(slot, delta),
                None,
            )?;
            op.block = Some(Block { stamp: self.next_stamp()?, ..last });
        }
        let done = self.cut_file(slot, &op)?;
        self.log(op);
        Ok(done)
    }

    /// The blocks that a file of `len` bytes needs, and how long they are.
    fn blocks_up_to(&self, slot: Slot, len: u64) -> (Vec<Block>, u64) {
        let mut sum = 0;
        let mut kept = Vec::new();
        for block in self.stored_blocks(slot) {
            if sum >= len {
                break;
            }
            sum = u64::saturating_add(sum, block.len);
            kept.push(block);
        }
        (kept, sum)
    }

    /// The change of `OP_TRUNCATE`; true if no block has to be cut.
    pub(crate) fn cut_file(&mut self, slot: Slot, op: &Truncate) -> Result<bool> {
        let new_len = op.new_length.max(0) as u64;
        let (kept, kept_len) = self.blocks_up_to(slot, new_len);
        if kept_len < new_len {
            return Err(inconsistent(format!("{} is only {kept_len} bytes long", op.path)));
        }
        self.keep_blocks(slot, kept.len());
        self.state.tree.get_mut(slot).set_mtime(op.timestamp_ms.max(0) as u64);
        if kept_len == new_len {
            return Ok(true);
        }
        let (Some(last), Some(cut)) = (kept.last().copied(), op.block) else {
            return Err(inconsistent(format!("{} cannot be cut to {new_len} bytes", op.path)));
        };
        let writer = Writer {
            client_name: shared(&op.client_name),
            client_machine: shared(&op.client_machine),
        };
        self.open_file(slot, writer);
        let target = Block {
            id: cut.id,
            stamp: cut.stamp,
            len: last.len.saturating_sub(kept_len - new_len),
        };
        self.raise_stamp(cut.stamp);
        if cut.id != last.id {
            self.replace_last_block(slot, last.id, target);
            return Ok(false);
        }
        self.change_blocks(slot, |blocks| {
            blocks.reopen(last.id)?;
            blocks.begin_recovery(last.id, cut.stamp, Some(target)).map(drop)
        })?;
        Ok(false)
    }

    /// Drops the blocks after the first `count`.
    fn keep_blocks(&mut self, slot: Slot, count: usize) {
        let all = self.stored_blocks(slot);
        let gone = &all[count.min(all.len())..];
        if gone.is_empty() {
            return;
        }
        if let Some(file) = self.state.tree.get_mut(slot).as_file_mut() {
            file.blocks.truncate(count);
        }
        gone.iter().for_each(|block| self.state.blocks.remove(block.id));
        let bytes = gone.iter().fold(0, |sum: i64, block| sum.wrapping_add(block.len as i64));
        let freed = BlocksChange { blocks: gone.len() as i64, bytes, length: bytes };
        self.charge_blocks(slot, BlocksChange::default().less(freed));
    }

    /// Copy on truncate, which only Apache's NameNode does (during upgrades): the cut copy takes the last block's place.
    fn replace_last_block(&mut self, slot: Slot, last: BlockId, copy: Block) {
        self.drop_last_block(slot, last);
        self.push_block(slot, copy);
    }
}
