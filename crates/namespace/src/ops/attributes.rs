//! Mode, owner, times and replication of an inode.

use super::replication::verify_replication;
use crate::Result;
use crate::access::WRITE;
use crate::call::Call;
use crate::error::{Denied, NotFound, PathError, refuse};
use crate::limits::check_text;
use crate::quota::space;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::view::status::access_time_due;
use crate::walk::is_exact_reserved;
use zerohop_journal::op::{SetOwner, SetPermissions, SetReplication, Times};
use zerohop_wire::InodeId;

/// Changes of the mode, owner, times and replication of an inode.
pub struct Attributes<'n> {
    pub(crate) call: Call<'n>,
}

impl Attributes<'_> {
    /// Sets the mode bits.
    ///
    /// # Errors
    /// As Hadoop's `setPermission`: only the owner may.
    pub fn set_permission(&mut self, path: &str, mode: u16) -> Result<()> {
        self.call.begin(|| format!("Cannot set permission for {path}"))?;
        if is_exact_reserved(path) {
            return refuse(PathError::Invalid { path: path.to_owned() });
        }
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.call.access().check_owner(&located)?;
        let slot = self.call.access().last_inode(&located)?;
        let mode = mode & 0o1777;
        if self.call.state.tree().get(slot).permission.mode() != mode {
            self.call.commit(SetPermissions { path: located.path.into_owned(), mode })?;
        }
        Ok(())
    }

    /// Sets owner, group or both.
    ///
    /// # Errors
    /// As Hadoop's `setOwner`: only the superuser may change the owner, owners only to groups of theirs.
    pub fn set_owner(
        &mut self,
        path: &str,
        owner: Option<&str>,
        group: Option<&str>,
    ) -> Result<()> {
        self.call.begin(|| format!("Cannot set owner for {path}"))?;
        if is_exact_reserved(path) {
            return refuse(PathError::Invalid { path: path.to_owned() });
        }
        let (owner, group) =
            (owner.filter(|name| !name.is_empty()), group.filter(|name| !name.is_empty()));
        owner.into_iter().chain(group).try_for_each(|name| check_text("The name", name))?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.call.access().check_owner(&located)?;
        if !self.call.ctx.superuser {
            if owner.is_some_and(|owner| owner != &**self.call.ctx.user()) {
                return refuse(Denied::ChangeOfOwner { user: self.call.ctx.user().clone() });
            }
            if let Some(group) = group.filter(|group| !self.call.ctx.in_group(group)) {
                return refuse(Denied::NotInGroup {
                    user: self.call.ctx.user().clone(),
                    group: group.to_owned(),
                });
            }
        }
        let slot = self.call.access().last_inode(&located)?;
        let op = SetOwner {
            path: located.path.into_owned(),
            user: owner.map(Into::into),
            group: group.map(Into::into),
        };
        let old = self.call.state.tree().get(slot).permission;
        let tree = self.call.state.tree();
        if owner.is_some_and(|owner| owner != &**tree.user(old))
            || group.is_some_and(|group| group != &**tree.group(old))
        {
            self.call.commit(op)?;
        }
        Ok(())
    }

    /// Sets modification and access time; -1 leaves one as it is.
    ///
    /// # Errors
    /// As Hadoop's `setTimes`.
    pub fn set_times(&mut self, path: &str, mtime: i64, atime: i64) -> Result<()> {
        self.call.begin(|| format!("Cannot set times {path}"))?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.call.access().check_access_to(&located, WRITE)?;
        if located.last().is_none() {
            return refuse(NotFound::Timed { path: located.path.into_owned() });
        }
        if mtime >= 0 || atime >= 0 {
            let path = located.path.into_owned();
            self.call.commit(Times { path, mtime_ms: mtime, atime_ms: atime })?;
        }
        Ok(())
    }

    /// Sets a file's access time to now, as a read does; nothing if it is recent enough.
    ///
    /// # Errors
    /// `Error::SafeMode`.
    pub fn touch(&mut self, file: InodeId) -> Result<()> {
        self.call.begin(|| "Cannot set times".to_owned())?;
        let Some(slot) = self.call.state.tree().find(file) else { return Ok(()) };
        if access_time_due(
            self.call.params,
            self.call.state.tree(),
            slot,
            self.call.ctx.now.wall_ms,
        ) {
            let atime_ms = self.call.ctx.now.wall_ms as i64;
            self.call.commit(Times {
                path: self.call.state.paths().edit_path(slot),
                mtime_ms: -1,
                atime_ms,
            })?;
        }
        Ok(())
    }

    /// Sets the replication of a file; false if the path is a directory or does not exist.
    ///
    /// # Errors
    /// As Hadoop's `setReplication`.
    pub fn set_replication(&mut self, path: &str, replication: u16) -> Result<bool> {
        self.call.begin(|| format!("Cannot set replication for {path}"))?;
        verify_replication(self.call.params, path, replication, None)?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.call.access().check_access_to(&located, WRITE)?;
        let Some(slot) =
            located.last().filter(|slot| self.call.state.tree().get(*slot).as_file().is_some())
        else {
            return Ok(false);
        };
        self.check_replication_quota(slot, replication)?;
        let path = located.path.into_owned();
        let committed =
            self.call.commit(SetReplication { path, replication: replication as i16 })?;
        Ok(committed.inode.is_some())
    }

    fn check_replication_quota(&self, slot: Slot, replication: u16) -> Result<()> {
        let inode = self.call.state.tree().get(slot);
        let Some(file) = inode.as_file() else { return Ok(()) };
        let (policy, bytes) =
            (self.call.state.effective_policy(slot), self.call.state.ledger().charged_bytes(file));
        let delta =
            space(policy, replication, bytes).less(&space(policy, file.replication(), bytes));
        self.call.state.ledger().verify_quota(inode.parent, &delta, None)
    }
}
