//! The status of one inode.

use crate::blocks::policy;
use crate::commit::DurableState;
use crate::tree::{Body, File, Slot, Tree};
use crate::{FileKind, FileStatus, NamespaceParams};
use zerohop_wire::InodeId;

/// `/.reserved` and what is in it have no inodes.
pub(crate) fn reserved_status(params: &NamespaceParams, name: &str, mode: u16) -> FileStatus {
    FileStatus {
        kind: FileKind::Directory,
        id: InodeId::GRANDFATHER,
        name: name.to_owned(),
        len: 0,
        mode,
        owner: params.superuser.as_str().into(),
        group: params.supergroup.as_str().into(),
        mtime: 0,
        atime: 0,
        replication: 0,
        block_size: 0,
        storage_policy: policy::UNSPECIFIED,
        children: 0,
        symlink: None,
        has_acl: false,
        locations: None,
    }
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
        Body::Symlink(link) => (FileKind::Symlink, Some(link.target.clone())),
        _ => (FileKind::Directory, None),
    };
    FileStatus {
        kind,
        id: inode.id,
        name,
        len: file.map_or(0, |file| state.ledger().len_of(file)),
        mode: inode.permission.mode(),
        owner: state.tree().user(inode.permission).clone(),
        group: state.tree().group(inode.permission).clone(),
        mtime: inode.mtime(),
        atime: inode.atime(),
        replication: file.map_or(0, File::replication),
        block_size: file.map_or(0, File::block_size),
        storage_policy,
        children: inode.as_directory().map_or(0, |directory| directory.children.len() as u32),
        symlink,
        has_acl: inode.acl().is_some(),
        locations: None,
    }
}

/// Whether a read now has to move a file's access time.
pub(crate) fn access_time_due(
    params: &NamespaceParams,
    tree: &Tree,
    slot: Slot,
    now_ms: u64,
) -> bool {
    let precision = params.access_time_precision_ms;
    precision > 0 && now_ms > tree.get(slot).atime().saturating_add(precision)
}
