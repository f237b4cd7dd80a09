//! Replay: the changes of an edit log, Apache's or ours.

use crate::fail::{not_found, unsupported};
use crate::ops::inconsistent;
use crate::quota::{QUOTA_DONT_SET, QUOTA_RESET};
use crate::resolve::Located;
use crate::tree::Slot;
use crate::unsupported::{ADVICE, check_xattrs};
use crate::{Namespace, Result};
use zerohop_journal::EditOp;
use zerohop_journal::op::{self, Add, AddBlock, Append, Close, ConcatDelete, Mkdir};
use zerohop_proto::hdfs::ErasureCodingPolicyState as EcState;
use zerohop_wire::{Block, BlockId, GenerationStamp, RemoteException, TxId};

/// An edit that cannot be applied: the log is damaged, or uses what is not supported.
#[derive(Debug, thiserror::Error)]
#[error("cannot replay {op} (transaction {txid}): {reason}")]
pub struct ApplyError {
    /// The edit's transaction.
    pub txid: TxId,
    /// Hadoop's name of the edit, `OP_ADD` and so on.
    pub op: &'static str,
    /// Why not.
    pub reason: RemoteException,
}

/// Which blocks of an `updateBlocks` count as complete.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastBlock {
    Open,
    Complete,
}

impl Namespace {
    /// Makes the change of one edit from the log.
    ///
    /// # Errors
    /// When it does not fit what is there, or belongs to a feature that is not supported; nothing after it may be applied.
    pub fn apply(&mut self, txid: TxId, op: &EditOp) -> std::result::Result<(), ApplyError> {
        self.apply_op(op).map_err(|reason| ApplyError { txid, op: op.name(), reason })
    }

    fn apply_op(&mut self, op: &EditOp) -> Result<()> {
        match op {
            EditOp::Add(op) => self.apply_add(op),
            EditOp::Close(op) => self.apply_close(op),
            EditOp::Append(op) => self.apply_append(op),
            EditOp::UpdateBlocks(op) => {
                let slot = self.replayed_file(&op.path)?;
                self.update_blocks(slot, &op.path, &op.blocks, LastBlock::Open)
            }
            EditOp::AddBlock(op) => self.apply_add_block(op),
            EditOp::SetReplication(op) => {
                let replication =
                    op.replication.clamp(1, self.params.replication_max as i16) as u16;
                match self.walk(&op.path)?.last() {
                    Some(slot) => self.change_replication(slot, replication, false),
                    None => Ok(()),
                }
            }
            EditOp::ConcatDelete(op) => self.apply_concat(op),
            EditOp::RenameOld(op) => {
                let from = self.walk(&op.src)?;
                let to = self.dst_for_rename(&from, self.walk(&op.dst)?);
                self.rename_old(&from, &to, time(op.timestamp_ms), false).map(drop)
            }
            EditOp::Rename(op) => {
                let (from, to) = (self.walk(&op.src)?, self.walk(&op.dst)?);
                self.rename_new(&from, &to, time(op.timestamp_ms), op.overwrites(), false)?;
                self.reap(usize::MAX);
                Ok(())
            }
            EditOp::Delete(op) => {
                let located = self.walk(&op.path)?;
                if let Some(slot) = located.last().filter(|_| !located.is_root()) {
                    self.remove_subtree(slot, time(op.timestamp_ms));
                    self.reap(usize::MAX);
                }
                Ok(())
            }
            EditOp::Mkdir(op) => self.apply_mkdir(op),
            EditOp::SetGenstampV1(op) => {
                self.state.ids.legacy_stamp = op.stamp;
                Ok(())
            }
            EditOp::SetGenstampV2(op) => {
                self.state.ids.stamp = op.stamp;
                Ok(())
            }
            EditOp::AllocateBlockId(op) => {
                self.allocate_block_id(op.block_id);
                Ok(())
            }
            EditOp::Truncate(op) => {
                let slot = self.replayed_file(&op.path)?;
                self.cut_file(slot, op).map(drop)
            }
            EditOp::AddCacheDirective(_)
            | EditOp::RemoveCacheDirective(_)
            | EditOp::ModifyCacheDirective(_)
            | EditOp::AddCachePool(_)
            | EditOp::ModifyCachePool(_)
            | EditOp::RemoveCachePool(_) => self.state.cache.apply(op),
            EditOp::ReassignLease(op) => {
                let slot = self.replayed_file(&op.path)?;
                self.reassign(slot, &op.new_holder);
                Ok(())
            }
            other => self.apply_attribute(other),
        }
    }

