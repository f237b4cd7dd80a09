//! One inode in memory.
//!
//! A file with one block takes the 96 bytes of [`Inode`], 4 to 8 in its folder's list and about 8 in the id index;
//! what few inodes have (ACL, attributes, a writer) hangs on one pointer.

use super::children::Children;
use super::strings::StringId;
use super::usage::Usage;
use crate::views::{AclEntry, XAttr};
use compact_str::CompactString;
use std::sync::Arc;
use zerohop_wire::{BlockId, InodeId};

/// An inode's place in the arena.
pub(crate) type Slot = u32;

/// No inode: the root's parent, and that of a subtree taken out of the tree.
pub(crate) const NO_SLOT: Slot = u32::MAX;

/// Owner, group and mode in one word, as Hadoop packs them: user 24 bits, group 24, mode 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permission(u64);

impl Permission {
    pub(crate) fn new(user: StringId, group: StringId, mode: u16) -> Self {
        Self(u64::from(user) << 40 | u64::from(group & 0xff_ffff) << 16 | u64::from(mode))
    }

    pub(crate) fn user(self) -> StringId {
        (self.0 >> 40) as StringId
    }

    pub(crate) fn group(self) -> StringId {
        (self.0 >> 16 & 0xff_ffff) as StringId
    }

    pub(crate) fn mode(self) -> u16 {
        self.0 as u16
    }

    pub(crate) fn with_mode(self, mode: u16) -> Self {
        Self(self.0 & !0xffff | u64::from(mode))
    }
}

/// A file, folder or link.
#[derive(Debug)]
pub(crate) struct Inode {
    pub id: InodeId,
    pub parent: Slot,
    pub name: CompactString,
    pub permission: Permission,
    pub mtime: u64,
    pub body: Body,
}

/// What only one kind of inode has.
#[derive(Debug)]
pub(crate) enum Body {
    /// The slot is unused; the next unused one.
    Free(Slot),
    Directory(Box<Directory>),
    File(File),
    Symlink(Box<Symlink>),
}

/// ACL entries beyond the mode as `AclFeature` has them: named users, all groups, then the default ones.
pub(crate) type Acl = Arc<[AclEntry]>;

#[derive(Debug, Default)]
pub(crate) struct Directory {
    pub children: Children,
    /// 0 until `setTimes` says otherwise: reads of a directory do not count.
    pub atime: u64,
    /// The sum over all that is below, the directory itself left out.
    pub below: Usage,
    pub quota: Option<Box<crate::quota::Quota>>,
    pub acl: Option<Acl>,
    pub xattrs: Vec<XAttr>,
}

#[derive(Debug)]
pub(crate) struct Symlink {
    pub target: Vec<u8>,
    pub atime: u64,
}

#[derive(Debug)]
pub(crate) struct File {
    pub atime: u64,
    header: u64,
    pub blocks: Blocks,
    pub extra: Option<Box<FileExtra>>,
}

/// What few files have.
#[derive(Debug, Default)]
pub(crate) struct FileExtra {
    pub acl: Option<Acl>,
    pub xattrs: Vec<XAttr>,
    pub writer: Option<Writer>,
}

/// Who has a file open for writing (`FileUnderConstructionFeature`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub client_name: Arc<str>,
    pub client_machine: Arc<str>,
}

const BLOCK_SIZE_BITS: u32 = 48;
const REPLICATION_BITS: u32 = 12;

/// The largest block size that an inode can hold, bytes: Hadoop's limit too.
pub(crate) const BLOCK_SIZE_MAX: u64 = (1 << BLOCK_SIZE_BITS) - 1;
/// The most replicas of a file: Hadoop's inodes have a bit less for it than ours.
pub(crate) const REPLICATION_MAX: u16 = (1 << 11) - 1;

impl File {
    /// What is above [`BLOCK_SIZE_MAX`] or twice [`REPLICATION_MAX`] does not fit and is cut: operations refuse it before.
    pub(crate) fn new(replication: u16, block_size: u64, storage_policy: u8, atime: u64) -> Self {
        let header = u64::from(storage_policy & 0xf) << (BLOCK_SIZE_BITS + REPLICATION_BITS)
            | u64::from(replication & 0xfff) << BLOCK_SIZE_BITS
            | block_size & BLOCK_SIZE_MAX;
        Self { atime, header, blocks: Blocks::None, extra: None }
    }

    pub(crate) fn block_size(&self) -> u64 {
        self.header & BLOCK_SIZE_MAX
    }

    pub(crate) fn replication(&self) -> u16 {
        (self.header >> BLOCK_SIZE_BITS & 0xfff) as u16
    }

    pub(crate) fn storage_policy(&self) -> u8 {
        (self.header >> (BLOCK_SIZE_BITS + REPLICATION_BITS)) as u8
    }

    pub(crate) fn set_replication(&mut self, replication: u16) {
        let mask = 0xfff << BLOCK_SIZE_BITS;
        self.header = self.header & !mask | u64::from(replication & 0xfff) << BLOCK_SIZE_BITS;
    }

