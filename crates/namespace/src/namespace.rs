//! The namespace of one NameNode: its parts, and the operations that borrow them.

use crate::access::PermissionChecker;
use crate::apply::{self, ApplyError};
use crate::blocks::{BlockManager, BlockState, Heartbeat, HeartbeatReply, Now, StorageReport};
use crate::cache::{CacheListing, CacheManager, CacheScan, CacheScanner};
use crate::call::{Call, LoggedEdit, check_safe_mode};
use crate::commit::DurableState;
use crate::deleted::DeletedSubtrees;
use crate::equal::Comparison;
use crate::image::{ImageInfo, ImageLoader, ImageSaver};
use crate::lease_clock::LeaseClock;
use crate::ops::acl::Acls;
use crate::ops::attributes::Attributes;
use crate::ops::block_recovery::BlockRecoveries;
use crate::ops::directories::Directories;
use crate::ops::files::Files;
use crate::ops::lease::LeaseManager;
use crate::ops::policy::StoragePolicies;
use crate::ops::quota::Quotas;
use crate::ops::rolling_upgrade::RollingUpgrades;
use crate::ops::writes::FileWrites;
use crate::ops::xattr::XAttrs;
use crate::safe_mode_notice::SafeModeNotice;
use crate::subtree::Subtrees;
use crate::view::View;
use crate::view::summary::Summaries;
use crate::{Ids, NamespaceParams, NamespaceStats, OpContext, Result, RollingUpgrade};
use std::io;
use zerohop_journal::image::{ImageReader, ImageWriter};
use zerohop_journal::{EditOp, JournalError};
use zerohop_wire::{BlockId, InodeId, TxId};

/// The whole namespace of one NameNode.
pub struct Namespace {
    params: NamespaceParams,
    /// What images and edit logs carry.
    state: DurableState,
    /// Set while in safe mode: the text with which every change is refused (`SafeMode::tip`).
    safe_mode: Option<SafeModeNotice>,
    /// Edits that calls have made since they were last taken.
    edits: Vec<LoggedEdit>,
    /// Subtrees that were deleted and whose inodes are still to be freed.
    deleted: DeletedSubtrees,
    /// The scan of the cache directives that is under way.
    cache_scan: Option<CacheScan>,
    lease_clock: LeaseClock,
}

/// The parts.
impl Namespace {
    /// An empty namespace: only the root directory, owned by the superuser.
    pub fn new(params: NamespaceParams, blocks: BlockManager) -> Self {
        let state = DurableState::new(&params, blocks);
        Self {
            params,
            state,
            safe_mode: None,
            edits: Vec::new(),
            deleted: DeletedSubtrees::default(),
            cache_scan: None,
            lease_clock: LeaseClock::default(),
        }
    }

    /// The settings.
    pub fn params(&self) -> &NamespaceParams {
        &self.params
    }

    /// Changes the settings; those that are only read at the start keep their effect.
    pub fn set_params(&mut self, params: NamespaceParams) {
        self.params = params;
    }

    /// Counters: last inode id, generation stamps, block ids.
    pub fn ids(&self) -> &Ids {
        self.state.ids()
    }

    /// Which block belongs to which file and which storages hold it.
    pub fn blocks(&self) -> &BlockManager {
        self.state.blocks()
    }

    /// The same, for what DataNodes report and operators order.
    pub fn blocks_mut(&mut self) -> &mut BlockManager {
        self.state.blocks_mut()
    }

    /// Whether changes are refused because of safe mode.
    pub fn is_in_safe_mode(&self) -> bool {
        self.safe_mode.is_some()
    }

    /// Enters safe mode, with what clients are told, or leaves it.
    pub fn set_safe_mode(&mut self, notice: Option<SafeModeNotice>) {
        self.safe_mode = notice;
    }

    /// Refuses in safe mode. `what` is Hadoop's text for that (`FSNamesystem.checkNameNodeSafeMode`).
    ///
    /// # Errors
    /// `Error::SafeMode`, or `Error::TryAgain` if it ends by itself.
    pub fn check_safe_mode(&self, what: impl FnOnce() -> String) -> Result<()> {
        check_safe_mode(self.safe_mode.as_ref(), what)
    }

