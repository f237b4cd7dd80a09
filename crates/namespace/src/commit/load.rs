//! Fills an empty state from an image. An image is the state that edits begin with: loading it commits none.

use super::DurableState;
use crate::quota::Quota;
use crate::rolling_upgrade::RollingUpgrade;
use crate::tree::{File, Inode, Slot, StringId};
use crate::{Ids, Result};
use zerohop_journal::types::{CacheDirectiveRecord, CachePool};
use zerohop_proto::hdfs::ErasureCodingPolicyProto;
use zerohop_wire::{Block, InodeId};

type Loaded = std::result::Result<(), String>;

impl DurableState {
    /// Fills this state, which must be empty, from an image.
    pub(crate) fn load_image(&mut self) -> ImageLoad<'_> {
        ImageLoad { state: self }
    }

    /// The upgrade recorded in the image cannot be rolled back, because no image from before it exists: it counts as
    /// not under way (`FSImageFormatProtobuf.Loader.loadNameSystemSection`).
    pub(crate) fn forget_rolling_upgrade(&mut self) {
        self.rolling_upgrade = RollingUpgrade::default();
    }
}

/// A state that is filled from an image.
pub(crate) struct ImageLoad<'s> {
    state: &'s mut DurableState,
}

impl ImageLoad<'_> {
    pub(crate) fn set_counters(&mut self, ids: Ids, upgrade: RollingUpgrade) {
        (self.state.ids, self.state.rolling_upgrade) = (ids, upgrade);
    }

    pub(crate) fn set_ec_policies(&mut self, policies: Vec<ErasureCodingPolicyProto>) {
        self.state.ec_policies = policies;
    }

    /// The number of a user's or group's name, which the image has once each.
    pub(crate) fn intern(&mut self, name: &str) -> StringId {
        self.state.tree.intern(name)
    }

    pub(crate) fn put_cache(
        &mut self,
        next_id: i64,
        pools: &[CachePool],
        directives: &[CacheDirectiveRecord],
    ) -> Result<()> {
        self.state.cache.load(next_id, pools, directives)
    }

    /// One inode with its blocks, of which the last may have to be cut.
    pub(crate) fn put_inode(
        &mut self,
        node: Inode,
        name: &str,
        blocks: &[Block],
        cut: Option<Block>,
    ) -> Loaded {
        let id = node.id;
        if id == InodeId::ROOT {
            return self.put_root(node);
        }
        if self.state.tree.find_any(id).is_some() {
            return Err(format!("it has inode {id} twice"));
        }
        let open = node.as_file().and_then(File::writer).map(|writer| writer.client_name.clone());
        let replication = node.as_file().map_or(0, File::replication);
        for (at, block) in blocks.iter().enumerate() {
            if self.state.blocks.get(block.id).is_some() {
                return Err(format!("it has block {} twice", block.id));
            }
            if open.is_some() && at + 1 == blocks.len() {
                self.state.block_edits().put_under_construction(*block, id, replication);
            } else {
                self.state.block_edits().put_complete(*block, id, replication);
            }
        }
        if let Some(holder) = open {
            self.state.leases.assign(&holder, id);
        }
        self.state.tree.add(node, name);
        match (blocks.last(), cut) {
            (Some(last), Some(cut)) => self.put_truncate(*last, cut),
            _ => Ok(()),
        }
    }

    /// Resumes a pending truncate: DataNodes are asked again as soon as replicas are known.
    fn put_truncate(&mut self, last: Block, cut: Block) -> Loaded {
        if cut.len >= last.len {
            let (have, len) = (last.len, cut.len);
            return Err(format!("block {last} of {have} bytes is to be truncated to {len}"));
        }
        self.state.block_edits().set_truncated(last.id, cut);
        Ok(())
    }

    fn put_root(&mut self, node: Inode) -> Loaded {
        if !node.is_directory() {
            return Err("its root is not a directory".to_owned());
        }
        let root = self.state.tree.change(self.state.tree.root());
        *root = node;
        if let Some(directory) = root.as_directory_mut() {
            directory.quota.get_or_insert_with(|| Box::new(Quota::of_root()));
        }
        Ok(())
    }

    /// Lists an inode in its directory; false if it is in one already or its name is taken.
    pub(crate) fn put_child(&mut self, directory: Slot, child: Slot) -> bool {
        self.state.tree.attach_last(directory, child)
    }

    /// The last inode id is at least this.
    pub(crate) fn raise_inode_id(&mut self, last: InodeId) {
        self.state.ids.inode = self.state.ids.inode.max(last);
    }

    /// All inodes are in their directories: sums them up. `slots` names all, a directory before its children.
    pub(crate) fn finish(&mut self, slots: &[Slot]) {
        self.state.inode_edits().count_usage(slots);
    }
}
