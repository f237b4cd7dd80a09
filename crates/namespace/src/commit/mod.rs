//! The one function that changes durable state: [`DurableState::commit`].
//!
//! A live call, the replay of an edit log and a standby all change the namespace by committing an edit. What is durable
//! (inodes and the sums of directories, blocks, leases' holders, cache pools and directives, counters) has private
//! fields that only this module writes; all others read them through accessors. What no edit carries (replicas,
//! pipelines, when a lease was renewed, the queue of deleted subtrees) follows from the [`Committed`] that it returns.

mod attributes;
mod blocks;
mod directories;
mod files;
pub(crate) mod key;
mod ledger;
mod load;
mod outcome;
mod rename;
mod state;
mod truncate;

pub(crate) use attributes::with_set;
pub(crate) use directories::Freed;
pub(crate) use outcome::{Committed, Deleted};
pub(crate) use state::DurableState;

use crate::Result;
use crate::error::Unsupported;
use zerohop_journal::EditOp;
use zerohop_proto::hdfs::ErasureCodingPolicyState as EcState;
use zerohop_wire::BlockId;

impl DurableState {
    /// Makes the change of one edit, all of it or nothing.
    ///
    /// # Errors
    /// When it does not fit what is there, or belongs to a feature that is not supported: nothing has changed then.
    pub(crate) fn commit(&mut self, op: &EditOp) -> Result<Committed> {
        match op {
            EditOp::Add(op) => self.commit_add(op),
            EditOp::Close(op) => self.commit_close(op),
            EditOp::Append(op) => self.commit_append(op),
            EditOp::UpdateBlocks(op) => self.commit_update_blocks(op),
            EditOp::AddBlock(op) => self.commit_add_block(op),
            EditOp::Truncate(op) => self.commit_truncate(op),
            EditOp::ReassignLease(op) => self.commit_reassign_lease(op),
            EditOp::ConcatDelete(op) => self.commit_concat(op),
            EditOp::RenameOld(op) => self.commit_rename_old(op),
            EditOp::Rename(op) => self.commit_rename(op),
            EditOp::Delete(op) => self.commit_delete(op),
            EditOp::Mkdir(op) => self.commit_mkdir(op),
            EditOp::SetPermissions(op) => self.commit_set_permissions(op),
            EditOp::SetOwner(op) => self.commit_set_owner(op),
            EditOp::Times(op) => self.commit_times(op),
            EditOp::SetReplication(op) => self.commit_set_replication(op),
            EditOp::SetStoragePolicy(op) => self.commit_set_storage_policy(op),
            EditOp::SetAcl(op) => self.commit_set_acl(op),
            EditOp::SetXAttr(op) => self.commit_set_xattrs(op),
            EditOp::RemoveXAttr(op) => self.commit_remove_xattrs(op),
            EditOp::SetNsQuota(op) => self.commit_set_ns_quota(op),
            EditOp::ClearNsQuota(op) => self.commit_clear_ns_quota(op),
            EditOp::SetQuota(op) => self.commit_set_quota(op),
            EditOp::SetQuotaByStorageType(op) => self.commit_set_type_quota(op),
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
            // Marks of a segment change nothing.
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

    /// Policies are only kept for other readers of our images; one that is not in ours is nothing to enable.
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