    fn apply_attribute(&mut self, op: &EditOp) -> Result<()> {
        match op {
            EditOp::SetPermissions(op) => {
                let slot = self.replayed(&op.path)?;
                self.change_mode(slot, op.mode);
            }
            EditOp::SetOwner(op) => {
                let slot = self.replayed(&op.path)?;
                self.change_owner(slot, op);
            }
            EditOp::Times(op) => {
                let slot = self.replayed(&op.path)?;
                self.change_times(slot, op.mtime_ms, op.atime_ms);
            }
            EditOp::SetNsQuota(op) => {
                let slot = self.replayed(&op.path)?;
                self.change_quota(slot, op.ns_quota, QUOTA_DONT_SET, None);
            }
            EditOp::ClearNsQuota(op) => {
                let slot = self.replayed(&op.path)?;
                self.change_quota(slot, QUOTA_RESET, QUOTA_DONT_SET, None);
            }
            EditOp::SetQuota(op) => {
                let slot = self.replayed(&op.path)?;
                self.change_quota(slot, op.ns_quota, op.ds_quota, None);
            }
            EditOp::SetQuotaByStorageType(op) => {
                let slot = self.replayed(&op.path)?;
                let kind = crate::ops::from_edit_type(op.storage_type);
                self.change_quota(slot, QUOTA_DONT_SET, op.quota, Some(kind));
            }
            EditOp::SetAcl(op) => {
                let slot = self.replayed(&op.path)?;
                self.put_acl(slot, &op.entries, &op.path)?;
            }
            EditOp::SetXAttr(op) => {
                check_xattrs(&op.xattrs, &op.path)?;
                let slot = self.replayed(&op.path)?;
                let new = crate::ops::with_set(self.state.tree.get(slot).xattrs(), &op.xattrs);
                self.recharge(slot, |namespace| namespace.state.tree.get_mut(slot).set_xattrs(new));
            }
            EditOp::RemoveXAttr(op) => {
                let slot = self.replayed(&op.path)?;
                let new = crate::ops::with_removed(self.state.tree.get(slot).xattrs(), &op.xattrs);
                self.recharge(slot, |namespace| namespace.state.tree.get_mut(slot).set_xattrs(new));
            }
            EditOp::SetStoragePolicy(op) => {
                let slot = self.replayed(&op.path)?;
                self.change_policy(slot, op.policy_id);
            }
            EditOp::EnableErasureCodingPolicy(op) => self.set_ec_state(&op.name, EcState::Enabled),
            EditOp::DisableErasureCodingPolicy(op) => {
                self.set_ec_state(&op.name, EcState::Disabled)
            }
            EditOp::RollingUpgradeStart(op) => {
                self.state.rolling_upgrade_ms = Some(time(op.time_ms))
            }
            EditOp::RollingUpgradeFinalize(_) => self.state.rolling_upgrade_ms = None,
            // Marks of a segment change nothing.
            EditOp::StartLogSegment(_) | EditOp::EndLogSegment(_) => {}
            other => return refuse(other),
        }
        Ok(())
    }

    /// Policies are only kept for other readers of our images; one that is not in ours is nothing to enable.
    fn set_ec_state(&mut self, name: &str, state: EcState) {
        if let Some(policy) = self.state.ec_policies.iter_mut().find(|policy| policy.name() == name)
        {
            policy.state = Some(state as i32);
        }
    }

    fn replayed(&self, path: &str) -> Result<Slot> {
        match self.walk(path)?.last() {
            Some(slot) => Ok(slot),
            None => not_found(format!("{path} does not exist")),
        }
    }

