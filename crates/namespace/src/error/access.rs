//! Why a caller may not do what it asks for.

use crate::mode::symbolic;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The caller lacks a permission.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Denied {
    #[error(
        "Access denied for user {user}. Superuser privilege is required for operation {operation}"
    )]
    Operation { user: Arc<str>, operation: &'static str },
    #[error("Access denied for user {user}. Superuser privilege is required")]
    NotSuperuser { user: Arc<str> },
    #[error(
        "Access denied for user {user}. Superuser or owner of parent directory privilege is required"
    )]
    NotOwnerAbove { user: Arc<str> },
    #[error("Permission denied: user={user}, access={access}, inode=\"{path}\":{inode}")]
    Permission { user: Arc<str>, access: &'static str, path: String, inode: InodeAccess },
    #[error(
        "Permission denied by sticky bit: user={user}, path=\"{path}\":{inode}, parent=\"{parent}\":{parent_inode}"
    )]
    StickyBit {
        user: Arc<str>,
        path: String,
        inode: InodeAccess,
        parent: String,
        parent_inode: InodeAccess,
    },
    #[error("Permission denied. user={user} is not the owner of inode={path}")]
    NotOwner { user: Arc<str>, path: String },
    #[error("User {user} is not a super user (non-super user cannot change owner).")]
    ChangeOfOwner { user: Arc<str> },
    #[error("User {user} does not belong to {group}")]
    NotInGroup { user: Arc<str>, group: String },
    /// A file is on the way to a path. Only operations that create something are told so by
    /// [`NotADirectory`](super::NotADirectory).
    #[error("{path} (is not a directory)")]
    BelowFile { path: String },
    /// The file has the attribute `security.hdfs.unreadable.by.superuser`.
    #[error(
        "Access is denied for {user} since the superuser is not allowed to perform this operation."
    )]
    Unreadable { user: Arc<str> },
    #[error("Cannot delete/rename non-empty protected directory {path}")]
    Protected { path: String },
    #[error("Cannot delete/rename non-empty protected subdirectory {path}")]
    ProtectedBelow { path: String },
    #[error("Cannot delete/rename subdirectory under protected subdirectory {path}")]
    BelowProtected { path: String },
    /// The name with its prefix.
    #[error("User doesn't have permission for xattr: {name}")]
    XAttr { name: String },
    #[error("Attempt to set a value for '{name}'. Values are not allowed for this xattr.")]
    XAttrValue { name: &'static str },
    #[error("The xattr '{name}' can not be deleted.")]
    XAttrRemoval { name: &'static str },
    #[error(
        "Permission denied while accessing pool {pool}: user {user} does not have WRITE permissions."
    )]
    CachePool { user: Arc<str>, pool: String },
}

/// Owner, group and mode of an inode as refusals show them: `owner:group:drwxr-xr-x`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct InodeAccess {
    pub owner: Arc<str>,
    pub group: Arc<str>,
    pub is_directory: bool,
    pub mode: u16,
}

impl fmt::Display for InodeAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_directory { 'd' } else { '-' };
        write!(f, "{}:{}:{kind}{}", self.owner, self.group, symbolic(self.mode))
    }
}