    pub(crate) fn set_storage_policy(&mut self, policy: u8) {
        let shift = BLOCK_SIZE_BITS + REPLICATION_BITS;
        self.header = self.header & ((1 << shift) - 1) | u64::from(policy & 0xf) << shift;
    }

    pub(crate) fn writer(&self) -> Option<&Writer> {
        self.extra.as_ref()?.writer.as_ref()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.writer().is_some()
    }

    pub(crate) fn set_writer(&mut self, writer: Option<Writer>) {
        if writer.is_some() || self.extra.is_some() {
            self.extra.get_or_insert_default().writer = writer;
            self.shed_extra();
        }
    }

    /// Gives the pointer's memory back when nothing hangs on it.
    pub(crate) fn shed_extra(&mut self) {
        if let Some(extra) = &self.extra
            && extra.acl.is_none()
            && extra.xattrs.is_empty()
            && extra.writer.is_none()
        {
            self.extra = None;
        }
    }
}

/// Ids of a file's blocks; stamps and lengths are the block manager's.
#[derive(Debug, Default)]
pub(crate) enum Blocks {
    #[default]
    None,
    One([BlockId; 1]),
    #[allow(clippy::box_collection)] // a Vec in place would make every inode 16 bytes larger
    Many(Box<Vec<BlockId>>),
}

impl Blocks {
    pub(crate) fn as_slice(&self) -> &[BlockId] {
        match self {
            Self::None => &[],
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }

    pub(crate) fn push(&mut self, block: BlockId) {
        match self {
            Self::None => *self = Self::One([block]),
            Self::One(one) => *self = Self::Many(Box::new(vec![one[0], block])),
            Self::Many(many) => many.push(block),
        }
    }

    pub(crate) fn last(&self) -> Option<BlockId> {
        self.as_slice().last().copied()
    }

    pub(crate) fn penultimate(&self) -> Option<BlockId> {
        self.as_slice().iter().nth_back(1).copied()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        if len < self.as_slice().len() {
            *self = self.as_slice()[..len].iter().copied().collect();
        }
    }
}

impl FromIterator<BlockId> for Blocks {
    fn from_iter<I: IntoIterator<Item = BlockId>>(blocks: I) -> Self {
        let all: Vec<BlockId> = blocks.into_iter().collect();
        match all.as_slice() {
            [] => Self::None,
            [one] => Self::One([*one]),
            _ => Self::Many(Box::new(all)),
        }
    }
}

impl Inode {
    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.body, Body::Directory(_))
    }

    pub(crate) fn as_directory(&self) -> Option<&Directory> {
        match &self.body {
            Body::Directory(directory) => Some(directory),
            _ => None,
        }
    }

    pub(crate) fn as_directory_mut(&mut self) -> Option<&mut Directory> {
        match &mut self.body {
            Body::Directory(directory) => Some(directory),
            _ => None,
        }
    }

    pub(crate) fn as_file(&self) -> Option<&File> {
        match &self.body {
            Body::File(file) => Some(file),
            _ => None,
        }
    }

    pub(crate) fn as_file_mut(&mut self) -> Option<&mut File> {
        match &mut self.body {
            Body::File(file) => Some(file),
            _ => None,
        }
    }

    pub(crate) fn acl(&self) -> Option<&Acl> {
        match &self.body {
            Body::Directory(directory) => directory.acl.as_ref(),
            Body::File(file) => file.extra.as_ref()?.acl.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn set_acl(&mut self, acl: Option<Acl>) {
        match &mut self.body {
            Body::Directory(directory) => directory.acl = acl,
            Body::File(file) if acl.is_some() || file.extra.is_some() => {
                file.extra.get_or_insert_default().acl = acl;
                file.shed_extra();
            }
            _ => {}
        }
    }

    pub(crate) fn xattrs(&self) -> &[XAttr] {
        match &self.body {
            Body::Directory(directory) => &directory.xattrs,
            Body::File(file) => file.extra.as_ref().map_or(&[], |extra| &extra.xattrs),
            _ => &[],
        }
    }

    pub(crate) fn set_xattrs(&mut self, xattrs: Vec<XAttr>) {
        match &mut self.body {
            Body::Directory(directory) => directory.xattrs = xattrs,
            Body::File(file) if !xattrs.is_empty() || file.extra.is_some() => {
                file.extra.get_or_insert_default().xattrs = xattrs;
                file.shed_extra();
            }
            _ => {}
        }
    }

    pub(crate) fn atime(&self) -> u64 {
        match &self.body {
            Body::Directory(directory) => directory.atime,
            Body::File(file) => file.atime,
            Body::Symlink(link) => link.atime,
            Body::Free(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inode_stays_within_its_budget() {
        assert!(size_of::<Inode>() <= 96, "{}", size_of::<Inode>());
    }

    #[test]
    fn a_file_header_keeps_its_three_parts_apart() {
        let mut file = File::new(3, 128 << 20, 7, 0);
        file.set_replication(512);
        file.set_storage_policy(12);
        assert_eq!(
            (file.replication(), file.block_size(), file.storage_policy()),
            (512, 128 << 20, 12)
        );
    }
}