    /// Edits made since the last call, in order; to be journaled before the answer leaves.
    ///
    /// An operation that failed may have made some (an expired lease that was taken over): take them all the same.
    pub fn take_edits(&mut self) -> Vec<LoggedEdit> {
        std::mem::take(&mut self.edits)
    }

    #[cfg(test)]
    pub(crate) fn state(&self) -> &DurableState {
        &self.state
    }

    #[cfg(test)]
    pub(crate) fn state_mut(&mut self) -> &mut DurableState {
        &mut self.state
    }

    #[cfg(test)]
    pub(crate) fn cache_scan(&self) -> Option<&CacheScan> {
        self.cache_scan.as_ref()
    }
}

/// Questions.
impl Namespace {
    /// The namespace as a caller may see it.
    pub fn view<'n>(&'n self, ctx: &'n OpContext) -> View<'n> {
        let (params, state) = (&self.params, &self.state);
        View { ctx, params, state, safe_mode: self.safe_mode.as_ref() }
    }

    fn access<'n>(&'n self, ctx: &'n OpContext) -> PermissionChecker<'n> {
        PermissionChecker { params: &self.params, tree: self.state.tree(), ctx }
    }

    /// Checks of the caller's permissions on whole subtrees.
    pub fn subtrees<'n>(&'n self, ctx: &'n OpContext) -> Subtrees<'n> {
        Subtrees { access: self.access(ctx) }
    }

    /// Content summaries and quota usages of subtrees whose permissions were checked.
    pub fn summaries(&self) -> Summaries<'_> {
        Summaries { state: &self.state }
    }

    /// Cache pools and directives as a caller may see them.
    pub fn cache_listing<'n>(&'n self, ctx: &'n OpContext) -> CacheListing<'n> {
        CacheListing { cache: self.state.cache(), access: self.access(ctx) }
    }

    /// How many changes of pools and directives there were, if no scan has come to its end since the last one; never where
    /// caching is off.
    pub fn cache_changes(&self) -> Option<u64> {
        self.state.cache().unscanned_changes().filter(|_| self.params.caching_enabled)
    }

    /// Whether there is any directive that may be carried out.
    pub fn has_cache_directives(&self) -> bool {
        self.params.caching_enabled && self.state.cache().has_directives()
    }

    /// The full path of an inode; none if it was deleted.
    pub fn path_of(&self, id: InodeId) -> Option<String> {
        let tree = self.state.tree();
        tree.find(id).map(|slot| tree.path(slot))
    }

    /// The block whose replicas a file's next block, or its end, is waiting for; none where no report of a replica could end
    /// the wait.
    pub fn lacking_block(&self, path: &str, file_id: InodeId) -> Option<BlockId> {
        self.state.files().lacking_block(path, file_id)
    }

    /// Counts for metrics.
    pub fn stats(&self) -> NamespaceStats {
        NamespaceStats {
            inodes: self.state.tree().len() as u64,
            open_files: self.state.leases().len() as u64,
            lease_holders: self.state.leases().holder_count() as u64,
            blocks: self.state.blocks().block_count(),
            ..NamespaceStats::default()
        }
    }

    /// The last rolling upgrade, and how far it is.
    pub fn rolling_upgrade(&self) -> RollingUpgrade {
        self.state.rolling_upgrade()
    }

    /// The first difference to another namespace, in words; none if inodes, blocks, leases, quotas, cache pools and counters agree.
    ///
    /// Replicas and lease times are not compared: no log carries them. Of a block being written only id and stamp are, and
    /// while files are open only the names used: how far a block is written is not logged.
    pub fn difference(&self, other: &Namespace) -> Option<String> {
        Comparison(&self.state).difference(Comparison(&other.state))
    }

    /// The first directory whose kept sums are not what is below it, in words.
    pub fn miscounted(&self) -> Option<String> {
        Comparison(&self.state).miscounted()
    }
}