    fn replayed_file(&self, path: &str) -> Result<Slot> {
        self.file_at(self.walk(path)?.last(), path)
    }

    fn replayed_parent(&self, located: &Located<'_>) -> Result<Slot> {
        match located.parent() {
            Some(parent) => Ok(parent),
            None => not_found(format!("{} does not exist", located.parent_path())),
        }
    }

    fn apply_mkdir(&mut self, op: &Mkdir) -> Result<()> {
        let located = self.walk(&op.path)?;
        let parent = self.replayed_parent(&located)?;
        self.add_folder(parent, located.name(), op).map(drop)
    }

    fn apply_add(&mut self, op: &Add) -> Result<()> {
        if op.ec_policy_id != 0 {
            return unsupported(format!("{} needs erasure coding, {ADVICE}", op.path));
        }
        check_xattrs(&op.xattrs, &op.path)?;
        let located = self.walk(&op.path)?;
        let parent = self.replayed_parent(&located)?;
        let slot = match located.last() {
            Some(old) if op.overwrite => {
                self.remove_subtree(old, time(op.mtime_ms));
                self.reap(usize::MAX);
                self.add_file(parent, located.name(), op)?
            }
            // Logs older than OP_APPEND open a file for append this way.
            Some(old) => {
                if self.file_at(Some(old), &op.path).is_ok() && self.writer(old).is_none() {
                    let append = Append {
                        path: op.path.clone(),
                        client_name: op.client_name.clone(),
                        client_machine: op.client_machine.clone(),
                        new_block: false,
                    };
                    self.open_for_append(old, &append)?;
                }
                old
            }
            None => self.add_file(parent, located.name(), op)?,
        };
        self.change_times(slot, op.mtime_ms, op.atime_ms);
        self.update_blocks(slot, &op.path, &op.blocks, LastBlock::Open)
    }

    fn apply_close(&mut self, op: &Close) -> Result<()> {
        let slot = self.replayed_file(&op.path)?;
        self.update_blocks(slot, &op.path, &op.blocks, LastBlock::Complete)?;
        self.change_times(slot, op.mtime_ms, op.atime_ms);
        if self.writer(slot).is_some() {
            self.close_file(slot, time(op.mtime_ms));
        }
        Ok(())
    }

    fn apply_append(&mut self, op: &Append) -> Result<()> {
        let slot = self.replayed_file(&op.path)?;
        if self.writer(slot).is_none() {
            self.open_for_append(slot, op)?;
        }
        Ok(())
    }

    fn apply_add_block(&mut self, op: &AddBlock) -> Result<()> {
        let slot = self.replayed_file(&op.path)?;
        let last = self.last_stored(slot);
        if let Some(before) = op.penultimate {
            if last.map(|last| (last.id, last.stamp)) != Some((before.id, before.stamp)) {
                return Err(inconsistent(format!("{before} is not the last block of {}", op.path)));
            }
            self.change_blocks(slot, |blocks| {
                blocks.set_block(before);
                blocks.force_complete(before.id);
                Ok(())
            })?;
        } else if last.is_some() {
            return Err(inconsistent(format!("{} has blocks already", op.path)));
        }
        self.push_block(slot, op.last);
        Ok(())
    }

    fn apply_concat(&mut self, op: &ConcatDelete) -> Result<()> {
        let target = self.replayed_file(&op.target)?;
        let mut sources = Vec::with_capacity(op.sources.len());
        for source in &op.sources {
            let slot = self.replayed_file(source)?;
            if slot == target || sources.contains(&slot) {
                return Err(inconsistent(format!("{source} is joined twice")));
            }
            sources.push(slot);
        }
        self.join_files(target, &sources, time(op.timestamp_ms));
        Ok(())
    }

    fn allocate_block_id(&mut self, id: BlockId) {
        // Ids below zero are those of striped block groups.
        let last =
            if id.0 < 0 { &mut self.state.ids.striped_block } else { &mut self.state.ids.block };
        *last = id;
    }

