//! One inode in memory.
//!
//! A file with one block and a name of up to 15 bytes takes the 72 bytes of [`Inode`], 4 to 6 in its directory's list and
//! 4 in the id index. What few inodes have (ACL, attributes, a writer) hangs on one pointer.

use super::children::Children;
use super::names::Name;
use super::strings::StringId;
use super::usage::Usage;
use crate::answers::{AclEntry, XAttr};
use crate::packed::U48;
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

    /// Whether only owners may remove what is in this directory.
    pub(crate) fn is_sticky(self) -> bool {
        self.0 & 0o1000 != 0
    }

    pub(crate) fn with_mode(self, mode: u16) -> Self {
        Self(self.0 & !0xffff | u64::from(mode))
    }
}

/// A file, directory or link.
#[derive(Debug)]
pub(crate) struct Inode {
    pub id: InodeId,
    pub parent: Slot,
    /// The bytes are the tree's matter: [`super::Tree::name`].
    pub(super) name: Name,
    pub permission: Permission,
    mtime: U48,
    /// Of a directory 0 until `setTimes` says otherwise: reads of a directory do not count.
    atime: U48,
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
    /// The sum over all that is below, the directory itself left out.
    pub below: Usage,
    pub quota: Option<Box<crate::quota::Quota>>,
    pub acl: Option<Acl>,
    pub xattrs: Vec<XAttr>,
}

#[derive(Debug)]
pub(crate) struct Symlink {
    pub target: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct File {
    header: u64,
    pub blocks: Blocks,
}

/// What few files have.
#[derive(Debug, Default)]
struct FileExtra {
    acl: Option<Acl>,
    xattrs: Vec<XAttr>,
    writer: Option<Writer>,
}

impl FileExtra {
    fn is_empty(&self) -> bool {
        self.acl.is_none() && self.xattrs.is_empty() && self.writer.is_none()
    }
}

/// Who has a file open for writing (`FileUnderConstructionFeature`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub client_name: Arc<str>,
    pub client_machine: Arc<str>,
}

impl Writer {
    pub(crate) fn new(client_name: &str, client_machine: &str) -> Self {
        Self { client_name: client_name.into(), client_machine: client_machine.into() }
    }
}

const BLOCK_SIZE_BITS: u32 = 48;
const REPLICATION_BITS: u32 = 12;

/// The largest block size that an inode can hold, bytes: Hadoop's limit too.
pub(crate) const BLOCK_SIZE_MAX: u64 = (1 << BLOCK_SIZE_BITS) - 1;
/// The most replicas of a file: Hadoop's inodes have a bit less for it than ours.
pub(crate) const REPLICATION_MAX: u16 = (1 << 11) - 1;

impl File {
    /// What is above [`BLOCK_SIZE_MAX`] or twice [`REPLICATION_MAX`] does not fit and is cut: operations refuse it before.
    pub(crate) fn new(replication: u16, block_size: u64, storage_policy: u8) -> Self {
        let header = u64::from(storage_policy & 0xf) << (BLOCK_SIZE_BITS + REPLICATION_BITS)
            | u64::from(replication & 0xfff) << BLOCK_SIZE_BITS
            | block_size & BLOCK_SIZE_MAX;
        Self { header, blocks: Blocks(Content::None) }
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
        self.blocks.extra()?.writer.as_ref()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.writer().is_some()
    }

    pub(crate) fn set_writer(&mut self, writer: Option<Writer>) {
        self.blocks.change_extra(writer.is_some(), |extra| extra.writer = writer);
    }
}

/// Ids of a file's blocks (stamps and lengths are the block manager's), and what few files have: the two share one word.
#[derive(Debug)]
pub(crate) struct Blocks(Content);

#[derive(Debug)]
enum Content {
    None,
    One([BlockId; 1]),
    /// Several blocks, or anything extra.
    Boxed(Box<Contents>),
}

#[derive(Debug)]
struct Contents {
    blocks: Vec<BlockId>,
    extra: FileExtra,
}

impl Blocks {
    pub(crate) fn as_slice(&self) -> &[BlockId] {
        match &self.0 {
            Content::None => &[],
            Content::One(one) => one,
            Content::Boxed(contents) => &contents.blocks,
        }
    }

    pub(crate) fn push(&mut self, block: BlockId) {
        match &mut self.0 {
            Content::None => self.0 = Content::One([block]),
            Content::One(_) => self.boxed().blocks.push(block),
            Content::Boxed(contents) => contents.blocks.push(block),
        }
    }

    pub(crate) fn last(&self) -> Option<BlockId> {
        self.as_slice().last().copied()
    }

    pub(crate) fn penultimate(&self) -> Option<BlockId> {
        self.as_slice().iter().nth_back(1).copied()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        match &mut self.0 {
            Content::One(_) if len == 0 => self.0 = Content::None,
            Content::Boxed(contents) => {
                contents.blocks.truncate(len);
                self.shed();
            }
            _ => {}
        }
    }

    fn extra(&self) -> Option<&FileExtra> {
        match &self.0 {
            Content::Boxed(contents) => Some(&contents.extra),
            _ => None,
        }
    }

