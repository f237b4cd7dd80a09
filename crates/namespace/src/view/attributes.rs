//! Reads of ACLs, extended attributes and storage policies.

use super::View;
use crate::access::READ;
use crate::answers::XAttr;
use crate::blocks::policy;
use crate::error::{NotFound, XAttrError, refuse};
use crate::ops::acl::check_acls_enabled;
use crate::ops::xattr::{check_may_use, check_xattrs_enabled, may_use, same_name};
use crate::resolve::DirOp;
use crate::walk::is_reserved_raw;
use crate::{AclStatus, Result};

impl View<'_> {
    /// The ACL of a path.
    ///
    /// # Errors
    /// As Hadoop's `getAclStatus`.
    pub fn acl_status(self, path: &str) -> Result<AclStatus> {
        check_acls_enabled(self.params)?;
        let located = self.access().resolve(path, DirOp::Read)?;
        let inode = self.state.tree().get(self.access().last_inode(&located)?);
        let mode = inode.permission.mode();
        Ok(AclStatus {
            owner: self.state.tree().user(inode.permission).clone(),
            group: self.state.tree().group(inode.permission).clone(),
            sticky: mode & 0o1000 != 0,
            mode,
            entries: inode.acl().map(|acl| acl.to_vec()).unwrap_or_default(),
        })
    }

    /// Attributes by name; all visible ones if `names` is empty.
    ///
    /// # Errors
    /// As Hadoop's `getXAttrs`; `Error::XAttr` if one is missing.
    pub fn get_xattrs(self, path: &str, names: &[XAttr]) -> Result<Vec<XAttr>> {
        check_xattrs_enabled(self.params)?;
        let raw = is_reserved_raw(path);
        names.iter().try_for_each(|name| check_may_use(self.ctx, name, raw))?;
        let all = self.list_xattrs(path)?;
        if names.is_empty() {
            return Ok(all);
        }
        let find = |name: &XAttr| {
            all.iter()
                .find(|xattr| same_name(xattr, name))
                .cloned()
                .ok_or_else(|| XAttrError::NotFound.into())
        };
        names.iter().map(find).collect()
    }

    /// All attributes the caller may see.
    ///
    /// # Errors
    /// As Hadoop's `listXAttrs`.
    pub fn list_xattrs(self, path: &str) -> Result<Vec<XAttr>> {
        check_xattrs_enabled(self.params)?;
        let raw = is_reserved_raw(path);
        let located = self.access().resolve(path, DirOp::Read)?;
        self.access().check_access_to(&located, READ)?;
        let slot = self.access().last_inode(&located)?;
        Ok(self
            .state
            .tree()
            .get(slot)
            .xattrs()
            .iter()
            .filter(|xattr| may_use(self.ctx, xattr, raw))
            .cloned()
            .collect())
    }

    /// The storage policy in force at a path; the default policy if neither the path nor a parent has one.
    ///
    /// # Errors
    /// As Hadoop's `getStoragePolicy`.
    pub fn storage_policy(self, path: &str) -> Result<u8> {
        let located = self.access().resolve(path, DirOp::ReadLink)?;
        self.access().check_access_to(&located, READ)?;
        let Some(slot) = located.last() else {
            return refuse(NotFound::FileOrDirectory { path: located.path.into_owned() });
        };
        Ok(match self.state.effective_policy(slot) {
            policy::UNSPECIFIED => policy::DEFAULT.id,
            set => set,
        })
    }
}
