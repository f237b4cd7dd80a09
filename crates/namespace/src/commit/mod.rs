//! The one function that changes durable state: [`DurableState::commit`].
//!
//! A live call, the replay of an edit log and a standby all change the namespace by committing an edit. What is durable
//! (inodes and the sums of directories, blocks, leases' holders, cache pools and directives, counters) has private
//! fields that only this module writes; all others read them through accessors. The edits of each kind are made by a small type
//! that borrows the parts they change ([`FileEdits`], [`DirectoryEdits`], [`AttributeEdits`]). What no edit carries (replicas,
//! pipelines, when a lease was renewed, the queue of deleted subtrees) follows from the [`Committed`] that it returns.

mod attributes;
mod blocks;
mod directories;
mod files;
mod inodes;
pub(crate) mod key;
mod ledger;
mod load;
mod outcome;
mod state;
mod truncate;

pub(crate) use attributes::with_set;
pub(crate) use load::ImageLoad;
pub(crate) use outcome::{Committed, Deleted, Freed};
pub(crate) use state::DurableState;

use crate::Result;
use crate::error::Unsupported;
use crate::tree::{Body, Slot};
use attributes::AttributeEdits;
use directories::DirectoryEdits;
use files::FileEdits;
use inodes::InodeEdits;
use zerohop_journal::EditOp;
use zerohop_proto::hdfs::ErasureCodingPolicyState as EcState;
use zerohop_wire::{Block, BlockId};

impl DurableState {
    /// Makes the change of one edit, all of it or nothing.
    ///
    /// # Errors
    /// When it does not fit what is there, or belongs to a feature that is not supported: nothing has changed then.
    pub(crate) fn commit(&mut self, op: &EditOp) -> Result<Committed> {
        match op {
            EditOp::Add(op) => self.file_edits().add(op),
            EditOp::Close(op) => self.file_edits().close(op),
            EditOp::Append(op) => self.file_edits().append(op),
            EditOp::UpdateBlocks(op) => self.file_edits().blocks().update_blocks(op),
            EditOp::AddBlock(op) => self.file_edits().blocks().add_block(op),
            EditOp::Truncate(op) => self.file_edits().truncate(op),
            EditOp::ReassignLease(op) => self.file_edits().reassign_lease(op),
            EditOp::ConcatDelete(op) => self.file_edits().concat(op),
            EditOp::RenameOld(op) => self.directory_edits().rename_old(op),
            EditOp::Rename(op) => self.directory_edits().rename(op),
            EditOp::Delete(op) => self.directory_edits().delete(op),
            EditOp::Mkdir(op) => self.directory_edits().mkdir(op),
            EditOp::SetPermissions(op) => self.attribute_edits().set_permissions(op),
            EditOp::SetOwner(op) => self.attribute_edits().set_owner(op),
            EditOp::Times(op) => self.attribute_edits().set_times(op),
            EditOp::SetReplication(op) => self.attribute_edits().set_replication(op),
            EditOp::SetStoragePolicy(op) => self.attribute_edits().set_storage_policy(op),
            EditOp::SetAcl(op) => self.attribute_edits().set_acl(op),
            EditOp::SetXAttr(op) => self.attribute_edits().set_xattrs(op),
            EditOp::RemoveXAttr(op) => self.attribute_edits().remove_xattrs(op),
            EditOp::SetNsQuota(op) => self.attribute_edits().set_ns_quota(op),
            EditOp::ClearNsQuota(op) => self.attribute_edits().clear_ns_quota(op),
            EditOp::SetQuota(op) => self.attribute_edits().set_quota(op),
            EditOp::SetQuotaByStorageType(op) => self.attribute_edits().set_type_quota(op),
            EditOp::AddCacheDirective(_)
            | EditOp::RemoveCacheDirective(_)
            | EditOp::ModifyCacheDirective(_)
            | EditOp::AddCachePool(_)
            | EditOp::ModifyCachePool(_)
            | EditOp::RemoveCachePool(_) => {
                self.cache.apply(op)?;
                Ok(Committed::default())
            }
            other => self.commit_counter(other),
        }
    }