/// Changes that calls make.
impl Namespace {
    fn call<'n>(&'n mut self, ctx: &'n OpContext) -> Call<'n> {
        Call {
            ctx,
            params: &self.params,
            state: &mut self.state,
            lease_clock: &mut self.lease_clock,
            deleted: &mut self.deleted,
            edits: &mut self.edits,
            safe_mode: self.safe_mode.as_ref(),
        }
    }

    /// Creates, appends to, truncates and concatenates files.
    pub fn files<'n>(&'n mut self, ctx: &'n OpContext) -> Files<'n> {
        Files { call: self.call(ctx) }
    }

    /// Adds blocks to a file that is open for writing, changes its pipeline and closes it.
    pub fn file_writes<'n>(&'n mut self, ctx: &'n OpContext) -> FileWrites<'n> {
        FileWrites { call: self.call(ctx) }
    }

    /// Applies the outcome of block recoveries.
    pub fn block_recoveries<'n>(&'n mut self, ctx: &'n OpContext) -> BlockRecoveries<'n> {
        BlockRecoveries { call: self.call(ctx) }
    }

    /// Renews and ends leases.
    pub fn lease_manager<'n>(&'n mut self, ctx: &'n OpContext) -> LeaseManager<'n> {
        LeaseManager { call: self.call(ctx) }
    }

    /// Makes directories, renames and deletes.
    pub fn directories<'n>(&'n mut self, ctx: &'n OpContext) -> Directories<'n> {
        Directories { call: self.call(ctx) }
    }

    /// Changes modes, owners, times and replication.
    pub fn attributes<'n>(&'n mut self, ctx: &'n OpContext) -> Attributes<'n> {
        Attributes { call: self.call(ctx) }
    }

    /// Changes ACLs.
    pub fn acls<'n>(&'n mut self, ctx: &'n OpContext) -> Acls<'n> {
        Acls { call: self.call(ctx) }
    }

    /// Changes extended attributes.
    pub fn xattrs<'n>(&'n mut self, ctx: &'n OpContext) -> XAttrs<'n> {
        XAttrs { call: self.call(ctx) }
    }

    /// Changes quotas.
    pub fn quotas<'n>(&'n mut self, ctx: &'n OpContext) -> Quotas<'n> {
        Quotas { call: self.call(ctx) }
    }

    /// Changes storage policies.
    pub fn storage_policies<'n>(&'n mut self, ctx: &'n OpContext) -> StoragePolicies<'n> {
        StoragePolicies { call: self.call(ctx) }
    }

    /// Changes cache pools and directives.
    pub fn cache_manager<'n>(&'n mut self, ctx: &'n OpContext) -> CacheManager<'n> {
        CacheManager { call: self.call(ctx) }
    }

    /// Begins and ends rolling upgrades.
    pub fn rolling_upgrades<'n>(&'n mut self, ctx: &'n OpContext) -> RollingUpgrades<'n> {
        RollingUpgrades { call: self.call(ctx) }
    }

    /// Scans the cache directives.
    pub fn cache_scanner(&mut self) -> CacheScanner<'_> {
        CacheScanner { state: &mut self.state, scan: &mut self.cache_scan }
    }

    /// Frees up to `max` inodes and blocks of deleted subtrees; true while there are more. Call between operations.
    pub fn free_deleted(&mut self, max: usize) -> bool {
        self.deleted.free(&mut self.state, max)
    }
}

/// Images and edit logs.
impl Namespace {
    /// Fills an empty namespace from an image.
    ///
    /// `now_ms`: since the epoch; tokens that ran out before are dropped.
    ///
    /// # Errors
    /// `JournalError` for a damaged image or one that uses what is not supported (snapshots, erasure coding,
    /// encryption zones, delegation tokens).
    pub fn load_image(
        &mut self,
        image: &ImageReader,
        now_ms: u64,
    ) -> std::result::Result<ImageInfo, JournalError> {
        ImageLoader { state: &mut self.state }.load(image, now_ms)
    }

