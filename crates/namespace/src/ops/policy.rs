//! Storage policies: stored with files, and with folders as an extended attribute that what is below inherits.

use crate::access::{READ, WRITE};
use crate::blocks::policy::{self, StoragePolicy};
use crate::blocks::{Heartbeat, HeartbeatReply, Now, StorageReport};
use crate::fail::{illegal, not_found};
use crate::resolve::DirOp;
use crate::tree::{Body, Slot, Tree};
use crate::views::{XAttr, XAttrNamespace};
use crate::{Namespace, OpContext, Result};
use bytes::Bytes;
use zerohop_journal::op::SetStoragePolicy;
use zerohop_wire::InodeId;

/// `hsm.block.storage.policy.id` in the system namespace, one byte.
pub(crate) const POLICY_XATTR: &str = "hsm.block.storage.policy.id";

fn is_policy(xattr: &XAttr) -> bool {
    xattr.namespace == XAttrNamespace::System && &*xattr.name == POLICY_XATTR
}

impl Namespace {
    /// Sets the storage policy of a file or folder by its name.
    ///
    /// # Errors
    /// As Hadoop's `setStoragePolicy`.
    pub fn set_storage_policy(&mut self, ctx: &OpContext, path: &str, policy: &str) -> Result<()> {
        self.begin(ctx, || format!("Cannot set storage policy for {path}"))?;
        self.check_policy_change(ctx, "set storage policy", "setStoragePolicy")?;
        match StoragePolicy::by_name(policy) {
            Some(policy) => self.put_policy(ctx, path, policy.id),
            None => illegal(format!("Cannot find a block policy with the name {policy}")),
        }
    }

    /// Takes the storage policy of a file or folder away: it inherits again.
    ///
    /// # Errors
    /// As Hadoop's `unsetStoragePolicy`.
    pub fn unset_storage_policy(&mut self, ctx: &OpContext, path: &str) -> Result<()> {
        self.begin(ctx, || format!("Cannot unset storage policy for {path}"))?;
        self.check_policy_change(ctx, "unset storage policy", "unsetStoragePolicy")?;
        self.put_policy(ctx, path, policy::UNSPECIFIED)
    }

    fn check_policy_change(&self, ctx: &OpContext, readable: &str, method: &str) -> Result<()> {
        if !self.params.storage_policy_enabled {
            return crate::fail::io(format!(
                "Failed to {readable} since dfs.storage.policy.enabled is set to false."
            ));
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
            return not_found(format!("File/Directory does not exist: {}", located.path));
        };
        self.check_policy_of_file(slot, policy_id)?;
        self.change_policy(slot, policy_id);
        self.log(SetStoragePolicy { path: located.path.into_owned(), policy_id });
        Ok(())
    }

    fn check_policy_of_file(&self, slot: Slot, policy_id: u8) -> Result<()> {
        let Some(file) = self.state.tree.get(slot).as_file() else { return Ok(()) };
        let fixed = |id: u8| StoragePolicy::by_id(id).filter(|policy| policy.copy_on_create);
        if let Some(policy) = fixed(policy_id) {
            return illegal(format!("Policy {} cannot be set after file creation.", policy.name));
        }
        if let Some(policy) = fixed(file.storage_policy()) {
            return illegal(format!(
                "Existing policy {} cannot be changed after file creation.",
                policy.name
            ));
        }
        Ok(())
    }

    /// The change of `OP_SET_STORAGE_POLICY`. The sums of the directories below stay: they say what inherits its policy.
    pub(crate) fn change_policy(&mut self, slot: Slot, policy_id: u8) {
        self.recharge(slot, |namespace| match &mut namespace.state.tree.get_mut(slot).body {
            Body::File(file) => file.set_storage_policy(policy_id),
            Body::Directory(directory) => {
                directory.xattrs.retain(|xattr| !is_policy(xattr));
                if policy_id != policy::UNSPECIFIED {
                    directory.xattrs.insert(0, policy_xattr(policy_id));
                }
            }
            _ => {}
        });
    }

    /// The storage policy in force at a path; 0 when none is set above it.
    ///
    /// # Errors
    /// As Hadoop's `getStoragePolicy`.
    pub fn storage_policy(&self, ctx: &OpContext, path: &str) -> Result<u8> {
        let located = self.resolve(ctx, path, DirOp::ReadLink)?;
        self.check_access_to(ctx, &located, READ)?;
        let Some(slot) = located.last() else {
            return not_found(format!("File/Directory does not exist: {}", located.path));
        };
        Ok(match self.effective_policy(slot) {
            policy::UNSPECIFIED => policy::DEFAULT.id,
            set => set,
        })
    }

    /// The policy set on an inode itself.
    pub(crate) fn local_policy(&self, slot: Slot) -> u8 {
        local(&self.state.tree, slot)
    }

    /// The policy of an inode or of the nearest folder above that has one.
    pub(crate) fn effective_policy(&self, slot: Slot) -> u8 {
        effective(&self.state.tree, slot)
    }

    /// The namespace is loaded: safe mode starts counting, `now` being the start.
    pub fn start(&mut self, now: Now) {
        self.state.blocks.start(now, self.state.ids.stamp);
    }

    /// Time passes for the block manager, which is told each file's policy: [`tick`](crate::blocks::BlockManager::tick).
    pub fn tick(&mut self, now: Now) {
        let tree = &self.state.tree;
        self.state.blocks.tick(now, &|file| of_file(tree, file));
    }

    /// Takes in a heartbeat: [`heartbeat`](crate::blocks::BlockManager::heartbeat).
    pub fn heartbeat(
        &mut self,
        uuid: &str,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
    ) -> HeartbeatReply {
        let tree = &self.state.tree;
        self.state.blocks.heartbeat(uuid, beat, storages, now, &|file| of_file(tree, file))
    }

    /// Replicas that the last changes made superfluous are chosen and ordered to be deleted:
    /// [`delete_extra`](crate::blocks::BlockManager::delete_extra).
    pub fn delete_extra(&mut self) {
        let tree = &self.state.tree;
        self.state.blocks.delete_extra(&|file| of_file(tree, file));
    }
}

fn of_file(tree: &Tree, file: InodeId) -> u8 {
    tree.find(file).map_or(policy::UNSPECIFIED, |slot| effective(tree, slot))
}

fn effective(tree: &Tree, slot: Slot) -> u8 {
    let set = |slot: Slot| Some(local(tree, slot)).filter(|id| *id != policy::UNSPECIFIED);
    tree.ancestors(slot).find_map(set).unwrap_or(policy::UNSPECIFIED)
}

fn local(tree: &Tree, slot: Slot) -> u8 {
    match &tree.get(slot).body {
        Body::File(file) => file.storage_policy(),
        Body::Directory(directory) => directory
            .xattrs
            .iter()
            .find(|xattr| is_policy(xattr))
            .and_then(|xattr| xattr.value.as_ref()?.first().copied())
            .unwrap_or(policy::UNSPECIFIED),
        _ => policy::UNSPECIFIED,
    }
}

fn policy_xattr(policy_id: u8) -> XAttr {
    XAttr {
        namespace: XAttrNamespace::System,
        name: POLICY_XATTR.into(),
        value: Some(Bytes::copy_from_slice(&[policy_id])),
    }
}
