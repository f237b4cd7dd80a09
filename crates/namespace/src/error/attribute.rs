//! ACLs, extended attributes and storage policies that cannot be set so.

use std::fmt;
use thiserror::Error;
use zerohop_journal::types::{AclEntry, AclScope};

/// An ACL is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AclError {
    pub reason: AclProblem,
    /// Where the ACL was to be set, once that is known.
    pub path: Option<String>,
}

impl From<AclProblem> for AclError {
    fn from(reason: AclProblem) -> Self {
        Self { reason, path: None }
    }
}

impl fmt::Display for AclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        self.path.as_ref().map_or(Ok(()), |path| write!(f, " Path: {path}"))
    }
}

impl std::error::Error for AclError {}

/// What is wrong with an ACL.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum AclProblem {
    #[error(
        "The ACL operation has been rejected. Support for ACLs has been disabled by setting dfs.namenode.acls.enabled to \
         false."
    )]
    Disabled,
    #[error("Invalid ACL: the user, group and other entries are required.")]
    EntryMissing,
    #[error("Invalid default ACL: the user, group and other entries are required.")]
    DefaultEntryMissing,
    #[error("Invalid ACL: only directories may have a default ACL. Path: {path}")]
    DefaultOfFile { path: String },
    #[error("Invalid ACL: ACL has {count} {} entries, which exceeds maximum of {maximum}.", scope_name(*scope))]
    TooManyEntries { scope: AclScope, count: usize, maximum: usize },
    #[error("Invalid ACL: mask is required and cannot be deleted.")]
    MaskRequired,
    #[error("Invalid ACL: multiple entries with same scope, type and name.")]
    Duplicate,
    #[error("Invalid ACL: this entry type must not have a name: {entry}.")]
    NameNotAllowed { entry: AclEntry },
}

fn scope_name(scope: AclScope) -> &'static str {
    match scope {
        AclScope::Access => "access",
        AclScope::Default => "default",
    }
}

/// An extended attribute is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum XAttrError {
    #[error(
        "The XAttr operation has been rejected. Support for XAttrs has been disabled by setting \
         dfs.namenode.xattrs.enabled to false."
    )]
    Disabled,
    #[error("Can only set '{name}' on a file.")]
    OnlyOnFiles { name: &'static str },
    #[error("At least one of the attributes provided was not found.")]
    NotFound,
    #[error("No matching attributes found for remove operation")]
    NothingToRemove,
    #[error("A flag must be specified.")]
    NoFlag,
    #[error("XAttr: {name} already exists. The REPLACE flag must be specified.")]
    AlreadyExists { name: String },
    #[error("XAttr: {name} does not exist. The CREATE flag must be specified.")]
    DoesNotExist { name: String },
}

/// A storage policy is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum PolicyError {
    #[error("Failed to {operation} since dfs.storage.policy.enabled is set to false.")]
    Disabled { operation: &'static str },
    #[error("Cannot find a block policy with the name {name}")]
    Unknown { name: String },
    #[error("Policy {name} cannot be set after file creation.")]
    OnlyAtCreation { name: &'static str },
    #[error("Existing policy {name} cannot be changed after file creation.")]
    Fixed { name: &'static str },
}
