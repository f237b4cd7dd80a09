//! ACLs set and shown.

use crate::acl::{self, logical};
use crate::error::{AclError, AclProblem, Error, refuse};
use crate::limits::check_text;
use crate::resolve::DirOp;
use crate::views::AclEntry;
use crate::{AclStatus, Namespace, OpContext, Result};
use zerohop_journal::op::SetAcl;

impl Namespace {
    /// Adds or changes entries.
    ///
    /// # Errors
    /// As Hadoop's `modifyAclEntries`.
    pub fn modify_acl_entries(
        &mut self,
        ctx: &OpContext,
        path: &str,
        entries: &[AclEntry],
    ) -> Result<()> {
        self.change_acl(ctx, path, "Cannot modify ACL entries on ", |old| acl::merged(old, entries))
    }

    /// Takes entries away.
    ///
    /// # Errors
    /// As Hadoop's `removeAclEntries`.
    pub fn remove_acl_entries(
        &mut self,
        ctx: &OpContext,
        path: &str,
        entries: &[AclEntry],
    ) -> Result<()> {
        self.change_acl(ctx, path, "Cannot remove ACL entries on ", |old| {
            acl::without(old, entries)
        })
    }

    /// Takes the default entries away.
    ///
    /// # Errors
    /// As Hadoop's `removeDefaultAcl`.
    pub fn remove_default_acl(&mut self, ctx: &OpContext, path: &str) -> Result<()> {
        self.change_acl(ctx, path, "Cannot remove default ACL entries on ", acl::without_defaults)
    }

    /// Takes all entries beyond the mode away.
    ///
    /// # Errors
    /// As Hadoop's `removeAcl`.
    pub fn remove_acl(&mut self, ctx: &OpContext, path: &str) -> Result<()> {
        self.change_acl(ctx, path, "Cannot remove ACL on ", |_| Ok(Vec::new()))
    }

    /// Replaces all entries.
    ///
    /// # Errors
    /// As Hadoop's `setAcl`.
    pub fn set_acl(&mut self, ctx: &OpContext, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.change_acl(ctx, path, "Cannot set ACL on ", |old| match entries {
            [] => Ok(Vec::new()),
            entries => acl::replaced(old, entries),
        })
    }

    /// The ACL of a path.
    ///
    /// # Errors
    /// As Hadoop's `getAclStatus`.
    pub fn acl_status(&self, ctx: &OpContext, path: &str) -> Result<AclStatus> {
        self.check_acls_enabled()?;
        let located = self.resolve(ctx, path, DirOp::Read)?;
        let inode = self.state.tree().get(self.last_inode(&located)?);
        let mode = inode.permission.mode();
        Ok(AclStatus {
            owner: self.state.tree().user(inode.permission).clone(),
            group: self.state.tree().group(inode.permission).clone(),
            sticky: mode & 0o1000 != 0,
            mode,
            entries: inode.acl().map(|acl| acl.to_vec()).unwrap_or_default(),
        })
    }

    fn check_acls_enabled(&self) -> Result<()> {
        if self.params.acls_enabled {
            return Ok(());
        }
        refuse(AclError::from(AclProblem::Disabled))
    }

    /// What all of them do: from the old logical list to the new one; an empty one removes the ACL.
    fn change_acl(
        &mut self,
        ctx: &OpContext,
        path: &str,
        refusal: &str,
        change: impl FnOnce(&[AclEntry]) -> Result<Vec<AclEntry>>,
    ) -> Result<()> {
        self.check_acls_enabled()?;
        self.begin(ctx, || format!("{refusal}{path}"))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_owner(ctx, &located)?;
        let slot = self.last_inode(&located)?;
        let with_path = |e| match e {
            Error::Acl(mut e) => {
                e.path = Some(located.path.to_string());
                Error::Acl(e)
            }
            other => other,
        };
        let inode = self.state.tree().get(slot);
        let entries = change(&logical(inode.permission.mode(), inode.acl())).map_err(with_path)?;
        // Not for this edit: children take default entries over, and theirs carry the names in another form.
        let mut names = entries.iter().filter_map(|entry| entry.name.as_deref());
        names.try_for_each(|name| check_text("The name", name))?;
        let path = located.path.clone().into_owned();
        self.commit(SetAcl { path, entries }).map(drop).map_err(with_path)
    }
}
