//! Mode, owner, times, replication, storage policy, ACL, extended attributes and quotas of one inode.

use super::Committed;
use super::inodes::InodeEdits;
use super::key::CommitKey;
use crate::Result;
use crate::acl::{mode_without, to_stored};
use crate::answers::XAttr;
use crate::blocks::StorageType;
use crate::policies::set_policy;
use crate::quota::{QUOTA_DONT_SET, QUOTA_RESET, Quota};
use crate::tree::{Permission, Slot};
use crate::unsupported::check_xattrs;
use bytes::Bytes;
use zerohop_journal::op::{
    ClearNsQuota, RemoveXAttr, SetAcl, SetNsQuota, SetOwner, SetPermissions, SetQuota,
    SetQuotaByStorageType, SetReplication, SetStoragePolicy, SetXAttr, Times,
};

/// Applies edits of attributes.
pub(super) struct AttributeEdits<'s> {
    pub(super) inodes: InodeEdits<'s>,
    /// dfs.replication.max
    pub(super) replication_max: u16,
}

impl AttributeEdits<'_> {
    /// `OP_SET_PERMISSIONS`
    pub(super) fn set_permissions(&mut self, op: &SetPermissions) -> Result<Committed> {
        let slot = self.inodes.paths().existing(&op.path)?;
        self.set_mode(slot, op.mode);
        Ok(Committed::inode(slot))
    }

    fn set_mode(&mut self, slot: Slot, mode: u16) {
        let permission = self.inodes.tree.get(slot).permission.with_mode(mode);
        self.inodes.tree.set_permission(slot, permission);
    }

    /// `OP_SET_OWNER`
    pub(super) fn set_owner(&mut self, op: &SetOwner) -> Result<Committed> {
        let slot = self.inodes.paths().existing(&op.path)?;
        let old = self.inodes.tree.get(slot).permission;
        let tree = &mut self.inodes.tree;
        let user = op.user.as_deref().map_or(old.user(), |name| tree.intern(name));
        let group = op.group.as_deref().map_or(old.group(), |name| tree.intern(name));
        self.inodes.tree.set_permission(slot, Permission::new(user, group, old.mode()));
        Ok(Committed::inode(slot))
    }

    /// `OP_TIMES`
    pub(super) fn set_times(&mut self, op: &Times) -> Result<Committed> {
        let slot = self.inodes.paths().existing(&op.path)?;
        self.inodes.set_inode_times(slot, op.mtime_ms, op.atime_ms);
        Ok(Committed::inode(slot))
    }

    /// `OP_SET_REPLICATION`; nothing for what is not a file.
    pub(super) fn set_replication(&mut self, op: &SetReplication) -> Result<Committed> {
        let replication = clamp_replication(op.replication, self.replication_max);
        let Some(slot) = self.inodes.paths().walk(&op.path)?.last() else {
            return Ok(Committed::default());
        };
        if self.inodes.tree.get(slot).as_file().is_none() {
            return Ok(Committed::default());
        }
        self.inodes.recharge(slot, |inodes| {
            if let Some(file) = inodes.tree.change(slot).as_file_mut() {
                file.set_replication(replication);
                for block in file.blocks.as_slice() {
                    inodes.blocks.edits(CommitKey::new()).set_replication(*block, replication);
                }
            }
        });
        Ok(Committed::inode(slot))
    }

    /// `OP_SET_STORAGE_POLICY`. The sums of the directories below stay: they say what inherits its policy.
    pub(super) fn set_storage_policy(&mut self, op: &SetStoragePolicy) -> Result<Committed> {
        let slot = self.inodes.paths().existing(&op.path)?;
        self.inodes.recharge(slot, |inodes| set_policy(inodes.tree.change(slot), op.policy_id));
        Ok(Committed::inode(slot))
    }

    /// `OP_SET_ACL`: a logical list; an empty one removes what is there.
    pub(super) fn set_acl(&mut self, op: &SetAcl) -> Result<Committed> {
        let slot = self.inodes.paths().existing(&op.path)?;
        let inode = self.inodes.tree.get(slot);
        let mode = inode.permission.mode();
        let (mode, acl) = match (op.entries.as_slice(), inode.acl()) {
            ([], None) => return Ok(Committed::inode(slot)),
            ([], Some(old)) => (mode_without(mode, old), None),
            (entries, _) => to_stored(entries, mode, inode.is_directory(), &op.path)?,
        };
        self.set_mode(slot, mode);
        self.inodes.tree.set_acl(slot, acl);
        Ok(Committed::inode(slot))
    }

    /// `OP_SET_XATTR`
    pub(super) fn set_xattrs(&mut self, op: &SetXAttr) -> Result<Committed> {
        check_xattrs(&op.xattrs, &op.path)?;
        let slot = self.inodes.paths().existing(&op.path)?;
        let new = with_set(self.inodes.tree.get(slot).xattrs(), &op.xattrs);
        Ok(self.replace_xattrs(slot, new))
    }

    /// `OP_REMOVE_XATTR`
    pub(super) fn remove_xattrs(&mut self, op: &RemoveXAttr) -> Result<Committed> {
        let slot = self.inodes.paths().existing(&op.path)?;
        let new = with_removed(self.inodes.tree.get(slot).xattrs(), &op.xattrs);
        Ok(self.replace_xattrs(slot, new))
    }

    fn replace_xattrs(&mut self, slot: Slot, new: Vec<XAttr>) -> Committed {
        // One of them may be a directory's storage policy.
        self.inodes.recharge(slot, |inodes| inodes.tree.change(slot).set_xattrs(new));
        Committed::inode(slot)
    }

    /// `OP_SET_NS_QUOTA`
    pub(super) fn set_ns_quota(&mut self, op: &SetNsQuota) -> Result<Committed> {
        self.change_quota(&op.path, op.ns_quota, QUOTA_DONT_SET, None)
    }

    /// `OP_CLEAR_NS_QUOTA`
    pub(super) fn clear_ns_quota(&mut self, op: &ClearNsQuota) -> Result<Committed> {
        self.change_quota(&op.path, QUOTA_RESET, QUOTA_DONT_SET, None)
    }

    /// `OP_SET_QUOTA`
    pub(super) fn set_quota(&mut self, op: &SetQuota) -> Result<Committed> {
        self.change_quota(&op.path, op.ns_quota, op.ds_quota, None)
    }

    /// `OP_SET_QUOTA_BY_STORAGETYPE`
    pub(super) fn set_type_quota(&mut self, op: &SetQuotaByStorageType) -> Result<Committed> {
        self.change_quota(&op.path, QUOTA_DONT_SET, op.quota, Some(op.storage_type))
    }

    fn change_quota(
        &mut self,
        path: &str,
        names: i64,
        space: i64,
        kind: Option<StorageType>,
    ) -> Result<Committed> {
        let slot = self.inodes.paths().existing(path)?;
        let is_root = slot == self.inodes.tree.root();
        let quota =
            Quota { limit: self.inodes.ledger().limit_at(slot).with(names, space, kind, is_root) };
        let is_kept = quota.is_set() || is_root;
        if let Some(directory) = self.inodes.tree.change(slot).as_directory_mut() {
            directory.quota = is_kept.then(|| Box::new(quota));
        }
        Ok(Committed::inode(slot))
    }
}

