//! Edits that create, append to, close and concatenate files.

use super::Committed;
use super::attributes::clamp_replication;
use super::blocks::{FileBlocks, LastBlock};
use super::inodes::InodeEdits;
use super::key::CommitKey;
use crate::Result;
use crate::acl;
use crate::error::{Inconsistent, Unsupported, refuse};
use crate::lease::Leases;
use crate::tree::{Body, File, Inode, Slot, Writer};
use crate::unsupported::check_xattrs;
use std::sync::Arc;
use zerohop_journal::op::{Add, Append, Close, ConcatDelete, ReassignLease};

/// Applies edits that create, open, close, concatenate and truncate files.
pub(super) struct FileEdits<'s> {
    pub(super) inodes: InodeEdits<'s>,
    pub(super) leases: &'s mut Leases,
    /// dfs.replication.max
    pub(super) replication_max: u16,
}

impl<'s> FileEdits<'s> {
    pub(super) fn blocks(&mut self) -> FileBlocks<'_, 's> {
        FileBlocks { inodes: &mut self.inodes }
    }

    /// `OP_ADD`: a new file, in place of one that is there if the edit says so.
    pub(super) fn add(&mut self, op: &Add) -> Result<Committed> {
        if op.ec_policy_id != 0 {
            let (what, feature) = (op.path.clone(), "erasure coding");
            return refuse(Unsupported::Edit { what, feature });
        }
        check_xattrs(&op.xattrs, &op.path)?;
        let located = self.inodes.paths().walk(&op.path)?;
        let parent = self.inodes.parent_of(&located)?;
        let mut committed = match located.last() {
            // Logs older than OP_APPEND open a file for append this way.
            Some(old) if !op.overwrite => self.open_again(old, op)?,
            old => {
                self.inodes.check_is_new(op.inode_id, &op.path)?;
                let inode = self.new_file(op)?;
                let deleted = old.map(|old| self.inodes.take_out(old, op.mtime_ms.max(0) as u64));
                let slot = self.inodes.insert(parent, inode, located.name(), &op.path)?;
                let holder = self.assign_lease(slot);
                Committed { deleted, holder, ..Committed::inode(slot) }
            }
        };
        if let Some(slot) = committed.inode {
            committed.finished =
                self.blocks().replace_blocks(slot, &op.path, &op.blocks, LastBlock::Open)?;
        }
        Ok(committed)
    }

    fn open_again(&mut self, old: Slot, op: &Add) -> Result<Committed> {
        let mut committed = Committed::inode(old);
        if self.inodes.paths().file_at(Some(old), &op.path).is_ok()
            && self.inodes.files().writer(old).is_none()
        {
            let append = Append {
                path: op.path.clone(),
                client_name: op.client_name.clone(),
                client_machine: op.client_machine.clone(),
                new_block: false,
            };
            committed = self.open_for_append(old, &append);
        }
        self.inodes.set_inode_times(old, op.mtime_ms, op.atime_ms);
        Ok(committed)
    }

    fn new_file(&mut self, op: &Add) -> Result<Inode> {
        let (mode, acl) = match op.acl.as_slice() {
            [] => (op.permissions.mode, None),
            entries => acl::to_stored(entries, op.permissions.mode, false, &op.path)?,
        };
        let replication = clamp_replication(op.replication, self.replication_max);
        let mut file = File::new(replication, op.block_size.max(0) as u64, op.storage_policy_id);
        file.set_writer(Some(Writer::new(&op.client_name, &op.client_machine)));
        let permission = self.inodes.intern(&op.permissions, mode);
        let mut inode = Inode::new(op.inode_id, permission, Body::File(file))
            .with_times(op.mtime_ms.max(0) as u64, op.atime_ms.max(0) as u64);
        inode.set_acl(acl);
        inode.set_xattrs(op.xattrs.clone());
        Ok(inode)
    }

    /// `OP_APPEND`
    pub(super) fn append(&mut self, op: &Append) -> Result<Committed> {
        let slot = self.inodes.paths().existing_file(&op.path)?;
        if self.inodes.files().writer(slot).is_some() {
            return Ok(Committed::inode(slot));
        }
        Ok(self.open_for_append(slot, op))
    }

