//! Replication, permission, owner, times, access checks.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;

/// Replication, permission, owner, times, access checks.
pub(crate) struct Attributes<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Attributes<'_> {
    /// Sets a file's replication; false for a directory.
    pub(crate) fn set_replication(&self, path: &str, replication: u16) -> Answer<bool> {
        self.call.change(Line::path("setReplication", path), |namespace, op| {
            namespace.attributes(op).set_replication(path, replication)
        })
    }

    pub(crate) fn set_permission(&self, path: &str, mode: u16) -> Answer<()> {
        self.call.change(Line::path("setPermission", path), |namespace, op| {
            namespace.attributes(op).set_permission(path, mode)
        })
    }

    /// Sets owner and group; None keeps one of them.
    pub(crate) fn set_owner(
        &self,
        path: &str,
        owner: Option<&str>,
        group: Option<&str>,
    ) -> Answer<()> {
        self.call.change(Line::path("setOwner", path), |namespace, op| {
            namespace.attributes(op).set_owner(path, owner, group)
        })
    }

    /// Sets both times, ms since 1970; -1 keeps one of them.
    pub(crate) fn set_times(&self, path: &str, mtime_ms: i64, atime_ms: i64) -> Answer<()> {
        self.call.change(Line::path("setTimes", path), |namespace, op| {
            namespace.attributes(op).set_times(path, mtime_ms, atime_ms)
        })
    }

    /// Succeeds if the caller may do `action` (bits of 4 read, 2 write, 1 execute) to the path.
    pub(crate) fn check_access(&self, path: &str, action: u8) -> Answer<()> {
        self.call.view(Line::path("checkAccess", path), |view| view.check_access(path, action))
    }
}
