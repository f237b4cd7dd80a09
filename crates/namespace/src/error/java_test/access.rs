//! Permissions and leases.

use super::{block, check, path};
use crate::error::{
    Denied, Error, InodeAccess, LeaseConflict, LeaseExpired, LeaseHeld, LeaseOperation, LeasedFile,
};
use zerohop_wire::{InodeId, JavaException};

#[test]
fn callers_who_may_not() {
    let user = || "bob".into();
    let inode = |mode, is_directory| InodeAccess {
        owner: "root".into(),
        group: "staff".into(),
        is_directory,
        mode,
    };
    let name = "security.hdfs.unreadable.by.superuser";
    check(
        JavaException::AccessControl,
        [
            (
                Denied::Operation { user: user(), operation: "setQuota" }.into(),
                "Access denied for user bob. Superuser privilege is required for operation setQuota",
            ),
            (
                Denied::NotSuperuser { user: user() }.into(),
                "Access denied for user bob. Superuser privilege is required",
            ),
            (
                Denied::NotOwnerAbove { user: user() }.into(),
                "Access denied for user bob. Superuser or owner of parent directory privilege is required",
            ),
            (
                Denied::Permission {
                    user: user(),
                    access: "WRITE",
                    path: path(),
                    inode: inode(0o755, true),
                }
                .into(),
                "Permission denied: user=bob, access=WRITE, inode=\"/d/f\":root:staff:drwxr-xr-x",
            ),
            (
                Denied::StickyBit {
                    user: user(),
                    path: path(),
                    inode: inode(0o640, false),
                    parent: "/d".to_owned(),
                    parent_inode: inode(0o1777, true),
                }
                .into(),
                "Permission denied by sticky bit: user=bob, path=\"/d/f\":root:staff:-rw-r-----, \
                 parent=\"/d\":root:staff:drwxrwxrwt",
            ),
            (
                Denied::NotOwner { user: user(), path: path() }.into(),
                "Permission denied. user=bob is not the owner of inode=/d/f",
            ),
            (
                Denied::ChangeOfOwner { user: user() }.into(),
                "User bob is not a super user (non-super user cannot change owner).",
            ),
            (
                Denied::NotInGroup { user: user(), group: "wheel".to_owned() }.into(),
                "User bob does not belong to wheel",
            ),
            (Denied::BelowFile { path: path() }.into(), "/d/f (is not a directory)"),
            (
                Denied::Unreadable { user: user() }.into(),
                "Access is denied for bob since the superuser is not allowed to perform this operation.",
            ),
            (
                Denied::Protected { path: path() }.into(),
                "Cannot delete/rename non-empty protected directory /d/f",
            ),
            (
                Denied::ProtectedBelow { path: path() }.into(),
                "Cannot delete/rename non-empty protected subdirectory /d/f",
            ),
            (
                Denied::BelowProtected { path: path() }.into(),
                "Cannot delete/rename subdirectory under protected subdirectory /d/f",
            ),
            (
                Denied::XAttr { name: "trusted.x".to_owned() }.into(),
                "User doesn't have permission for xattr: trusted.x",
            ),
            (
                Denied::XAttrValue { name }.into(),
                "Attempt to set a value for 'security.hdfs.unreadable.by.superuser'. Values are not allowed for this \
                 xattr.",
            ),
            (
                Denied::XAttrRemoval { name }.into(),
                "The xattr 'security.hdfs.unreadable.by.superuser' can not be deleted.",
            ),
            (
                Denied::CachePool { user: user(), pool: "p".to_owned() }.into(),
                "Permission denied while accessing pool p: user bob does not have WRITE permissions.",
            ),
        ],
    );
}

#[test]
fn leases_of_others() {
    let file = || LeasedFile { path: path(), id: InodeId(7), holder: None, open_files: None };
    let none = "/d/f (inode 7) Holder null does not have any open files.";
    let (holder, owner) = ("c".to_owned(), "o".to_owned());
    check(
        JavaException::LeaseExpired,
        [
            (
                LeaseExpired::NotAFile { file: file() }.into(),
                &format!("INode is not a regular file: {none}"),
            ),
            (
                LeaseExpired::NotOpen { file: file() }.into(),
                &format!("File is not open for writing: {none}"),
            ),
            (
                LeaseExpired::OtherOwner { holder, owner, file: file() }.into(),
                &format!("Client (=c) is not the lease owner (=o: {none}"),
            ),
            (
                LeaseExpired::OtherOwnerOfBlock { block: block(1, 0, 3), client: "c".to_owned() }
                    .into(),
                "Lease mismatch: blk_1_3 is accessed by a non lease holder c",
            ),
            (
                LeaseExpired::Appended { path: path(), client: "c".to_owned() }.into(),
                "/d/f was opened for append by c, who has it no more",
            ),
        ],
    );
    let held = |operation, conflict| {
        Error::from(LeaseHeld::new(operation, "/d/f", ("c", "10.0.0.1"), conflict))
    };
    let (holder, holder_host) = ("o".to_owned(), "10.0.0.2".to_owned());
    let recovered =
        LeaseConflict::Recovered { holder: holder.clone(), holder_host: holder_host.clone() };
    check(
        JavaException::AlreadyBeingCreated,
        [
            (
                held(
                    LeaseOperation::Create,
                    LeaseConflict::AlreadyHolder { client: "c".to_owned() },
                ),
                "Failed to CREATE_FILE /d/f for c on 10.0.0.1 because c is already the current lease holder.",
            ),
            (
                held(LeaseOperation::RecoverLease, LeaseConflict::NoLease),
                "Failed to RECOVER_LEASE /d/f for c on 10.0.0.1 because the file is under construction but no leases \
                 found.",
            ),
            (
                held(LeaseOperation::Append, LeaseConflict::Owned { holder, holder_host }),
                "Failed to APPEND_FILE /d/f for c on 10.0.0.1 because this file lease is currently owned by o on 10.0.0.2",
            ),
            (
                held(LeaseOperation::Truncate, LeaseConflict::Truncated { path: path() }),
                "Failed to TRUNCATE_FILE /d/f for c on 10.0.0.1 because /d/f is being truncated.",
            ),
            (
                LeaseHeld::NotReplicated { path: path() }.into(),
                "DIR* NameSystem.internalReleaseLease: Failed to release lease for file /d/f. Committed blocks are waiting \
                 to be minimally replicated.",
            ),
        ],
    );
    check(
        JavaException::RecoveryInProgress,
        [
            (
                held(LeaseOperation::Create, LeaseConflict::RecoveryBegun),
                "Failed to CREATE_FILE /d/f for c on 10.0.0.1 because lease recovery is in progress. Try again later.",
            ),
            (
                held(LeaseOperation::Create, recovered),
                "Failed to CREATE_FILE /d/f for c on 10.0.0.1 because another recovery is in progress by o on 10.0.0.2",
            ),
        ],
    );
    let closed = LeaseHeld::Closed { path: path() };
    check(
        JavaException::Io,
        [(
            closed.into(),
            "DIR* NameSystem.internalReleaseLease: attempt to release a create lock on /d/f but file is already closed.",
        )],
    );
}
