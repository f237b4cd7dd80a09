//! The tree of inodes: an arena, an index by id, and folders that list slots in name order.

mod children;
mod inode;
mod path;
mod strings;
mod usage;

pub(crate) use inode::{
    Acl, BLOCK_SIZE_MAX, Body, Directory, File, Inode, NO_SLOT, Permission, REPLICATION_MAX, Slot,
    Symlink, Writer,
};
pub(crate) use path::{canonical, components, is_valid_name};
pub(crate) use strings::{StringId, Strings};
pub(crate) use usage::Usage;

use crate::index::Index;
use crate::pages::Pages;
use compact_str::CompactString;
use std::cmp::Ordering;
use zerohop_wire::InodeId;

/// All inodes.
pub(crate) struct Tree {
    inodes: Pages<Inode>,
    free: Slot,
    index: Index,
    pub strings: Strings,
    pub root: Slot,
    /// How often an inode was looked at: tests count work, not time.
    #[cfg(test)]
    pub looks: std::sync::atomic::AtomicUsize,
}

fn hash(id: InodeId) -> u64 {
    // Ids are sequential: multiply and fold, so that both ends of the word differ.
    let mixed = id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

/// Names as Hadoop orders them: byte by byte, bytes signed.
pub(crate) fn compare_names(left: &[u8], right: &[u8]) -> Ordering {
    // A loop of its own: names are short, and a search makes a dozen of these.
    for (left, right) in left.iter().zip(right) {
        if left != right {
            return (*left as i8).cmp(&(*right as i8));
        }
    }
    left.len().cmp(&right.len())
}

impl Tree {
    /// A tree with only its root.
    pub(crate) fn new(user: &str, group: &str, mode: u16) -> Self {
        let mut strings = Strings::default();
        let permission = Permission::new(strings.intern(user), strings.intern(group), mode);
        let mut tree = Self {
            inodes: Pages::default(),
            free: NO_SLOT,
            index: Index::default(),
            strings,
            root: NO_SLOT,
            #[cfg(test)]
            looks: Default::default(),
        };
        let quota = Some(Box::new(crate::quota::Quota::of_root()));
        let directory = Directory { quota, ..Directory::default() };
        tree.root = tree.add(Inode {
            id: InodeId::ROOT,
            parent: NO_SLOT,
            name: CompactString::const_new(""),
            permission,
            mtime: 0,
            body: Body::Directory(Box::new(directory)),
        });
        tree
    }

    pub(crate) fn get(&self, slot: Slot) -> &Inode {
        #[cfg(test)]
        self.looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.inodes.get(slot as usize).expect("slots come from the tree itself")
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut Inode {
        self.inodes.get_mut(slot as usize).expect("slots come from the tree itself")
    }

    /// How many inodes there are, the root included (and subtrees being freed).
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Stores an inode that no folder lists yet.
    pub(crate) fn add(&mut self, inode: Inode) -> Slot {
        let id = inode.id;
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
        let inodes = &self.inodes;
        let id_of = |slot: Slot| inodes.get(slot as usize).map_or(InodeId(0), |inode| inode.id);
        self.index.insert(hash(id), slot, |slot| hash(id_of(slot)));
        slot
    }

    /// Frees a slot that no folder lists any more; gives back what was in it.
    pub(crate) fn free(&mut self, slot: Slot) -> Inode {
        let id = self.get(slot).id;
        self.index.remove(hash(id), slot);
        let empty = Inode {
            id: InodeId(0),
            parent: NO_SLOT,
            name: CompactString::const_new(""),
            permission: Permission::default(),
            mtime: 0,
            body: Body::Free(self.free),
        };
        self.free = slot;
        std::mem::replace(self.get_mut(slot), empty)
    }

    /// The inode of an id, also one in a subtree that was taken out of the tree.
    pub(crate) fn find_any(&self, id: InodeId) -> Option<Slot> {
        self.index.find(hash(id), |slot| self.get(slot).id == id)
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

    /// A folder's child of a name.
    pub(crate) fn child(&self, folder: Slot, name: &str) -> Option<Slot> {
        let directory = self.get(folder).as_directory()?;
        directory.children.search(|child| self.compare(child, name.as_bytes())).ok()
    }

    fn compare(&self, child: Slot, name: &[u8]) -> Ordering {
        compare_names(self.get(child).name.as_bytes(), name)
    }

    /// The children that come after a name, and how many those are.
    pub(crate) fn children_after<'a>(
        &'a self,
        directory: &'a Directory,
        start: &'a [u8],
    ) -> (impl Iterator<Item = Slot> + 'a, usize) {
        directory.children.after(|child| self.compare(child, start))
    }

    /// Lists an inode in a folder under the name it has; false if the name is taken or the folder is none.
    pub(crate) fn attach(&mut self, folder: Slot, slot: Slot) -> bool {
        let Some(directory) = self.get(folder).as_directory() else { return false };
        let name = &self.get(slot).name;
        let Err(place) = directory.children.search(|child| self.compare(child, name.as_bytes()))
        else {
            return false;
        };
        if let Some(directory) = self.get_mut(folder).as_directory_mut() {
            directory.children.insert(place, slot);
        }
        self.get_mut(slot).parent = folder;
        true
    }

    /// Appends an inode to a folder whose last child sorts before it (images are written in order); else as `attach`.
    pub(crate) fn attach_last(&mut self, folder: Slot, slot: Slot) -> bool {
        let Some(directory) = self.get(folder).as_directory() else { return false };
        let name = self.get(slot).name.as_bytes();
        let ordered = directory.children.last().is_none_or(|last| self.compare(last, name).is_lt());
        if !ordered {
            return self.attach(folder, slot);
        }
        if let Some(directory) = self.get_mut(folder).as_directory_mut() {
            directory.children.push(slot);
        }
        self.get_mut(slot).parent = folder;
        true
    }

    /// Takes an inode out of its folder's list.
    pub(crate) fn detach(&mut self, slot: Slot) {
        let parent = self.get(slot).parent;
        if parent == NO_SLOT {
            return;
        }
        let name = self.get(slot).name.clone();
        let mut children = match self.get_mut(parent).as_directory_mut() {
            Some(directory) => std::mem::take(&mut directory.children),
            None => return,
        };
        children.remove(|child| self.compare(child, name.as_bytes()));
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
            path.push_str(&self.get(slot).name);
        }
        if path.is_empty() {
            path.push('/');
        }
        path
    }
}
