//! Leases of files being written.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use zerohop_namespace::OpenFile;
use zerohop_wire::InodeId;

/// Leases of writers.
pub(crate) struct Leases<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Leases<'_> {
    pub(crate) fn renew_lease(&self, client_name: &str) -> Answer<()> {
        self.call
            .change(Line::default(), |names, op| names.lease_manager(op).renew_lease(client_name))
    }

    /// Begins the recovery of a file's lease; true if the file is closed already.
    pub(crate) fn recover_lease(&self, path: &str, client_name: &str) -> Answer<bool> {
        self.call.change(Line::path("recoverLease", path), |namespace, op| {
            namespace.lease_manager(op).recover_lease(path, client_name)
        })
    }

    /// A page of the open files below a path, after an inode id, and whether there are more. For the superuser.
    pub(crate) fn open_files(&self, after: InodeId, path: &str) -> Answer<(Vec<OpenFile>, bool)> {
        let below = if path.is_empty() { "/" } else { path };
        self.call.read(Line::path("listOpenFiles", path), |namespace, op| {
            self.call.core.check_superuser(op)?;
            namespace.view(op).list_open_files(after, below)
        })
    }
}