    fn inode_edits(&mut self) -> InodeEdits<'_> {
        InodeEdits { tree: &mut self.tree, blocks: &mut self.blocks, ids: &mut self.ids }
    }

    fn attribute_edits(&mut self) -> AttributeEdits<'_> {
        let replication_max = self.replication_max;
        AttributeEdits { inodes: self.inode_edits(), replication_max }
    }

    fn directory_edits(&mut self) -> DirectoryEdits<'_> {
        DirectoryEdits { inodes: self.inode_edits() }
    }

    fn file_edits(&mut self) -> FileEdits<'_> {
        let (tree, blocks, ids) = (&mut self.tree, &mut self.blocks, &mut self.ids);
        FileEdits {
            inodes: InodeEdits { tree, blocks, ids },
            leases: &mut self.leases,
            replication_max: self.replication_max,
        }
    }

    /// The client has written all of a file's last block, as it says. No edit carries that before the file's next block or
    /// its end does: after a restart the client says it again.
    ///
    /// # Errors
    /// `Error::Block` when the block is not the one that is being written.
    pub(crate) fn finish_last_block(&mut self, slot: Slot, written: Block) -> Result<bool> {
        self.file_edits().blocks().change_last_block(slot, |blocks| blocks.commit(written))
    }

    /// Forgets [`DurableState::finish_last_block`]: another NameNode does not know of it, and may recover the block meanwhile. The
    /// client repeats the call.
    pub(crate) fn forget_last_commit(&mut self, slot: Slot) {
        let Some(last) = self.files().last_block(slot) else { return };
        self.file_edits().blocks().change_last_block(slot, |blocks| blocks.forget_commit(last));
    }

    /// One step of freeing a deleted subtree: a child that must be freed before `slot`, or the number of inodes and blocks
    /// freed with it.
    pub(crate) fn free_deleted(&mut self, slot: Slot) -> Freed {
        if let Some(child) = self.tree.pop_detached_child(slot) {
            return Freed::ChildFirst(child);
        }
        let inode = self.tree.free(slot);
        let mut objects = 1;
        if let Body::File(file) = inode.body {
            let blocks = file.blocks.as_slice();
            blocks.iter().for_each(|block| self.block_edits().remove(*block));
            objects += blocks.len();
            self.leases.remove(inode.id);
        }
        Freed::Objects(objects)
    }

    fn commit_counter(&mut self, op: &EditOp) -> Result<Committed> {
        match op {
            EditOp::SetGenstampV1(op) => self.ids.legacy_stamp = op.stamp,
            EditOp::SetGenstampV2(op) => self.ids.stamp = op.stamp,
            EditOp::AllocateBlockId(op) => self.set_block_id(op.block_id),
            EditOp::EnableErasureCodingPolicy(op) => self.set_ec_state(&op.name, EcState::Enabled),
            EditOp::DisableErasureCodingPolicy(op) => {
                self.set_ec_state(&op.name, EcState::Disabled)
            }
            EditOp::RollingUpgradeStart(op) => self.rolling_upgrade.start(op.time_ms)?,
            EditOp::RollingUpgradeFinalize(op) => self.rolling_upgrade.finalize(op.time_ms),
            // The beginning and end of a segment change nothing.
            EditOp::StartLogSegment(_) | EditOp::EndLogSegment(_) => {}
            other => return refuse(other),
        }
        Ok(Committed::default())
    }

    fn set_block_id(&mut self, id: BlockId) {
        // Ids below zero are those of striped block groups.
        let last = if id.0 < 0 { &mut self.ids.striped_block } else { &mut self.ids.block };
        *last = id;
    }

    /// Policies are only kept for other readers of our images; one that the image did not have is ignored.
    fn set_ec_state(&mut self, name: &str, state: EcState) {
        if let Some(policy) = self.ec_policies.iter_mut().find(|policy| policy.name() == name) {
            policy.state = Some(state as i32);
        }
    }
}

fn refuse(other: &EditOp) -> Result<Committed> {
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
    Err(Unsupported::Edit { what: other.name().to_owned(), feature }.into())
}
