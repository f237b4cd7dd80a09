//! The state that images and edit logs carry. Only the files of `commit` write its fields.

use super::key::CommitKey;
use crate::blocks::{BlockEdits, BlockManager, Heartbeat, HeartbeatReply, Now, StorageReport};
use crate::cache::{Cache, CacheCounts};
use crate::lease::Leases;
use crate::policies;
use crate::rename_check::RenameCheck;
use crate::rolling_upgrade::RollingUpgrade;
use crate::stored_files::StoredFiles;
use crate::tree::{Slot, Tree};
use crate::usage::QuotaLedger;
use crate::walk::Paths;
use crate::{Ids, NamespaceParams};
use zerohop_proto::hdfs::ErasureCodingPolicyProto;

/// The durable state of a namespace, and the block manager that keeps its blocks.
pub(crate) struct DurableState {
    pub(super) tree: Tree,
    pub(super) blocks: BlockManager,
    pub(super) leases: Leases,
    pub(super) cache: Cache,
    pub(super) ids: Ids,
    /// The erasure-coding policies of the loaded image: saved in our images, not used here.
    pub(super) ec_policies: Vec<ErasureCodingPolicyProto>,
    pub(super) rolling_upgrade: RollingUpgrade,
    /// dfs.replication.max: higher replications in edits are lowered to it.
    pub(super) replication_max: u16,
}

impl DurableState {
    /// An empty namespace: only the root directory, owned by the superuser.
    pub(crate) fn new(params: &NamespaceParams, blocks: BlockManager) -> Self {
        Self {
            tree: Tree::new(&params.superuser, &params.supergroup, 0o755),
            blocks,
            leases: Leases::default(),
            cache: Cache::default(),
            ids: Ids::default(),
            ec_policies: Vec::new(),
            rolling_upgrade: RollingUpgrade::default(),
            replication_max: params.replication_max,
        }
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Resolves paths.
    pub(crate) fn paths(&self) -> Paths<'_> {
        Paths(&self.tree)
    }

    /// Checks renames.
    pub(crate) fn rename_check(&self) -> RenameCheck<'_> {
        RenameCheck(&self.tree)
    }

    /// Files and their blocks.
    pub(crate) fn files(&self) -> StoredFiles<'_> {
        StoredFiles { tree: &self.tree, blocks: &self.blocks }
    }

    /// The quota ledger.
    pub(crate) fn ledger(&self) -> QuotaLedger<'_> {
        QuotaLedger { tree: &self.tree, blocks: &self.blocks }
    }

    /// The inodes that edits have changed since the last call, as the place saw them that comes before each change.
    #[cfg(test)]
    pub(crate) fn take_seen(&mut self) -> Vec<zerohop_wire::InodeId> {
        std::mem::take(&mut self.tree.seen)
    }

    pub(crate) fn blocks(&self) -> &BlockManager {
        &self.blocks
    }

    /// The block manager, for what no edit carries: replicas, pipelines, recoveries, redundancy.
    pub(crate) fn blocks_mut(&mut self) -> &mut BlockManager {
        &mut self.blocks
    }

    /// Changes blocks.
    pub(super) fn block_edits(&mut self) -> BlockEdits<'_> {
        self.blocks.edits(CommitKey::new())
    }

    pub(crate) fn leases(&self) -> &Leases {
        &self.leases
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Sets the figures of a scan of the cache directives that began after so many changes.
    pub(crate) fn set_cache_stats(&mut self, counted: CacheCounts, changes: u64) {
        self.cache.set_stats(counted, changes);
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.ids
    }

    pub(crate) fn ec_policies(&self) -> &[ErasureCodingPolicyProto] {
        &self.ec_policies
    }

    pub(crate) fn rolling_upgrade(&self) -> RollingUpgrade {
        self.rolling_upgrade
    }

    /// Runs the block manager's periodic work, which asks for files' storage policies.
    pub(crate) fn tick(&mut self, now: Now) {
        let tree = &self.tree;
        self.blocks.tick(now, &|file| policies::of_file(tree, file));
    }

    /// Answers a heartbeat; the answer depends on files' storage policies.
    pub(crate) fn heartbeat(
        &mut self,
        uuid: &str,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
    ) -> HeartbeatReply {
        let tree = &self.tree;
        let policy_of = |file| policies::of_file(tree, file);
        self.blocks.heartbeat(uuid, beat, storages, now, &policy_of)
    }

    /// Orders the deletion of superfluous replicas.
    pub(crate) fn delete_extra(&mut self) {
        let tree = &self.tree;
        self.blocks.delete_extra(&|file| policies::of_file(tree, file));
    }

    /// The policy set on an inode itself.
    pub(crate) fn local_policy(&self, slot: Slot) -> u8 {
        policies::local(&self.tree, slot)
    }

    /// The policy of an inode or of the nearest directory above that has one.
    pub(crate) fn effective_policy(&self, slot: Slot) -> u8 {
        policies::effective(&self.tree, slot)
    }
}
