//! Storage policies set and shown.

use crate::access::{READ, WRITE};
use crate::blocks::policy::{self, StoragePolicy};
use crate::blocks::{Heartbeat, HeartbeatReply, Now, StorageReport};
use crate::error::{NotFound, PolicyError, refuse};
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::SetStoragePolicy;

impl Namespace {
    /// Sets the storage policy of a file or directory by its name.
    ///
    /// # Errors
    /// As Hadoop's `setStoragePolicy`.
    pub fn set_storage_policy(&mut self, ctx: &OpContext, path: &str, policy: &str) -> Result<()> {
        self.begin(ctx, || format!("Cannot set storage policy for {path}"))?;
        self.check_policy_change(ctx, "set storage policy", "setStoragePolicy")?;
        match StoragePolicy::by_name(policy) {
            Some(policy) => self.put_policy(ctx, path, policy.id),
            None => refuse(PolicyError::Unknown { name: policy.to_owned() }),
        }
    }

    /// Takes the storage policy of a file or directory away: it inherits again.
    ///
    /// # Errors
    /// As Hadoop's `unsetStoragePolicy`.
    pub fn unset_storage_policy(&mut self, ctx: &OpContext, path: &str) -> Result<()> {
        self.begin(ctx, || format!("Cannot unset storage policy for {path}"))?;
        self.check_policy_change(ctx, "unset storage policy", "unsetStoragePolicy")?;
        self.put_policy(ctx, path, policy::UNSPECIFIED)
    }

    fn check_policy_change(
        &self,
        ctx: &OpContext,
        operation: &'static str,
        method: &'static str,
    ) -> Result<()> {
        if !self.params.storage_policy_enabled {
            return refuse(PolicyError::Disabled { operation });
        }
        if self.params.storage_policy_superuser_only {
            self.check_superuser(ctx, method)?;
        }
        Ok(())
    }

    fn put_policy(&mut self, ctx: &OpContext, path: &str, policy_id: u8) -> Result<()> {
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_access_to(ctx, &located, WRITE)?;
        let Some(slot) = located.last() else {
            return refuse(NotFound::FileOrDirectory { path: located.path.into_owned() });
        };
        self.check_policy_of_file(slot, policy_id)?;
        self.commit(SetStoragePolicy { path: located.path.into_owned(), policy_id }).map(drop)
    }

    fn check_policy_of_file(&self, slot: Slot, policy_id: u8) -> Result<()> {
        let Some(file) = self.state.tree().get(slot).as_file() else { return Ok(()) };
        let fixed = |id: u8| StoragePolicy::by_id(id).filter(|policy| policy.copy_on_create);
        if let Some(policy) = fixed(policy_id) {
            return refuse(PolicyError::OnlyAtCreation { name: policy.name });
        }
        if let Some(policy) = fixed(file.storage_policy()) {
            return refuse(PolicyError::Fixed { name: policy.name });
        }
        Ok(())
    }

    /// The storage policy in force at a path; 0 when none is set above it.
    ///
    /// # Errors
    /// As Hadoop's `getStoragePolicy`.
    pub fn storage_policy(&self, ctx: &OpContext, path: &str) -> Result<u8> {
        let located = self.resolve(ctx, path, DirOp::ReadLink)?;
        self.check_access_to(ctx, &located, READ)?;
        let Some(slot) = located.last() else {
            return refuse(NotFound::FileOrDirectory { path: located.path.into_owned() });
        };
        Ok(match self.state.effective_policy(slot) {
            policy::UNSPECIFIED => policy::DEFAULT.id,
            set => set,
        })
    }

    /// The namespace is loaded: safe mode starts counting, `now` being the start.
    pub fn start(&mut self, now: Now) {
        let last = self.state.ids().stamp;
        self.state.blocks_mut().start(now, last);
    }

    /// Time passes for the block manager, which is told each file's policy: [`tick`](crate::blocks::BlockManager::tick).
    pub fn tick(&mut self, now: Now) {
        self.state.tick(now);
    }

    /// Takes in a heartbeat: [`heartbeat`](crate::blocks::BlockManager::heartbeat).
    pub fn heartbeat(
        &mut self,
        uuid: &str,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
    ) -> HeartbeatReply {
        self.state.heartbeat(uuid, beat, storages, now)
    }

    /// Replicas that the last changes made superfluous are chosen and ordered to be deleted:
    /// [`delete_extra`](crate::blocks::BlockManager::delete_extra).
    pub fn delete_extra(&mut self) {
        self.state.delete_extra();
    }
}
