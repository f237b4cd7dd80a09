//! Whether two namespaces are the same, for tests of replay and images.

use crate::Namespace;
use crate::tree::{Body, Slot, Usage};

impl Namespace {
    /// The first difference to another namespace, in words; none if inodes, blocks, leases, quotas, cache pools and counters agree.
    ///
    /// Replicas and lease times are not compared: no log carries them. Of a block being written only id and stamp are, and
    /// while files are open only the names used: how far a block is written is not logged.
    pub fn difference(&self, other: &Namespace) -> Option<String> {
        if self.state.ids() != other.state.ids() {
            return Some(format!("counters: {:?} and {:?}", self.state.ids(), other.state.ids()));
        }
        let (mine, theirs) =
            (self.state.rolling_upgrade().for_image(), other.state.rolling_upgrade().for_image());
        if mine != theirs {
            return Some(format!("rolling upgrades: {mine:?} and {theirs:?}"));
        }
        let (mine, theirs) = (self.state.cache().save(), other.state.cache().save());
        if mine != theirs {
            return Some(format!("cache pools and directives: {mine:?} and {theirs:?}"));
        }
        if self.state.tree().len() != other.state.tree().len() {
            return Some(format!(
                "{} and {} inodes",
                self.state.tree().len(),
                other.state.tree().len()
            ));
        }
        let mut open = vec![(self.state.tree().root(), other.state.tree().root())];
        while let Some((mine, theirs)) = open.pop() {
            let (left, right) = (self.describe(mine), other.describe(theirs));
            if left != right {
                return Some(format!("{}: {left} and {right}", self.state.tree().path(mine)));
            }
            let children = |namespace: &Namespace, slot: Slot| -> Vec<Slot> {
                let directory = namespace.state.tree().get(slot).as_directory();
                directory.map(|directory| directory.children.iter().collect()).unwrap_or_default()
            };
            open.extend(children(self, mine).into_iter().zip(children(other, theirs)));
        }
        None
    }

    /// The first directory whose kept sums are not what is below it, in words.
    pub fn miscounted(&self) -> Option<String> {
        let mut all = vec![self.state.tree().root()];
        let mut at = 0;
        while let Some(slot) = all.get(at).copied() {
            let directory = self.state.tree().get(slot).as_directory();
            all.extend(directory.into_iter().flat_map(|directory| directory.children.iter()));
            at += 1;
        }
        // From the leaves up: the sums that a directory's own are compared with are right.
        for slot in all.into_iter().rev() {
            let Some(directory) = self.state.tree().get(slot).as_directory() else { continue };
            let mut below = Usage::default();
            directory
                .children
                .iter()
                .for_each(|child| below.add(&self.state.ledger().usage_of(child)));
            if below != directory.below {
                let (path, kept) = (self.state.tree().path(slot), &directory.below);
                return Some(format!("{path} keeps {kept:?}, below it are {below:?}"));
            }
        }
        None
    }

    /// Everything of one inode that logs and images carry.
    pub(crate) fn describe(&self, slot: Slot) -> String {
        let inode = self.state.tree().get(slot);
        let permission = inode.permission;
        let common = format!(
            "{} {:?} {}:{}:{:o} mtime {} acl {:?} xattrs {:?}",
            inode.id,
            self.state.tree().name(slot),
            self.state.tree().user(permission),
            self.state.tree().group(permission),
            permission.mode(),
            inode.mtime(),
            inode.acl(),
            inode.xattrs(),
        );
        let own = match &inode.body {
            Body::Directory(directory) => {
                let (quota, below) = (directory.quota.as_deref(), &directory.below);
                let space = (self.state.leases().len() == 0).then_some(below);
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
                    self.state.leases().holder(inode.id),
                )
            }
            Body::Symlink(link) => format!("link to {:?}", link.target),
            Body::Free(_) => "nothing".to_owned(),
        };
        format!("{common} {own}")
    }

    fn describe_block(&self, id: zerohop_wire::BlockId, open: bool) -> String {
        let Some(stored) = self.state.blocks().get(id) else { return format!("{id} missing") };
        if open {
            // Each new try of the recovery has a stamp of its own, which no edit carries.
            let cut =
                self.state.blocks().lookup().recovery(id).and_then(|recovery| recovery.truncate);
            let cut = cut.map(|cut| (cut.id, cut.len));
            return format!("{} open, becomes {cut:?}", stored.block);
        }
        let done = self.state.blocks().is_complete(id);
        format!(
            "{} len {} x{} of {} done {done}",
            stored.block, stored.block.len, stored.replication, stored.file
        )
    }
}