    /// `FSEditLogLoader.updateBlocks`: the list of a file's blocks as the log has it.
    fn update_blocks(
        &mut self,
        slot: Slot,
        path: &str,
        new: &[Block],
        last: LastBlock,
    ) -> Result<()> {
        let before = self.usage_of(slot);
        self.update_common_blocks(slot, path, new, last)?;
        let count =
            self.state.tree.get(slot).as_file().map_or(0, |file| file.blocks.as_slice().len());
        if new.len() < count {
            self.remove_replayed_block(slot, path, new.len(), count)?;
        }
        for (at, block) in new.iter().enumerate().skip(count) {
            let open = last == LastBlock::Open && at + 1 == new.len();
            self.add_replayed_block(slot, *block, open);
        }
        let (parent, after) = (self.state.tree.get(slot).parent, self.usage_of(slot));
        self.charge(parent, &after.less(&before));
        Ok(())
    }

    fn update_common_blocks(
        &mut self,
        slot: Slot,
        path: &str,
        new: &[Block],
        last: LastBlock,
    ) -> Result<()> {
        let ids: Vec<BlockId> = match self.state.tree.get(slot).as_file() {
            Some(file) => file.blocks.as_slice().to_vec(),
            None => return Ok(()),
        };
        let same_count = ids.len() == new.len();
        for (at, (id, block)) in ids.iter().zip(new).enumerate() {
            let is_last = at + 1 == new.len();
            let old = self.state.blocks.get(*id).map(|stored| stored.block);
            let stamp_fits =
                old.is_some_and(|old| old.stamp == block.stamp) || (same_count && is_last);
            if *id != block.id || !stamp_fits {
                let old = old.unwrap_or(Block { id: *id, ..Block::default() });
                return Err(inconsistent(format!(
                    "Mismatched block IDs or generation stamps, attempting to replace block {old} with {block} as block \
                     # {at}/{} of {path}",
                    new.len()
                )));
            }
            self.state.blocks.set_block(*block);
            self.raise_stamp(GenerationStamp(block.stamp.0));
            if !is_last || last == LastBlock::Complete {
                self.state.blocks.force_complete(*id);
            }
        }
        Ok(())
    }

    fn remove_replayed_block(
        &mut self,
        slot: Slot,
        path: &str,
        new: usize,
        old: usize,
    ) -> Result<()> {
        if new + 1 != old {
            return Err(inconsistent(format!(
                "Trying to remove more than one block from file {path}"
            )));
        }
        if self.writer(slot).is_none() {
            return Err(inconsistent(format!(
                "Trying to remove a block from file {path} which is not under construction."
            )));
        }
        if let Some(last) = self.last_block(slot) {
            if let Some(file) = self.state.tree.get_mut(slot).as_file_mut() {
                file.blocks.truncate(new);
            }
            self.state.blocks.remove(last);
        }
        Ok(())
    }

    fn add_replayed_block(&mut self, slot: Slot, block: Block, open: bool) {
        let id = self.state.tree.get(slot).id;
        let Some(file) = self.state.tree.get_mut(slot).as_file_mut() else { return };
        file.blocks.push(block.id);
        let replication = file.replication();
        if open {
            self.state.blocks.put_under_construction(block, id, replication);
        } else {
            self.state.blocks.put_complete(block, id, replication);
        }
    }
}

fn time(ms: i64) -> u64 {
    ms.max(0) as u64
}

fn refuse(other: &op::EditOp) -> Result<()> {
    let feature = match other {
        EditOp::CreateSnapshot(_)
        | EditOp::DeleteSnapshot(_)
        | EditOp::RenameSnapshot(_)
        | EditOp::AllowSnapshot(_)
        | EditOp::DisallowSnapshot(_) => "snapshots",
        EditOp::GetDelegationToken(_)
        | EditOp::RenewDelegationToken(_)
        | EditOp::CancelDelegationToken(_)
        | EditOp::UpdateMasterKey(_) => "delegation tokens",
        EditOp::Symlink(_) => "symbolic links",
        _ => "erasure coding",
    };
    unsupported(format!("{} needs {feature}, {ADVICE}", other.name()))
}
