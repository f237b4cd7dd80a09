//! The tree of inodes: an arena, an index by id, and directories that list slots in name order.

mod access_changes;
mod children;
mod inode;
mod names;
mod path;
mod strings;
mod usage;

pub(crate) use access_changes::{AccessChange, AccessChanges, Forgotten};
pub(crate) use inode::{
    Acl, BLOCK_SIZE_MAX, Body, Directory, File, Inode, NO_SLOT, Permission, REPLICATION_MAX, Slot,
    Symlink, Writer,
};
pub(crate) use path::{canonical, components, is_valid_name};
pub(crate) use strings::StringId;
pub(crate) use usage::Usage;

use crate::id_index::IdIndex;
use crate::pages::Pages;
use names::Names;
use std::cmp::Ordering;
use std::sync::Arc;
use strings::Strings;
use zerohop_wire::InodeId;

/// All inodes.
pub(crate) struct Tree {
    inodes: Pages<Inode>,
    free: Slot,
    index: IdIndex,
    names: Names,
    strings: Strings,
    root: Slot,
    access_changes: AccessChanges,
    /// How often an inode was looked at: tests count work, not time.
    #[cfg(test)]
    pub looks: std::sync::atomic::AtomicUsize,
    /// The inodes that [`Tree::before_change`] saw.
    #[cfg(test)]
    pub seen: Vec<InodeId>,
}

impl Tree {
    /// A tree with only its root.
    pub(crate) fn new(user: &str, group: &str, mode: u16) -> Self {
        let mut strings = Strings::default();
        let permission = Permission::new(strings.intern(user), strings.intern(group), mode);
        let mut tree = Self {
            inodes: Pages::default(),
            free: NO_SLOT,
            index: IdIndex::default(),
            names: Names::default(),
            strings,
            root: NO_SLOT,
            access_changes: AccessChanges::default(),
            #[cfg(test)]
            looks: Default::default(),
            #[cfg(test)]
            seen: Vec::new(),
        };
        let quota = Some(Box::new(crate::quota::Quota::of_root()));
        let directory = Directory { quota, ..Directory::default() };
        let body = Body::Directory(Box::new(directory));
        tree.root = tree.add(Inode::new(InodeId::ROOT, permission, body), "");
        tree
    }

    pub(crate) fn root(&self) -> Slot {
        self.root
    }

    /// The number of a user or group in [`Permission`].
    pub(crate) fn intern(&mut self, name: &str) -> StringId {
        self.strings.intern(name)
    }

    /// The user of a permission.
    pub(crate) fn user(&self, permission: Permission) -> &Arc<str> {
        self.strings.get(permission.user())
    }

    /// The group of a permission.
    pub(crate) fn group(&self, permission: Permission) -> &Arc<str> {
        self.strings.get(permission.group())
    }

    /// An inode's name; empty for the root.
    pub(crate) fn name(&self, slot: Slot) -> &str {
        std::str::from_utf8(self.names.get(&self.get(slot).name)).unwrap_or_default()
    }

    /// Gives an inode that no directory lists another name.
    pub(crate) fn rename(&mut self, slot: Slot, name: &str) {
        let name = self.names.add(name.as_bytes());
        let old = std::mem::replace(&mut self.change(slot).name, name);
        self.names.remove(old);
    }

    pub(crate) fn get(&self, slot: Slot) -> &Inode {
        #[cfg(test)]
        self.looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.inodes.get(slot as usize).expect("slots come from the tree itself")
    }

    fn get_mut(&mut self, slot: Slot) -> &mut Inode {
        self.inodes.get_mut(slot as usize).expect("slots come from the tree itself")
    }

    /// An inode that an edit is about to change, its list of children and its blocks included: the only way to change one.
    pub(crate) fn change(&mut self, slot: Slot) -> &mut Inode {
        self.before_change(slot);
        self.get_mut(slot)
    }

    /// Sees each inode as it was before an edit changes it. This is where snapshots will keep the old state.
    fn before_change(&mut self, slot: Slot) {
        debug_assert!(!matches!(self.get(slot).body, Body::Free(_)), "a freed inode is changed");
        #[cfg(test)]
        self.seen.push(self.get(slot).id);
    }

    /// Adds to the sum that a directory keeps of all below it; the directory above it. Sums follow from the inodes: no
    /// snapshot keeps them.
    pub(crate) fn charge(&mut self, slot: Slot, delta: &Usage) -> Slot {
        let inode = self.get_mut(slot);
        if let Some(directory) = inode.as_directory_mut() {
            directory.below.add(delta);
        }
        inode.parent
    }

    /// Takes a child out of a directory that is not part of the namespace any more.
    pub(crate) fn pop_detached_child(&mut self, slot: Slot) -> Option<Slot> {
        self.get_mut(slot).as_directory_mut()?.children.pop()
    }

    pub(crate) fn is_non_empty_directory(&self, slot: Slot) -> bool {
        self.get(slot).as_directory().is_some_and(|directory| !directory.children.is_empty())
    }

    /// How many inodes there are, the root included (and subtrees being freed).
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Stores an inode that no directory lists yet, under an id that is not in the tree.
    pub(crate) fn add(&mut self, mut inode: Inode, name: &str) -> Slot {
        let id = inode.id;
        inode.name = self.names.add(name.as_bytes());
        let slot = if self.free == NO_SLOT {
            self.inodes.push(inode) as Slot
        } else {
            let slot = self.free;
            if let Body::Free(next) = self.get(slot).body {
                self.free = next;
            }
            *self.get_mut(slot) = inode;
            slot
        };
        self.index.insert(id.0, slot);
        slot
    }