    fn open_for_append(&mut self, slot: Slot, op: &Append) -> Committed {
        let holder = self.open_file(slot, Writer::new(&op.client_name, &op.client_machine));
        let mut committed = Committed { holder, ..Committed::inode(slot) };
        if let Some(last) = self.inodes.files().last_stored(slot)
            && !op.new_block
            && last.len != self.inodes.files().block_size(slot)
        {
            self.blocks().change_last_block(slot, |blocks| blocks.set_under_construction(last.id));
            committed.reopened = Some(last.id);
        }
        committed
    }

    /// Gives a file to a writer.
    pub(super) fn open_file(&mut self, slot: Slot, writer: Writer) -> Option<Arc<str>> {
        if let Some(file) = self.inodes.tree.change(slot).as_file_mut() {
            file.set_writer(Some(writer));
        }
        self.assign_lease(slot)
    }

    /// The lease of a file is its writer's.
    fn assign_lease(&mut self, slot: Slot) -> Option<Arc<str>> {
        let holder = self.inodes.files().writer(slot)?.client_name.clone();
        self.leases.assign(&holder, self.inodes.tree.get(slot).id);
        Some(holder)
    }

    /// `OP_CLOSE`
    pub(super) fn close(&mut self, op: &Close) -> Result<Committed> {
        let slot = self.inodes.paths().existing_file(&op.path)?;
        let finished =
            self.blocks().replace_blocks(slot, &op.path, &op.blocks, LastBlock::Final)?;
        self.inodes.set_inode_times(slot, op.mtime_ms, op.atime_ms);
        if self.inodes.files().writer(slot).is_some() {
            if let Some(file) = self.inodes.tree.change(slot).as_file_mut() {
                file.set_writer(None);
            }
            self.leases.remove(self.inodes.tree.get(slot).id);
        }
        Ok(Committed { finished, ..Committed::inode(slot) })
    }

    /// `OP_REASSIGN_LEASE`
    pub(super) fn reassign_lease(&mut self, op: &ReassignLease) -> Result<Committed> {
        let slot = self.inodes.paths().existing_file(&op.path)?;
        let Some(writer) = self.inodes.files().writer(slot).cloned() else {
            return Ok(Committed::inode(slot));
        };
        let writer = Writer { client_name: op.new_holder.as_str().into(), ..writer };
        let holder = self.open_file(slot, writer);
        Ok(Committed { holder, ..Committed::inode(slot) })
    }

    /// `OP_CONCAT_DELETE`
    pub(super) fn concat(&mut self, op: &ConcatDelete) -> Result<Committed> {
        let target = self.inodes.paths().existing_file(&op.target)?;
        let mut sources = Vec::with_capacity(op.sources.len());
        for source in &op.sources {
            sources.push(self.inodes.paths().existing_file(source)?);
        }
        let mut distinct = sources.clone();
        distinct.push(target);
        distinct.sort_unstable();
        if distinct.windows(2).any(|pair| pair[0] == pair[1]) {
            return refuse(Inconsistent::JoinedTwice { target: op.target.clone() });
        }
        self.join_files(target, &sources, op.timestamp_ms.max(0) as u64);
        Ok(Committed::inode(target))
    }

    fn join_files(&mut self, target: Slot, sources: &[Slot], mtime: u64) {
        let before = self.inodes.ledger().usage_of(target);
        let (id, parent) = (self.inodes.tree.get(target).id, self.inodes.tree.get(target).parent);
        for source in sources {
            let usage = self.inodes.ledger().usage_of(*source);
            self.inodes.charge(self.inodes.tree.get(*source).parent, &usage.negated());
            self.inodes.tree.detach(*source);
            let gone = self.inodes.tree.free(*source);
            let (Body::File(gone), Some(file)) =
                (gone.body, self.inodes.tree.change(target).as_file_mut())
            else {
                continue;
            };
            let replication = file.replication();
            for block in gone.blocks.as_slice() {
                file.blocks.push(*block);
                self.inodes.blocks.edits(CommitKey::new()).set_file(*block, id);
                if gone.replication() != replication {
                    self.inodes.blocks.edits(CommitKey::new()).set_replication(*block, replication);
                }
            }
        }
        self.inodes.tree.change(target).set_mtime(mtime);
        self.inodes.directory_changed(parent, mtime);
        let after = self.inodes.ledger().usage_of(target);
        self.inodes.charge(parent, &after.less(&before));
    }
}
