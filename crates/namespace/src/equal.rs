//! Whether two namespaces are the same, for tests of replay and images.

use crate::commit::DurableState;
use crate::tree::{Body, Slot, Usage};

/// Compares durable states.
#[derive(Clone, Copy)]
pub(crate) struct Comparison<'s>(pub(crate) &'s DurableState);

impl Comparison<'_> {
    /// The first difference to another namespace, in words; none if inodes, blocks, leases, quotas, cache pools and counters agree.
    ///
    /// Replicas and lease times are not compared: no log carries them. Of a block being written only id and stamp are, and
    /// while files are open only the names used: how far a block is written is not logged.
    pub(crate) fn difference(self, other: Comparison<'_>) -> Option<String> {
        if self.0.ids() != other.0.ids() {
            return Some(format!("counters: {:?} and {:?}", self.0.ids(), other.0.ids()));
        }
        let (mine, theirs) =
            (self.0.rolling_upgrade().for_image(), other.0.rolling_upgrade().for_image());
        if mine != theirs {
            return Some(format!("rolling upgrades: {mine:?} and {theirs:?}"));
        }
        let (mine, theirs) = (self.0.cache().save(), other.0.cache().save());
        if mine != theirs {
            return Some(format!("cache pools and directives: {mine:?} and {theirs:?}"));
        }
        if self.0.tree().len() != other.0.tree().len() {
            return Some(format!("{} and {} inodes", self.0.tree().len(), other.0.tree().len()));
        }
        let mut open = vec![(self.0.tree().root(), other.0.tree().root())];
        while let Some((mine, theirs)) = open.pop() {
            let (left, right) = (self.describe(mine), other.describe(theirs));
            if left != right {
                return Some(format!("{}: {left} and {right}", self.0.tree().path(mine)));
            }
            let children = |of: Comparison<'_>, slot: Slot| -> Vec<Slot> {
                let directory = of.0.tree().get(slot).as_directory();
                directory.map(|directory| directory.children.iter().collect()).unwrap_or_default()
            };
            open.extend(children(self, mine).into_iter().zip(children(other, theirs)));
        }
        None
    }

    /// The first directory whose kept sums are not what is below it, in words.
    pub(crate) fn miscounted(self) -> Option<String> {
        let mut all = vec![self.0.tree().root()];
        let mut at = 0;
        while let Some(slot) = all.get(at).copied() {
            let directory = self.0.tree().get(slot).as_directory();
            all.extend(directory.into_iter().flat_map(|directory| directory.children.iter()));
            at += 1;
        }
        // From the leaves up: the sums that a directory's own are compared with are right.
        for slot in all.into_iter().rev() {
            let Some(directory) = self.0.tree().get(slot).as_directory() else { continue };
            let mut below = Usage::default();
            directory.children.iter().for_each(|child| below.add(&self.0.ledger().usage_of(child)));
            if below != directory.below {
                let (path, kept) = (self.0.tree().path(slot), &directory.below);
                return Some(format!("{path} keeps {kept:?}, below it are {below:?}"));
            }
        }
        None
    }

    /// Everything of one inode that logs and images carry.
    pub(crate) fn describe(self, slot: Slot) -> String {
        let inode = self.0.tree().get(slot);
        let permission = inode.permission;
        let common = format!(
            "{} {:?} {}:{}:{:o} mtime {} acl {:?} xattrs {:?}",
            inode.id,
            self.0.tree().name(slot),
            self.0.tree().user(permission),
            self.0.tree().group(permission),
            permission.mode(),
            inode.mtime(),
            inode.acl(),
            inode.xattrs(),
        );
        let own = match &inode.body {
            Body::Directory(directory) => {
                let (quota, below) = (directory.quota.as_deref(), &directory.below);
                let space = (self.0.leases().len() == 0).then_some(below);
                let quota = quota.map(|quota| quota.limit);
                let counts = (below.names, below.files, below.directories, below.blocks);
                format!(
                    "directory atime {} of {} quota {quota:?} below {counts:?} {space:?}",
                    inode.atime(),
                    directory.children.len()
                )
            }
            Body::File(file) => {
                let ids = file.blocks.as_slice();
                let open = |at: usize| file.is_open() && at + 1 == ids.len();
                let blocks: Vec<_> = ids
                    .iter()
                    .enumerate()
                    .map(|(at, id)| self.describe_block(*id, open(at)))
                    .collect();
                format!(
                    "file atime {} x{} {} policy {} writer {:?} lease {:?} blocks {blocks:?}",
                    inode.atime(),
                    file.replication(),
                    file.block_size(),
                    file.storage_policy(),
                    file.writer(),
                    self.0.leases().holder(inode.id),
                )
            }
            Body::Symlink(link) => format!("link to {:?}", link.target),
            Body::Free(_) => "nothing".to_owned(),
        };
        format!("{common} {own}")
    }

    fn describe_block(self, id: zerohop_wire::BlockId, open: bool) -> String {
        let Some(stored) = self.0.blocks().get(id) else { return format!("{id} missing") };
        if open {
            // Each new try of the recovery has a stamp of its own, which no edit carries.
            let cut = self.0.blocks().lookup().recovery(id).and_then(|recovery| recovery.truncate);
            let cut = cut.map(|cut| (cut.id, cut.len));
            return format!("{} open, becomes {cut:?}", stored.block);
        }
        let done = self.0.blocks().is_complete(id);
        format!(
            "{} len {} x{} of {} done {done}",
            stored.block, stored.block.len, stored.replication, stored.file
        )
    }
}