    /// Frees a slot that no directory lists any more; gives back what was in it.
    pub(crate) fn free(&mut self, slot: Slot) -> Inode {
        let empty = Inode::new(InodeId(0), Permission::default(), Body::Free(self.free));
        self.free = slot;
        let mut inode = std::mem::replace(self.get_mut(slot), empty);
        self.index.remove(inode.id.0);
        self.names.remove(std::mem::take(&mut inode.name));
        inode
    }

    /// The inode of an id, also one in a subtree that was taken out of the tree.
    pub(crate) fn find_any(&self, id: InodeId) -> Option<Slot> {
        self.index.get(id.0)
    }

    /// The inode of an id if the root can be reached from it.
    pub(crate) fn find(&self, id: InodeId) -> Option<Slot> {
        self.find_any(id).filter(|slot| self.is_attached(*slot))
    }

    fn is_attached(&self, slot: Slot) -> bool {
        self.ancestors(slot).last() == Some(self.root)
    }

    /// The inode itself, its parent, and so on up to the root.
    pub(crate) fn ancestors(&self, slot: Slot) -> impl Iterator<Item = Slot> + '_ {
        std::iter::successors(Some(slot).filter(|slot| *slot != NO_SLOT), |slot| {
            Some(self.get(*slot).parent).filter(|parent| *parent != NO_SLOT)
        })
    }

    /// A directory's child of a name.
    pub(crate) fn child(&self, directory: Slot, name: &str) -> Option<Slot> {
        let directory = self.get(directory).as_directory()?;
        directory.children.search(|child| self.compare(child, name.as_bytes())).ok()
    }

    fn name_bytes(&self, slot: Slot) -> &[u8] {
        self.names.get(&self.get(slot).name)
    }

    fn compare(&self, child: Slot, name: &[u8]) -> Ordering {
        self.names.compare(&self.get(child).name, name)
    }

    /// The children that come after a name, and how many those are.
    pub(crate) fn children_after<'a>(
        &'a self,
        directory: &'a Directory,
        start: &'a [u8],
    ) -> (impl Iterator<Item = Slot> + 'a, usize) {
        directory.children.after(|child| self.compare(child, start))
    }

    /// The children that come before a name, the last one first; all without a name.
    pub(crate) fn children_before<'a>(
        &'a self,
        directory: &'a Directory,
        end: Option<&'a [u8]>,
    ) -> impl Iterator<Item = Slot> + 'a {
        directory.children.before(end.map(|end| move |child| self.compare(child, end)))
    }

    /// What changed lately of who may do what.
    pub(crate) fn access_changes(&self) -> &AccessChanges {
        &self.access_changes
    }

    /// Gives an inode another owner, group or mode.
    pub(crate) fn set_permission(&mut self, slot: Slot, permission: Permission) {
        let inode = self.change(slot);
        inode.permission = permission;
        let changed = AccessChange::Permission(inode.id);
        self.access_changes.note(changed);
    }

    /// Gives an inode another ACL.
    pub(crate) fn set_acl(&mut self, slot: Slot, acl: Option<Acl>) {
        let inode = self.change(slot);
        inode.set_acl(acl);
        let changed = AccessChange::Permission(inode.id);
        self.access_changes.note(changed);
    }

    /// Lists an inode in a directory under the name it has; false if the name is taken or it is no directory.
    pub(crate) fn attach(&mut self, parent: Slot, slot: Slot) -> bool {
        let above = self.get(parent);
        let Some(directory) = above.as_directory() else { return false };
        let name = self.name_bytes(slot);
        let Err(place) = directory.children.search(|child| self.compare(child, name)) else {
            return false;
        };
        let child = self.get(slot);
        // One more file in a directory that had some already changes no answer, unless owners count there.
        if child.is_directory() || directory.children.is_empty() || above.permission.is_sticky() {
            let attached = AccessChange::Attached(child.id);
            self.access_changes.note(attached);
        }
        if let Some(directory) = self.change(parent).as_directory_mut() {
            directory.children.insert(place, slot);
        }
        self.get_mut(slot).parent = parent;
        true
    }

    /// Appends an inode to a directory whose last child sorts before it (images are written in order); else as `attach`.
    pub(crate) fn attach_last(&mut self, parent: Slot, slot: Slot) -> bool {
        let Some(directory) = self.get(parent).as_directory() else { return false };
        let name = self.name_bytes(slot);
        let ordered = directory.children.last().is_none_or(|last| self.compare(last, name).is_lt());
        if !ordered {
            return self.attach(parent, slot);
        }
        if let Some(directory) = self.get_mut(parent).as_directory_mut() {
            directory.children.push(slot);
        }
        self.get_mut(slot).parent = parent;
        true
    }

    /// Takes an inode out of its directory's list.
    pub(crate) fn detach(&mut self, slot: Slot) {
        let parent = self.get(slot).parent;
        if parent == NO_SLOT {
            return;
        }
        self.before_change(slot);
        let mut children = match self.change(parent).as_directory_mut() {
            Some(directory) => std::mem::take(&mut directory.children),
            None => return,
        };
        children.remove(|child| self.compare(child, self.name_bytes(slot)));
        if let Some(directory) = self.get_mut(parent).as_directory_mut() {
            directory.children = children;
        }
        self.get_mut(slot).parent = NO_SLOT;
    }

    /// The full path of an inode.
    pub(crate) fn path(&self, slot: Slot) -> String {
        let nodes: smallvec::SmallVec<[Slot; 16]> = self.ancestors(slot).collect();
        self.join(nodes.iter().rev().copied())
    }

    fn join(&self, nodes: impl Iterator<Item = Slot>) -> String {
        let mut path = String::with_capacity(64);
        for slot in nodes.filter(|slot| *slot != self.root) {
            path.push('/');
            path.push_str(self.name(slot));
        }
        if path.is_empty() {
            path.push('/');
        }
        path
    }
}
