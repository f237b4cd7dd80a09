//! Storage policies of inodes: stored with files, and with directories as an extended attribute that what is below inherits.

use crate::answers::{XAttr, XAttrNamespace};
use crate::blocks::policy;
use crate::tree::{Body, Inode, Slot, Tree};
use bytes::Bytes;
use zerohop_wire::InodeId;

/// `hsm.block.storage.policy.id` in the system namespace, one byte.
pub(crate) const POLICY_XATTR: &str = "hsm.block.storage.policy.id";

fn is_policy(xattr: &XAttr) -> bool {
    xattr.namespace == XAttrNamespace::System && &*xattr.name == POLICY_XATTR
}

/// Sets the policy of a file or directory.
pub(crate) fn set_policy(inode: &mut Inode, policy_id: u8) {
    match &mut inode.body {
        Body::File(file) => file.set_storage_policy(policy_id),
        Body::Directory(directory) => {
            directory.xattrs.retain(|xattr| !is_policy(xattr));
            if policy_id != policy::UNSPECIFIED {
                directory.xattrs.insert(0, policy_xattr(policy_id));
            }
        }
        _ => {}
    }
}

/// The policy in force for a file; none for one that is not in the tree.
pub(crate) fn of_file(tree: &Tree, file: InodeId) -> u8 {
    tree.find(file).map_or(policy::UNSPECIFIED, |slot| effective(tree, slot))
}

/// The policy of an inode or of the nearest directory above that has one.
pub(crate) fn effective(tree: &Tree, slot: Slot) -> u8 {
    let set = |slot: Slot| Some(local(tree, slot)).filter(|id| *id != policy::UNSPECIFIED);
    tree.ancestors(slot).find_map(set).unwrap_or(policy::UNSPECIFIED)
}

/// The policy set on an inode itself.
pub(crate) fn local(tree: &Tree, slot: Slot) -> u8 {
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
