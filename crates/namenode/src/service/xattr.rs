//! Extended attributes.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use zerohop_namespace::XAttr;

/// Extended attributes.
pub(crate) struct XAttrs<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl XAttrs<'_> {
    /// Sets an attribute: a new one only if `create`, one that is there only if `replace`.
    pub(crate) fn set_xattr(
        &self,
        path: &str,
        xattr: XAttr,
        create: bool,
        replace: bool,
    ) -> Answer<()> {
        self.call.change_once(Line::path("setXAttr", path), |namespace, op| {
            namespace.xattrs(op).set_xattr(path, xattr, create, replace)
        })
    }

    /// The attributes of these names; all that the caller may see for an empty list.
    pub(crate) fn get_xattrs(&self, path: &str, names: &[XAttr]) -> Answer<Vec<XAttr>> {
        self.call.view(Line::path("getXAttrs", path), |view| view.get_xattrs(path, names))
    }

    /// The names of the attributes.
    pub(crate) fn list_xattrs(&self, path: &str) -> Answer<Vec<XAttr>> {
        self.call.view(Line::path("listXAttrs", path), |view| view.list_xattrs(path))
    }

    pub(crate) fn remove_xattr(&self, path: &str, xattr: &XAttr) -> Answer<()> {
        self.call.change_once(Line::path("removeXAttr", path), |namespace, op| {
            namespace.xattrs(op).remove_xattr(path, xattr)
        })
    }
}
