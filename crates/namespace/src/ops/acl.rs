//! Changes of ACLs.

use crate::acl::{self, logical};
use crate::answers::AclEntry;
use crate::call::Call;
use crate::error::{AclError, AclProblem, Error, refuse};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::{NamespaceParams, Result};
use zerohop_journal::op::SetAcl;

/// Changes of ACLs.
pub struct Acls<'n> {
    pub(crate) call: Call<'n>,
}

impl Acls<'_> {
    /// Adds or changes entries.
    ///
    /// # Errors
    /// As Hadoop's `modifyAclEntries`.
    pub fn modify_acl_entries(&mut self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.change_acl(path, "Cannot modify ACL entries on ", |old| acl::merged(old, entries))
    }

    /// Removes entries.
    ///
    /// # Errors
    /// As Hadoop's `removeAclEntries`.
    pub fn remove_acl_entries(&mut self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.change_acl(path, "Cannot remove ACL entries on ", |old| acl::without(old, entries))
    }

    /// Removes the default entries.
    ///
    /// # Errors
    /// As Hadoop's `removeDefaultAcl`.
    pub fn remove_default_acl(&mut self, path: &str) -> Result<()> {
        self.change_acl(path, "Cannot remove default ACL entries on ", acl::without_defaults)
    }

    /// Removes all entries that the mode does not hold.
    ///
    /// # Errors
    /// As Hadoop's `removeAcl`.
    pub fn remove_acl(&mut self, path: &str) -> Result<()> {
        self.change_acl(path, "Cannot remove ACL on ", |_| Ok(Vec::new()))
    }

    /// Replaces all entries.
    ///
    /// # Errors
    /// As Hadoop's `setAcl`.
    pub fn set_acl(&mut self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.change_acl(path, "Cannot set ACL on ", |old| match entries {
            [] => Ok(Vec::new()),
            entries => acl::replaced(old, entries),
        })
    }

    /// Replaces the logical list of entries by the result of `change`; an empty one removes the ACL.
    fn change_acl(
        &mut self,
        path: &str,
        refusal: &str,
        change: impl FnOnce(&[AclEntry]) -> Result<Vec<AclEntry>>,
    ) -> Result<()> {
        check_acls_enabled(self.call.params)?;
        self.call.begin(|| format!("{refusal}{path}"))?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.call.access().check_owner(&located)?;
        let slot = self.call.access().last_inode(&located)?;
        let with_path = |e| match e {
            Error::Acl(mut e) => {
                e.path = Some(located.path.to_string());
                Error::Acl(e)
            }
            other => other,
        };
        let inode = self.call.state.tree().get(slot);
        let entries = change(&logical(inode.permission.mode(), inode.acl())).map_err(with_path)?;
        // This edit could carry them, but children inherit default entries, and their edits encode names differently.
        let mut names = entries.iter().filter_map(|entry| entry.name.as_deref());
        names.try_for_each(|name| check_text("The name", name))?;
        let path = located.path.clone().into_owned();
        self.call.commit(SetAcl { path, entries }).map(drop).map_err(with_path)
    }
}

/// `dfs.namenode.acls.enabled`
pub(crate) fn check_acls_enabled(params: &NamespaceParams) -> Result<()> {
    if params.acls_enabled {
        return Ok(());
    }
    refuse(AclError::from(AclProblem::Disabled))
}
