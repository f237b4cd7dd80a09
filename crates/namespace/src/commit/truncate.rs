//! Edits that truncate files.

use super::Committed;
use super::files::FileEdits;
use super::ledger::BlocksChange;
use crate::Result;
use crate::error::{Inconsistent, refuse};
use crate::tree::{Slot, Writer};
use zerohop_journal::op::Truncate;
use zerohop_wire::Block;

impl FileEdits<'_> {
    /// `OP_TRUNCATE`
    pub(super) fn truncate(&mut self, op: &Truncate) -> Result<Committed> {
        let slot = self.inodes.paths().existing_file(&op.path)?;
        let new_len = op.new_length.max(0) as u64;
        let (kept, kept_len) = self.inodes.files().blocks_up_to(slot, new_len);
        if kept_len < new_len {
            return refuse(Inconsistent::TooShort { path: op.path.clone(), len: kept_len });
        }
        let cut = match (kept.last(), op.block) {
            _ if kept_len == new_len => None,
            (Some(last), Some(cut)) => {
                let len = last.len.saturating_sub(kept_len - new_len);
                Some((last.id, Block { id: cut.id, stamp: cut.stamp, len }))
            }
            _ => {
                return refuse(Inconsistent::CannotCut { path: op.path.clone(), len: new_len });
            }
        };
        self.keep_blocks(slot, kept.len());
        self.inodes.tree.change(slot).set_mtime(op.timestamp_ms.max(0) as u64);
        let Some((last, target)) = cut else { return Ok(Committed::inode(slot)) };
        let holder = self.open_file(slot, Writer::new(&op.client_name, &op.client_machine));
        self.inodes.ids.stamp = self.inodes.ids.stamp.max(target.stamp);
        let committed = Committed { holder, ..Committed::inode(slot) };
        if target.id != last {
            // Copy on truncate, which only Apache's NameNode does (during upgrades): the cut copy takes the last block's place.
            self.blocks().pop_last_block(slot);
            self.blocks().push_block(slot, target);
            return Ok(Committed { cut: Some((target.id, target.stamp)), ..committed });
        }
        self.blocks().change_last_block(slot, |blocks| {
            blocks.set_under_construction(last);
            blocks.set_truncated(last, target);
        });
        Ok(Committed { reopened: Some(last), cut: Some((last, target.stamp)), ..committed })
    }

    /// Drops the blocks after the first `count`.
    fn keep_blocks(&mut self, slot: Slot, count: usize) {
        let all = self.inodes.files().stored_blocks(slot);
        let gone = &all[count.min(all.len())..];
        if gone.is_empty() {
            return;
        }
        if let Some(file) = self.inodes.tree.change(slot).as_file_mut() {
            file.blocks.truncate(count);
        }
        gone.iter().for_each(|block| self.inodes.block_edits().remove(block.id));
        let bytes = gone.iter().fold(0, |sum: i64, block| sum.wrapping_add(block.len as i64));
        let freed = BlocksChange { blocks: gone.len() as i64, bytes, length: bytes };
        self.inodes.charge_blocks(slot, BlocksChange::default().less(freed));
    }
}
