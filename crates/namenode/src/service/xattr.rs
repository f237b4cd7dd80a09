//! Extended attributes.

use super::{Answer, ClientService};
use crate::audit::Line;
use zerohop_namespace::XAttr;

impl ClientService<'_> {
    /// Sets an attribute: a new one only if `create`, one that is there only if `replace`.
    pub(crate) fn set_xattr(
        &self,
        path: &str,
        xattr: XAttr,
        create: bool,
        replace: bool,
    ) -> Answer<()> {
        self.change_once(Line::path("setXAttr", path), |namespace, op| {
            namespace.set_xattr(op, path, xattr, create, replace)
        })
    }

    /// The attributes of these names; all that the caller may see for an empty list.
    pub(crate) fn xattrs(&self, path: &str, names: &[XAttr]) -> Answer<Vec<XAttr>> {
        self.read(Line::path("getXAttrs", path), |namespace, op| {
            namespace.get_xattrs(op, path, names)
        })
    }

    /// The names of the attributes.
    pub(crate) fn list_xattrs(&self, path: &str) -> Answer<Vec<XAttr>> {
        self.read(Line::path("listXAttrs", path), |namespace, op| namespace.list_xattrs(op, path))
    }

    pub(crate) fn remove_xattr(&self, path: &str, xattr: &XAttr) -> Answer<()> {
        self.change_once(Line::path("removeXAttr", path), |namespace, op| {
            namespace.remove_xattr(op, path, xattr)
        })
    }
}
