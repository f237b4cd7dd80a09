//! Who may do what (`FSPermissionChecker`): owner, group, others, ACL, sticky bit, on every component of a path.

use crate::answers::{AclKind, AclScope};
use crate::error::{Denied, InodeAccess, NotADirectory, NotFound, PathError, refuse};
use crate::tree::{Inode, Slot, Tree};
use crate::walk::Located;
use crate::{NamespaceParams, OpContext, Result};

/// Read 4, write 2, execute 1 (`FsAction`).
pub(crate) type Action = u8;
pub(crate) const READ: Action = 4;
pub(crate) const WRITE: Action = 2;
pub(crate) const EXECUTE: Action = 1;
pub(crate) const READ_EXECUTE: Action = READ | EXECUTE;
pub(crate) const ALL: Action = 7;

/// What to check at a path besides traversal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Check {
    /// On the deepest directory above that exists.
    pub ancestor: Option<Action>,
    pub parent: Option<Action>,
    pub access: Option<Action>,
}

fn action_name(action: Action) -> &'static str {
    ["NONE", "EXECUTE", "WRITE", "WRITE_EXECUTE", "READ", "READ_EXECUTE", "READ_WRITE", "ALL"]
        [usize::from(action & 7)]
}

/// Checks the permissions of an operation's caller.
#[derive(Clone, Copy)]
pub(crate) struct PermissionChecker<'n> {
    pub(crate) params: &'n NamespaceParams,
    pub(crate) tree: &'n Tree,
    pub(crate) ctx: &'n OpContext,
}