    /// Writes all sections of an image; deleted subtrees that are still to be freed are not in it.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn save_image(&self, out: &mut ImageWriter<'_>, info: ImageInfo) -> io::Result<()> {
        ImageSaver { state: &self.state }.save(out, info)
    }

    /// An upgrade that is recorded in the image but has no image to roll back to counts as not under way.
    pub fn forget_rolling_upgrade(&mut self) {
        self.state.forget_rolling_upgrade();
    }

    /// Makes the change of one edit from the log.
    ///
    /// A block whose length the edit makes final is complete: the NameNode that wrote the log had seen enough replicas, or
    /// will see to them. DataNodes may have reported to this one already.
    ///
    /// # Errors
    /// When it does not fit what is there, or belongs to a feature that is not supported; nothing after it may be applied.
    pub fn apply(&mut self, txid: TxId, op: &EditOp) -> std::result::Result<(), ApplyError> {
        self.apply_in_pieces(txid, op)?;
        self.free_deleted(usize::MAX);
        Ok(())
    }

    /// As [`Namespace::apply`], of a namespace that is served: what a large deletion leaves is for
    /// [`Namespace::free_deleted`].
    ///
    /// # Errors
    /// As there.
    pub fn apply_in_pieces(
        &mut self,
        txid: TxId,
        op: &EditOp,
    ) -> std::result::Result<(), ApplyError> {
        apply::apply(&mut self.state, &mut self.deleted, txid, op)
    }
}

/// Events.
impl Namespace {
    /// The namespace is loaded: safe mode starts counting, `now` being the start.
    pub fn start(&mut self, now: Now) {
        let last = self.state.ids().stamp;
        self.state.blocks_mut().start(now, last);
    }

    /// Time passes for the block manager, which is told each file's policy: [`tick`](BlockManager::tick).
    pub fn tick(&mut self, now: Now) {
        self.state.tick(now);
    }

    /// Takes in a heartbeat: [`heartbeat`](BlockManager::heartbeat).
    pub fn heartbeat(
        &mut self,
        uuid: &str,
        beat: Heartbeat,
        storages: &[StorageReport],
        now: Now,
    ) -> HeartbeatReply {
        self.state.heartbeat(uuid, beat, storages, now)
    }

    /// Chooses replicas that the last changes made superfluous, and orders their deletion:
    /// [`delete_extra`](BlockManager::delete_extra).
    pub fn delete_extra(&mut self) {
        self.state.delete_extra();
    }

    /// This namespace follows the edits of another NameNode from here on: DataNodes get no commands, and what they report of
    /// blocks waits until those blocks' edits have been applied.
    pub fn become_standby(&mut self) {
        self.settle_committed_blocks();
        self.cache_scan = None;
        let ids = *self.state.ids();
        self.state.blocks_mut().become_standby(&ids);
    }

    /// Gives the blocks of open files the state that the edits have, and that replay gives them: those before the last one are
    /// complete, and of the last one no length is final.
    fn settle_committed_blocks(&mut self) {
        let leases = self.state.leases().holders().flat_map(|(_, files)| files.iter().copied());
        let open: Vec<_> = leases.filter_map(|file| self.state.tree().find(file)).collect();
        for slot in open {
            let blocks = self.state.files().stored_blocks(slot);
            let Some((_, before)) = blocks.split_last() else { continue };
            for block in before.iter().map(|block| block.id) {
                let stored = self.state.blocks().get(block);
                if stored.is_some_and(|stored| stored.state == BlockState::Committed) {
                    self.state.blocks_mut().under_construction().complete_replayed(block);
                }
            }
            self.state.forget_last_commit(slot);
        }
    }

    /// All edits of the NameNode that was active before have been applied. No client could renew its lease here, so all
    /// count as renewed now.
    pub fn become_active(&mut self, now: Now) {
        self.lease_clock.start(now.mono_ms);
        self.state.blocks_mut().become_active();
        self.state.blocks_mut().under_construction().await_reports(now.mono_ms);
    }
}
