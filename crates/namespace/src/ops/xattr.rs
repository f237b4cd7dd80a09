//! Changes of extended attributes.

use crate::access::WRITE;
use crate::answers::{XAttr, XAttrNamespace};
use crate::call::Call;
use crate::commit::with_set;
use crate::error::{Denied, LimitError, Unsupported, XAttrError, refuse};
use crate::resolve::DirOp;
use crate::unsupported::feature_of;
use crate::walk::{Located, is_reserved_raw};
use crate::{NamespaceParams, OpContext, Result};
use zerohop_journal::op::{RemoveXAttr, SetXAttr};

const UNREADABLE: &str = "security.hdfs.unreadable.by.superuser";

pub(crate) fn same_name(a: &XAttr, b: &XAttr) -> bool {
    a.namespace == b.namespace && a.name == b.name
}

fn is_unreadable(xattr: &XAttr) -> bool {
    xattr.namespace == XAttrNamespace::Security && xattr.full_name() == UNREADABLE
}

/// Whether clients may see and name an attribute (`XAttrPermissionFilter`).
pub(crate) fn may_use(ctx: &OpContext, xattr: &XAttr, raw: bool) -> bool {
    match xattr.namespace {
        XAttrNamespace::User => true,
        XAttrNamespace::Trusted => ctx.superuser,
        XAttrNamespace::Raw => raw,
        _ => is_unreadable(xattr),
    }
}

pub(crate) fn check_may_use(ctx: &OpContext, xattr: &XAttr, raw: bool) -> Result<()> {
    if !may_use(ctx, xattr, raw) {
        return refuse(Denied::XAttr { name: xattr.full_name() });
    }
    if is_unreadable(xattr) && xattr.value.is_some() {
        return refuse(Denied::XAttrValue { name: UNREADABLE });
    }
    Ok(())
}

/// Changes of extended attributes.
pub struct XAttrs<'n> {
    pub(crate) call: Call<'n>,
}

impl XAttrs<'_> {
    /// Sets an attribute; `create` and `replace` are the flags of `XAttrSetFlag`.
    ///
    /// # Errors
    /// As Hadoop's `setXAttr`.
    pub fn set_xattr(
        &mut self,
        path: &str,
        xattr: XAttr,
        create: bool,
        replace: bool,
    ) -> Result<()> {
        check_xattrs_enabled(self.call.params)?;
        self.check_xattr_size(&xattr)?;
        check_may_use(self.call.ctx, &xattr, is_reserved_raw(path))?;
        // Copies of encrypted files below /.reserved/raw are refused: they would be read as plain data.
        if let Some(feature) = feature_of(&xattr) {
            return refuse(Unsupported::XAttr { name: xattr.full_name(), feature });
        }
        self.call.begin(|| format!("Cannot set XAttr on {path}"))?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.check_xattr_change(&located, &xattr)?;
        let slot = self.call.access().last_inode(&located)?;
        let existing = self.call.state.tree().get(slot).xattrs();
        check_flags(existing.iter().any(|old| same_name(old, &xattr)), &xattr, create, replace)?;
        let new = with_set(existing, std::slice::from_ref(&xattr));
        let visible = new.iter().filter(|xattr| xattr.namespace <= XAttrNamespace::Trusted).count();
        if visible > self.call.params.xattrs_per_inode_max {
            return refuse(LimitError::XAttrs { limit: self.call.params.xattrs_per_inode_max });
        }
        if is_unreadable(&xattr) && self.call.state.tree().get(slot).as_file().is_none() {
            return refuse(XAttrError::OnlyOnFiles { name: UNREADABLE });
        }
        let path = located.path.into_owned();
        self.call.commit_call(SetXAttr { path, xattrs: vec![xattr] }).map(drop)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// As Hadoop's `removeXAttr`.
    pub fn remove_xattr(&mut self, path: &str, xattr: &XAttr) -> Result<()> {
        check_xattrs_enabled(self.call.params)?;
        check_may_use(self.call.ctx, xattr, is_reserved_raw(path))?;
        self.call.begin(|| format!("Cannot remove XAttr entry on {path}"))?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.check_xattr_change(&located, xattr)?;
        let slot = self.call.access().last_inode(&located)?;
        if is_unreadable(xattr) {
            return refuse(Denied::XAttrRemoval { name: UNREADABLE });
        }
        if !self.call.state.tree().get(slot).xattrs().iter().any(|old| same_name(old, xattr)) {
            return refuse(XAttrError::NothingToRemove);
        }
        let path = located.path.into_owned();
        self.call.commit_call(RemoveXAttr { path, xattrs: vec![xattr.clone()] }).map(drop)
    }

    fn check_xattr_size(&self, xattr: &XAttr) -> Result<()> {
        let size = xattr.name.len() + xattr.value.as_ref().map_or(0, |value| value.len());
        let limit = self.call.params.xattr_size_max;
        if size > limit {
            return refuse(LimitError::XAttrSize { limit, size });
        }
        Ok(())
    }

    /// On a sticky directory only its owner may change user attributes.
    fn check_xattr_change(&self, located: &Located<'_>, xattr: &XAttr) -> Result<()> {
        if xattr.namespace != XAttrNamespace::User || !self.call.params.permissions_enabled {
            return Ok(());
        }
        let sticky = located.last().map(|slot| self.call.state.tree().get(slot));
        if sticky.is_some_and(|inode| inode.is_directory() && inode.permission.mode() & 0o1000 != 0)
        {
            return self.call.access().check_owner(located);
        }
        self.call.access().check_access_to(located, WRITE)
    }
}

/// `XAttrSetFlag.validate`
fn check_flags(exists: bool, xattr: &XAttr, create: bool, replace: bool) -> Result<()> {
    let name = &xattr.name;
    if !create && !replace {
        return refuse(XAttrError::NoFlag);
    }
    if exists && !replace {
        return refuse(XAttrError::AlreadyExists { name: name.to_string() });
    }
    if !exists && !create {
        return refuse(XAttrError::DoesNotExist { name: name.to_string() });
    }
    Ok(())
}

/// `dfs.namenode.xattrs.enabled`
pub(crate) fn check_xattrs_enabled(params: &NamespaceParams) -> Result<()> {
    if params.xattrs_enabled {
        return Ok(());
    }
    refuse(XAttrError::Disabled)
}