/// Lowers a replication from another NameNode's edit to what `dfs.replication.max` allows.
pub(super) fn clamp_replication(replication: i16, max: u16) -> u16 {
    replication.clamp(1, max as i16) as u16
}

fn same_name(a: &XAttr, b: &XAttr) -> bool {
    a.namespace == b.namespace && a.name == b.name
}

/// A list with attributes set: new values first, as Hadoop orders them.
pub(crate) fn with_set(existing: &[XAttr], set: &[XAttr]) -> Vec<XAttr> {
    let kept = existing.iter().filter(|old| !set.iter().any(|new| same_name(old, new)));
    set.iter().map(compact).chain(kept.cloned()).collect()
}

/// Returns a copy whose value shares no memory: that of the request or of the edits it came with would stay taken.
fn compact(xattr: &XAttr) -> XAttr {
    let value = xattr.value.as_deref().map(Bytes::copy_from_slice);
    XAttr { namespace: xattr.namespace, name: xattr.name.clone(), value }
}

/// A list with attributes removed.
fn with_removed(existing: &[XAttr], removed: &[XAttr]) -> Vec<XAttr> {
    let is_kept = |old: &&XAttr| !removed.iter().any(|gone| same_name(old, gone));
    existing.iter().filter(is_kept).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::XAttrNamespace;

    /// A value of one byte kept its request, which may be as large as any, and the server's room for requests.
    #[test]
    fn an_attribute_kept_the_request_that_brought_it() {
        let request = Bytes::from(vec![7; 1 << 20]);
        let value = Some(request.slice(..1));
        let set = XAttr { namespace: XAttrNamespace::User, name: "a".into(), value };
        let kept = with_set(&[], std::slice::from_ref(&set));
        assert_eq!(kept, std::slice::from_ref(&set));
        drop(set);
        assert!(request.is_unique());
    }
}
