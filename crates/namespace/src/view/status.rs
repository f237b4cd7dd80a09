//! The status of one inode.

use crate::blocks::policy;
use crate::commit::DurableState;
use crate::tree::{Body, Slot, Tree};
use crate::{FileKind, FileStatus, NamespaceParams};
use zerohop_wire::InodeId;

/// `/.reserved` and what is in it have no inodes.
pub(crate) fn reserved_status(params: &NamespaceParams, name: &str, mode: u16) -> FileStatus {
    let (owner, group) = (params.superuser.as_str().into(), params.supergroup.as_str().into());
    let mut status = FileStatus::new(FileKind::Directory, InodeId::GRANDFATHER, owner, group);
    name.clone_into(&mut status.path);
    status.permission = mode;
    status.storage_policy = policy::UNSPECIFIED;
    status.children = Some(0);
    status
}

/// The status of an inode under the name the answer gives it.
pub(crate) fn status_of(
    state: &DurableState,
    slot: Slot,
    name: String,
    storage_policy: u8,
) -> FileStatus {
    let inode = state.tree().get(slot);
    let file = inode.as_file();
    let (kind, symlink) = match &inode.body {
        Body::File(_) => (FileKind::File, None),
        Body::Symlink(link) => {
            (FileKind::Symlink, Some(String::from_utf8_lossy(&link.target).into_owned()))
        }
        _ => (FileKind::Directory, None),
    };
    let owner = state.tree().user(inode.permission).clone();
    let group = state.tree().group(inode.permission).clone();
    let mut status = FileStatus::new(kind, inode.id, owner, group);
    status.path = name;
    status.permission = inode.permission.mode();
    status.modified_ms = inode.mtime();
    status.accessed_ms = inode.atime();
    status.storage_policy = storage_policy;
    status.symlink = symlink;
    status.has_acl = inode.acl().is_some();
    let children = inode.as_directory().map_or(0, |directory| directory.children.len() as u32);
    status.children = Some(children);
    if let Some(file) = file {
        status.len = state.ledger().len_of(file);
        status.replication = file.replication();
        status.block_size = file.block_size();
    }
    status
}

/// Whether a read now has to update a file's access time.
pub(crate) fn access_time_due(
    params: &NamespaceParams,
    tree: &Tree,
    slot: Slot,
    now_ms: u64,
) -> bool {
    let precision = params.access_time_precision_ms;
    precision > 0 && now_ms > tree.get(slot).atime().saturating_add(precision)
}