    /// Changes what few files have; without `is_set` only where there is something.
    fn change_extra(&mut self, is_set: bool, change: impl FnOnce(&mut FileExtra)) {
        if is_set || self.extra().is_some() {
            change(&mut self.boxed().extra);
            self.shed();
        }
    }

    fn boxed(&mut self) -> &mut Contents {
        if !matches!(self.0, Content::Boxed(_)) {
            let contents =
                Contents { blocks: self.as_slice().to_vec(), extra: FileExtra::default() };
            self.0 = Content::Boxed(Box::new(contents));
        }
        match &mut self.0 {
            Content::Boxed(contents) => contents,
            _ => unreachable!("the content was boxed above"),
        }
    }

    /// Gives the box back when nothing needs it.
    fn shed(&mut self) {
        if let Content::Boxed(contents) = &self.0
            && contents.extra.is_empty()
        {
            match *contents.blocks.as_slice() {
                [] => self.0 = Content::None,
                [one] => self.0 = Content::One([one]),
                _ => {}
            }
        }
    }
}

impl Inode {
    /// An inode that is in no directory yet; its name is given to [`super::Tree::add`].
    pub(crate) fn new(id: InodeId, permission: Permission, body: Body) -> Self {
        let (name, mtime, atime) = Default::default();
        Self { id, parent: NO_SLOT, name, permission, mtime, atime, body }
    }

    /// The same with its times; milliseconds since 1970, after the year 10889 cut to it.
    pub(crate) fn with_times(mut self, mtime: u64, atime: u64) -> Self {
        self.set_mtime(mtime);
        self.set_atime(atime);
        self
    }

    pub(crate) fn mtime(&self) -> u64 {
        self.mtime.get()
    }

    pub(crate) fn set_mtime(&mut self, mtime: u64) {
        self.mtime = U48::saturating(mtime);
    }

    pub(crate) fn atime(&self) -> u64 {
        self.atime.get()
    }

    pub(crate) fn set_atime(&mut self, atime: u64) {
        self.atime = U48::saturating(atime);
    }

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
            Body::File(file) => file.blocks.extra()?.acl.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn set_acl(&mut self, acl: Option<Acl>) {
        match &mut self.body {
            Body::Directory(directory) => directory.acl = acl,
            Body::File(file) => {
                file.blocks.change_extra(acl.is_some(), |extra| extra.acl = acl);
            }
            _ => {}
        }
    }

    pub(crate) fn xattrs(&self) -> &[XAttr] {
        match &self.body {
            Body::Directory(directory) => &directory.xattrs,
            Body::File(file) => file.blocks.extra().map_or(&[], |extra| &extra.xattrs),
            _ => &[],
        }
    }

    pub(crate) fn set_xattrs(&mut self, xattrs: Vec<XAttr>) {
        match &mut self.body {
            Body::Directory(directory) => directory.xattrs = xattrs,
            Body::File(file) => {
                file.blocks.change_extra(!xattrs.is_empty(), |extra| extra.xattrs = xattrs);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inode_stays_within_its_budget() {
        assert!(size_of::<Inode>() <= 72, "{}", size_of::<Inode>());
    }

    #[test]
    fn a_file_header_keeps_its_three_parts_apart() {
        let mut file = File::new(3, 128 << 20, 7);
        file.set_replication(512);
        file.set_storage_policy(12);
        assert_eq!(
            (file.replication(), file.block_size(), file.storage_policy()),
            (512, 128 << 20, 12)
        );
    }

    #[test]
    fn what_few_files_have_takes_a_box_only_while_it_is_there() {
        let mut file = File::new(1, 1, 0);
        let is_boxed = |file: &File| matches!(file.blocks.0, Content::Boxed(_));
        let ids = |file: &File| file.blocks.as_slice().iter().map(|id| id.0).collect::<Vec<_>>();
        file.set_writer(None);
        assert!(!is_boxed(&file));
        file.set_writer(Some(Writer { client_name: "c".into(), client_machine: "m".into() }));
        assert!(is_boxed(&file) && file.is_open());
        (1..=3).for_each(|id| file.blocks.push(BlockId(id)));
        assert_eq!(file.blocks.penultimate(), Some(BlockId(2)));
        file.set_writer(None);
        assert!(is_boxed(&file) && !file.is_open());
        file.blocks.truncate(1);
        assert!(!is_boxed(&file));
        assert_eq!(ids(&file), [1]);
        file.blocks.truncate(5);
        file.blocks.push(BlockId(4));
        assert_eq!(ids(&file), [1, 4]);
        file.blocks.truncate(0);
        assert!(!is_boxed(&file) && file.blocks.last().is_none());
    }

    #[test]
    fn times_are_kept_to_the_year_10889() {
        let root = Inode::new(InodeId::ROOT, Permission::default(), Body::Free(NO_SLOT));
        let inode = root.with_times(U48::MAX, u64::MAX);
        assert_eq!((inode.mtime(), inode.atime()), (U48::MAX, U48::MAX));
    }
}