impl PermissionChecker<'_> {
    pub(crate) fn skips_checks(self) -> bool {
        self.ctx.superuser || !self.params.permissions_enabled
    }

    /// Refuses all but the superuser.
    pub(crate) fn check_superuser(self, operation: &'static str) -> Result<()> {
        if self.ctx.superuser || !self.params.permissions_enabled {
            return Ok(());
        }
        refuse(Denied::Operation { user: self.ctx.user().clone(), operation })
    }

    /// Checks whether the caller can traverse a path.
    pub(crate) fn check_traverse(self, located: &Located<'_>, follow: bool) -> Result<()> {
        let above = located.nodes.len().min(located.depth - 1);
        for (at, slot) in located.nodes.iter().take(above).enumerate() {
            let inode = self.tree.get(*slot);
            if !inode.is_directory() {
                return refuse(NotADirectory::Ancestor { path: located.prefix(at + 1).to_owned() });
            }
            if !self.skips_checks() {
                self.check_action(located, at, EXECUTE)?;
            }
        }
        match located.last().map(|slot| &self.tree.get(slot).body) {
            Some(crate::tree::Body::Symlink(link)) if follow => {
                let target = String::from_utf8_lossy(&link.target).into_owned();
                refuse(PathError::Symlink { target })
            }
            _ => Ok(()),
        }
    }

    /// All checks of `FSDirectory.checkPermission`; nothing for the superuser or with permissions off.
    pub(crate) fn check(self, located: &Located<'_>, check: Check) -> Result<()> {
        if self.skips_checks() {
            return Ok(());
        }
        let last = located.depth - 1;
        let above = located.nodes.len().min(last);
        if check.parent.is_some_and(|action| action & WRITE != 0)
            && located.last().is_some()
            && last > 0
        {
            self.check_sticky(located)?;
        }
        if let Some(action) = check.ancestor
            && above > 0
        {
            self.check_action(located, above - 1, action)?;
        }
        if let Some(action) = check.parent
            && last > 0
        {
            self.check_action(located, last - 1, action)?;
        }
        match check.access {
            Some(action) => self.check_action(located, last, action),
            None => Ok(()),
        }
    }

    /// Access to the inode itself.
    pub(crate) fn check_access_to(self, located: &Located<'_>, action: Action) -> Result<()> {
        self.check(located, Check { access: Some(action), ..Check::default() })
    }

    /// `FSDirectory.checkOwner`: also refuses a path that does not exist. Checks with permissions off too:
    /// otherwise any user could become the owner of a file before permissions are turned on again.
    pub(crate) fn check_owner(self, located: &Located<'_>) -> Result<()> {
        if located.last().is_none() {
            return refuse(NotFound::Owned { path: located.path.to_string() });
        }
        if self.ctx.superuser {
            return Ok(());
        }
        (0..located.depth - 1).try_for_each(|at| self.check_action(located, at, EXECUTE))?;
        self.check_owned(located)
    }

    fn check_owned(self, located: &Located<'_>) -> Result<()> {
        match located.last() {
            Some(slot) if !self.owns(self.tree.get(slot)) => refuse(Denied::NotOwner {
                user: self.ctx.user().clone(),
                path: located.path.to_string(),
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn owns(self, inode: &Inode) -> bool {
        **self.tree.user(inode.permission) == **self.ctx.user()
    }

    fn check_action(self, located: &Located<'_>, at: usize, action: Action) -> Result<()> {
        match located.nodes.get(at) {
            Some(slot) if !self.permits(*slot, action) => {
                refuse(self.denial(*slot, located.prefix(at + 1).to_owned(), action))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn denial(self, slot: Slot, path: String, action: Action) -> Denied {
        Denied::Permission {
            user: self.ctx.user().clone(),
            access: action_name(action),
            path,
            inode: self.inode_access(slot),
        }
    }

    fn inode_access(self, slot: Slot) -> InodeAccess {
        let tree = self.tree;
        let inode = tree.get(slot);
        InodeAccess {
            owner: tree.user(inode.permission).clone(),
            group: tree.group(inode.permission).clone(),
            is_directory: inode.is_directory(),
            mode: inode.permission.mode(),
        }
    }

    /// Whether the caller has an action on an inode: the first class that matches decides.
    pub(crate) fn permits(self, slot: Slot, action: Action) -> bool {
        let inode = self.tree.get(slot);
        let mode = inode.permission.mode();
        let class = |shift: u16| (mode >> shift) as u8 & 7;
        let implies = |granted: u8| granted & action == action;
        if self.owns(inode) {
            return implies(class(6));
        }
        let group = self.tree.group(inode.permission);
        let acl = inode
            .acl()
            .filter(|acl| acl.first().is_some_and(|entry| entry.scope == AclScope::Access));
        let Some(acl) = acl else {
            return implies(if self.ctx.in_group(group) { class(3) } else { class(0) });
        };
        // With an ACL the group bits of the mode are its mask.
        let mut matched = false;
        for entry in acl.iter().take_while(|entry| entry.scope == AclScope::Access) {
            let masked = entry.permission & class(3);
            let name = entry.name.as_deref();
            match entry.kind {
                AclKind::User if name == Some(&**self.ctx.user()) => return implies(masked),
                AclKind::Group if self.ctx.in_group(name.unwrap_or(group)) => {
                    if implies(masked) {
                        return true;
                    }
                    matched = true;
                }
                _ => {}
            }
        }
        !matched && implies(class(0))
    }

    pub(crate) fn sticky_forbids(self, parent: &Inode, child: &Inode) -> bool {
        parent.permission.is_sticky() && !self.owns(parent) && !self.owns(child)
    }

    fn check_sticky(self, located: &Located<'_>) -> Result<()> {
        let (Some(parent), Some(child)) = (located.parent(), located.last()) else { return Ok(()) };
        if self.sticky_forbids(self.tree.get(parent), self.tree.get(child)) {
            return self.deny_sticky((&located.path, child), (located.parent_path(), parent));
        }
        Ok(())
    }

    pub(crate) fn deny_sticky(self, child: (&str, Slot), parent: (&str, Slot)) -> Result<()> {
        refuse(Denied::StickyBit {
            user: self.ctx.user().clone(),
            path: child.0.to_owned(),
            inode: self.inode_access(child.1),
            parent: parent.0.to_owned(),
            parent_inode: self.inode_access(parent.1),
        })
    }
}
