//! Access control lists.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use zerohop_namespace::{AclEntry, AclStatus};

/// Access control lists.
pub(crate) struct Acls<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Acls<'_> {
    pub(crate) fn modify_acl_entries(&self, path: &str, entries: &[AclEntry]) -> Answer<()> {
        self.call.change(Line::path("modifyAclEntries", path), |namespace, op| {
            namespace.acls(op).modify_acl_entries(path, entries)
        })
    }

    pub(crate) fn remove_acl_entries(&self, path: &str, entries: &[AclEntry]) -> Answer<()> {
        self.call.change(Line::path("removeAclEntries", path), |namespace, op| {
            namespace.acls(op).remove_acl_entries(path, entries)
        })
    }

    pub(crate) fn remove_default_acl(&self, path: &str) -> Answer<()> {
        self.call.change(Line::path("removeDefaultAcl", path), |namespace, op| {
            namespace.acls(op).remove_default_acl(path)
        })
    }

    pub(crate) fn remove_acl(&self, path: &str) -> Answer<()> {
        self.call.change(Line::path("removeAcl", path), |namespace, op| {
            namespace.acls(op).remove_acl(path)
        })
    }

    pub(crate) fn set_acl(&self, path: &str, entries: &[AclEntry]) -> Answer<()> {
        self.call.change(Line::path("setAcl", path), |namespace, op| {
            namespace.acls(op).set_acl(path, entries)
        })
    }

    pub(crate) fn acl_status(&self, path: &str) -> Answer<AclStatus> {
        self.call.view(Line::path("getAclStatus", path), |view| view.acl_status(path))
    }
}
