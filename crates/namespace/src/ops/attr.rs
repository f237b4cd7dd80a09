//! Mode, owner, times and replication of an inode.

use crate::access::WRITE;
use crate::fail::{denied, invalid_path, not_found};
use crate::limits::check_text;
use crate::quota::space;
use crate::resolve::{DirOp, is_exact_reserved};
use crate::tree::{Permission, Slot};
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
            return invalid_path(path);
        }
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_owner(ctx, &located)?;
        let slot = self.last_inode(&located)?;
        let mode = mode & 0o1777;
        if self.state.tree.get(slot).permission.mode() != mode {
            self.change_mode(slot, mode);
            self.log(SetPermissions { path: located.path.into_owned(), mode });
        }
        Ok(())
    }

    /// The change of `OP_SET_PERMISSIONS`.
    pub(crate) fn change_mode(&mut self, slot: Slot, mode: u16) {
        let inode = self.state.tree.get_mut(slot);
        inode.permission = inode.permission.with_mode(mode);
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
            return invalid_path(path);
        }
        let (owner, group) =
            (owner.filter(|name| !name.is_empty()), group.filter(|name| !name.is_empty()));
        owner.into_iter().chain(group).try_for_each(|name| check_text("The name", name))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_owner(ctx, &located)?;
        if !ctx.superuser {
            if owner.is_some_and(|owner| owner != &*ctx.user) {
                return denied(format!(
                    "User {} is not a super user (non-super user cannot change owner).",
                    ctx.user
                ));
            }
            if let Some(group) = group.filter(|group| !ctx.in_group(group)) {
                return denied(format!("User {} does not belong to {group}", ctx.user));
            }
        }
        let slot = self.last_inode(&located)?;
        let op = SetOwner {
            path: located.path.into_owned(),
            user: owner.map(Into::into),
            group: group.map(Into::into),
        };
        if self.change_owner(slot, &op) {
            self.log(op);
        }
        Ok(())
    }

    /// The change of `OP_SET_OWNER`; false if nothing changed.
    pub(crate) fn change_owner(&mut self, slot: Slot, op: &SetOwner) -> bool {
        let old = self.state.tree.get(slot).permission;
        let tree = &mut self.state.tree;
        let user = op.user.as_deref().map_or(old.user(), |name| tree.intern(name));
        let group = op.group.as_deref().map_or(old.group(), |name| tree.intern(name));
        let new = Permission::new(user, group, old.mode());
        self.state.tree.get_mut(slot).permission = new;
        new != old
    }

    /// Sets modification and access time; -1 leaves one as it is.
    ///
    /// # Errors
    /// As Hadoop's `setTimes`.
    pub fn set_times(&mut self, ctx: &OpContext, path: &str, mtime: i64, atime: i64) -> Result<()> {
        self.begin(ctx, || format!("Cannot set times {path}"))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_access_to(ctx, &located, WRITE)?;
        let Some(slot) = located.last() else {
            return not_found(format!("File/Directory {} does not exist.", located.path));
        };
        if self.change_times(slot, mtime, atime) {
            self.log(Times { path: located.path.into_owned(), mtime_ms: mtime, atime_ms: atime });
        }
        Ok(())
    }

    /// Sets a file's access time to now, as a read does; nothing if it is recent enough.
    ///
    /// # Errors
    /// `SafeModeException`.
    pub fn touch(&mut self, ctx: &OpContext, file: InodeId) -> Result<()> {
        self.begin(ctx, || "Cannot set times".to_owned())?;
        let Some(slot) = self.state.tree.find(file) else { return Ok(()) };
        if self.access_time_due(slot, ctx.now.wall_ms) {
            let atime_ms = ctx.now.wall_ms as i64;
            self.change_times(slot, -1, atime_ms);
            self.log(Times { path: self.edit_path(slot), mtime_ms: -1, atime_ms });
        }
        Ok(())
    }

    /// Whether a read now has to move a file's access time.
    pub(crate) fn access_time_due(&self, slot: Slot, now_ms: u64) -> bool {
        let precision = self.params.access_time_precision_ms;
        precision > 0 && now_ms > self.state.tree.get(slot).atime().saturating_add(precision)
    }

    /// The change of `OP_TIMES`.
    pub(crate) fn change_times(&mut self, slot: Slot, mtime: i64, atime: i64) -> bool {
        let inode = self.state.tree.get_mut(slot);
        if let Ok(mtime) = u64::try_from(mtime) {
            inode.set_mtime(mtime);
        }
        if let Ok(atime) = u64::try_from(atime) {
            inode.set_atime(atime);
        }
        mtime >= 0 || atime >= 0
    }

    /// Sets how many replicas a file's blocks shall have; false for folders and where nothing is.
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
            located.last().filter(|slot| self.state.tree.get(*slot).as_file().is_some())
        else {
            return Ok(false);
        };
        self.change_replication(slot, replication, true)?;
        self.log(SetReplication {
            path: located.path.into_owned(),
            replication: replication as i16,
        });
        Ok(true)
    }

    /// The change of `OP_SET_REPLICATION`.
    pub(crate) fn change_replication(
        &mut self,
        slot: Slot,
        replication: u16,
        checked: bool,
    ) -> Result<()> {
        let inode = self.state.tree.get(slot);
        let Some(file) = inode.as_file() else { return Ok(()) };
        let (parent, policy) = (inode.parent, self.effective_policy(slot));
        let bytes = self.charged_bytes(file);
        let delta =
            space(policy, replication, bytes).less(&space(policy, file.replication(), bytes));
        if checked {
            self.verify_quota(parent, &delta, None)?;
        }
        self.recharge(slot, |namespace| {
            if let Some(file) = namespace.state.tree.get_mut(slot).as_file_mut() {
                file.set_replication(replication);
                for block in file.blocks.as_slice() {
                    namespace.state.blocks.set_replication(*block, replication);
                }
            }
        });
        Ok(())
    }
}
