//! Mode, owner, times and replication of an inode.

use crate::access::WRITE;
use crate::error::{Denied, NotFound, PathError, refuse};
use crate::limits::check_text;
use crate::quota::space;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::walk::is_exact_reserved;
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::{SetOwner, SetPermissions, SetReplication, Times};
use zerohop_wire::InodeId;

impl Namespace {
    /// Sets the mode bits.
    ///
    /// # Errors
    /// As Hadoop's `setPermission`: only the owner may.
    pub fn set_permission(&mut self, ctx: &OpContext, path: &str, mode: u16) -> Result<()> {
        self.begin(ctx, || format!("Cannot set permission for {path}"))?;
        if is_exact_reserved(path) {
            return refuse(PathError::Invalid { path: path.to_owned() });
        }
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_owner(ctx, &located)?;
        let slot = self.last_inode(&located)?;
        let mode = mode & 0o1777;
        if self.state.tree().get(slot).permission.mode() != mode {
            self.commit(SetPermissions { path: located.path.into_owned(), mode })?;
        }
        Ok(())
    }

    /// Sets owner, group or both.
    ///
    /// # Errors
    /// As Hadoop's `setOwner`: only the superuser may change the owner, owners only to groups of theirs.
    pub fn set_owner(
        &mut self,
        ctx: &OpContext,
        path: &str,
        owner: Option<&str>,
        group: Option<&str>,
    ) -> Result<()> {
        self.begin(ctx, || format!("Cannot set owner for {path}"))?;
        if is_exact_reserved(path) {
            return refuse(PathError::Invalid { path: path.to_owned() });
        }
        let (owner, group) =
            (owner.filter(|name| !name.is_empty()), group.filter(|name| !name.is_empty()));
        owner.into_iter().chain(group).try_for_each(|name| check_text("The name", name))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_owner(ctx, &located)?;
        if !ctx.superuser {
            if owner.is_some_and(|owner| owner != &**ctx.user()) {
                return refuse(Denied::ChangeOfOwner { user: ctx.user().clone() });
            }
            if let Some(group) = group.filter(|group| !ctx.in_group(group)) {
                return refuse(Denied::NotInGroup {
                    user: ctx.user().clone(),
                    group: group.to_owned(),
                });
            }
        }
        let slot = self.last_inode(&located)?;
        let op = SetOwner {
            path: located.path.into_owned(),
            user: owner.map(Into::into),
            group: group.map(Into::into),
        };
        let old = self.state.tree().get(slot).permission;
        let tree = self.state.tree();
        if owner.is_some_and(|owner| owner != &**tree.user(old))
            || group.is_some_and(|group| group != &**tree.group(old))
        {
            self.commit(op)?;
        }
        Ok(())
    }

    /// Sets modification and access time; -1 leaves one as it is.
    ///
    /// # Errors
    /// As Hadoop's `setTimes`.
    pub fn set_times(&mut self, ctx: &OpContext, path: &str, mtime: i64, atime: i64) -> Result<()> {
        self.begin(ctx, || format!("Cannot set times {path}"))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_access_to(ctx, &located, WRITE)?;
        if located.last().is_none() {
            return refuse(NotFound::Timed { path: located.path.into_owned() });
        }
        if mtime >= 0 || atime >= 0 {
            let path = located.path.into_owned();
            self.commit(Times { path, mtime_ms: mtime, atime_ms: atime })?;
        }
        Ok(())
    }

    /// Sets a file's access time to now, as a read does; nothing if it is recent enough.
    ///
    /// # Errors
    /// `Error::SafeMode`.
    pub fn touch(&mut self, ctx: &OpContext, file: InodeId) -> Result<()> {
        self.begin(ctx, || "Cannot set times".to_owned())?;
        let Some(slot) = self.state.tree().find(file) else { return Ok(()) };
        if self.access_time_due(slot, ctx.now.wall_ms) {
            let atime_ms = ctx.now.wall_ms as i64;
            self.commit(Times {
                path: self.state.paths().edit_path(slot),
                mtime_ms: -1,
                atime_ms,
            })?;
        }
        Ok(())
    }

    /// Whether a read now has to move a file's access time.
    pub(crate) fn access_time_due(&self, slot: Slot, now_ms: u64) -> bool {
        let precision = self.params.access_time_precision_ms;
        precision > 0 && now_ms > self.state.tree().get(slot).atime().saturating_add(precision)
    }

    /// Sets how many replicas a file's blocks shall have; false for directories and where nothing is.
    ///
    /// # Errors
    /// As Hadoop's `setReplication`.
    pub fn set_replication(
        &mut self,
        ctx: &OpContext,
        path: &str,
        replication: u16,
    ) -> Result<bool> {
        self.begin(ctx, || format!("Cannot set replication for {path}"))?;
        self.verify_replication(path, replication, None)?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_access_to(ctx, &located, WRITE)?;
        let Some(slot) =
            located.last().filter(|slot| self.state.tree().get(*slot).as_file().is_some())
        else {
            return Ok(false);
        };
        self.check_replication_quota(slot, replication)?;
        let path = located.path.into_owned();
        let committed = self.commit(SetReplication { path, replication: replication as i16 })?;
        Ok(committed.inode.is_some())
    }

    fn check_replication_quota(&self, slot: Slot, replication: u16) -> Result<()> {
        let inode = self.state.tree().get(slot);
        let Some(file) = inode.as_file() else { return Ok(()) };
        let (policy, bytes) =
            (self.state.effective_policy(slot), self.state.ledger().charged_bytes(file));
        let delta =
            space(policy, replication, bytes).less(&space(policy, file.replication(), bytes));
        self.state.ledger().verify_quota(inode.parent, &delta, None)
    }
}
