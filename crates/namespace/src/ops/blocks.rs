//! Blocks of a file being written: added, abandoned, given a new pipeline.

use crate::blocks::{BlockLocations, BlockManager, BlockState, PlacementRequest, StorageIdx};
use crate::fail::{fail, io, not_found};
use crate::resolve::Located;
use crate::tree::Slot;
use crate::usage::BlocksChange;
use crate::{
    AddBlockRequest, AdditionalDatanodeRequest, LocatedBlock, Namespace, OpContext, Result,
};
use zerohop_journal::op::{AddBlock, UpdateBlocks};
use zerohop_wire::{Block, BlockId, InodeId, JavaException};

/// The offset Hadoop writes where a block's place in the file does not matter (-1).
const NO_OFFSET: u64 = u64::MAX;

/// Same id and stamp, or both absent (`Block.matchingIdAndGenStamp`).
pub(crate) fn same_block(a: Option<Block>, b: Option<Block>) -> bool {
    a.map(|block| (block.id, block.stamp)) == b.map(|block| (block.id, block.stamp))
}

impl Namespace {
    /// The next block for a file being written, with DataNodes to write it to; a repeated call gives the same block.
    ///
    /// # Errors
    /// As Hadoop's `addBlock`; `NotReplicatedYetException` while the block before the last misses replicas.
    pub fn add_block(
        &mut self,
        ctx: &OpContext,
        request: &AddBlockRequest<'_>,
    ) -> Result<LocatedBlock> {
        let path = request.path;
        self.begin(ctx, || format!("Cannot add block to {path}"))?;
        let located = self.resolve_file(ctx, path, request.file_id)?;
        self.check_object_limit(0)?;
        let slot = self.check_lease(&located, Some(request.client_name), request.file_id)?;
        if let Some(last) = self.retried_block(slot, &located.path, request.previous)? {
            return self.retry_block(ctx, request, slot, last);
        }
        self.check_room_for_block(slot, path)?;
        let targets = self.choose_for_block(ctx, request, slot)?;
        let freed = self.freed_by_commit(slot, request.previous);
        let usage = self.space_delta(slot, self.block_size(slot).saturating_sub(freed) as i64);
        self.verify_quota(self.state.tree.get(slot).parent, &usage, None)?;
        self.commit_last_block(slot, request.previous)?;
        let penultimate = self.last_stored(slot);
        let block = self.next_block()?;
        self.push_block(slot, block);
        self.state.blocks.set_targets(block.id, &targets);
        let path = self.edit_path_of(located.path, slot);
        self.log(AddBlock { path, penultimate, last: block });
        Ok(self.located_for_write(slot, block, &targets))
    }

    /// The block whose replicas a file's next block, or its end, is waiting for. None: for none that a report could bring.
    pub fn lacking_block(&self, path: &str, file_id: InodeId) -> Option<BlockId> {
        let slot = match file_id {
            InodeId::GRANDFATHER => self.walk(path).ok()?.last()?,
            id => self.state.tree.find(id)?,
        };
        let blocks = &self.state.tree.get(slot).as_file()?.blocks;
        let mut last_two = blocks.penultimate().into_iter().chain(blocks.last());
        last_two.find(|id| !self.state.blocks.is_complete(*id))
    }

    /// Further DataNodes for a pipeline that lost some.
    ///
    /// # Errors
    /// As Hadoop's `getAdditionalDatanode`.
    pub fn additional_datanode(
        &mut self,
        ctx: &OpContext,
        request: &AdditionalDatanodeRequest<'_>,
    ) -> Result<LocatedBlock> {
        let (path, block) = (request.path, request.block);
        self.begin(ctx, || format!("Cannot add datanode; src={path}, blk={block}"))?;
        let located = self.resolve_file(ctx, path, request.file_id)?;
        let slot = self.check_lease(&located, Some(request.client_name), request.file_id)?;
        let chosen = self
            .state
            .blocks
            .resolve_storages(request.existing.iter().map(|(node, id)| (&**node, &**id)))?;
        let machine =
            self.writer(slot).map(|writer| writer.client_machine.clone()).unwrap_or_default();
        let placement = PlacementRequest {
            path: &located.path,
            replicas: request.count,
            client_host: &machine,
            block_size: self.block_size(slot),
            excluded: request.excluded,
            chosen: &chosen,
            storage_policy: self.effective_policy(slot),
            ..PlacementRequest::default()
        };
        let targets = self.state.blocks.choose_more_targets(&placement);
        // Clients find the new ones by comparing: the old ones are listed too.
        let all: Vec<StorageIdx> = chosen.iter().chain(&targets).copied().collect();
        let replicas = self.state.blocks.describe(&all);
        Ok(LocatedBlock {
            offset: NO_OFFSET,
            locations: BlockLocations { block, replicas, corrupt: false },
        })
    }

    /// Takes the last block out again: no DataNode could be reached for it.
    ///
    /// # Errors
    /// As Hadoop's `abandonBlock`.
    pub fn abandon_block(
        &mut self,
        ctx: &OpContext,
        path: &str,
        file_id: InodeId,
        client_name: &str,
        block: Block,
    ) -> Result<()> {
        self.begin(ctx, || format!("Cannot abandon block {block} for file{path}"))?;
        let located = self.resolve_file(ctx, path, file_id)?;
        let slot = self.check_lease(&located, Some(client_name), file_id)?;
        if self.last_block(slot) == Some(block.id) {
            self.drop_last_block(slot, block.id);
            self.persist_blocks(slot);
        }
        Ok(())
    }

    /// A new stamp for the last block: its pipeline is to be set up again. The answer names no DataNodes.
    ///
    /// # Errors
    /// As Hadoop's `updateBlockForPipeline`.
    pub fn update_block_for_pipeline(
        &mut self,
        ctx: &OpContext,
        block: Block,
        client_name: &str,
    ) -> Result<LocatedBlock> {
        self.check_open_block(ctx, block, client_name)?;
        let block = Block { stamp: self.next_stamp()?, ..block };
        let locations = BlockLocations { block, replicas: Vec::new(), corrupt: false };
        Ok(LocatedBlock { offset: NO_OFFSET, locations })
    }

    /// The pipeline goes on with other DataNodes, a new stamp and what has been acknowledged.
    ///
    /// # Errors
    /// As Hadoop's `updatePipeline`.
    pub fn update_pipeline(
        &mut self,
        ctx: &OpContext,
        client_name: &str,
        old: Block,
        new: Block,
        storages: &[(String, String)],
    ) -> Result<()> {
        let slot = self.check_open_block(ctx, old, client_name)?;
        let Some(last) = self.last_stored(slot).filter(|last| last.id == new.id) else {
            return io(format!(
                "{new} and {old} is not the last block of {}",
                self.state.tree.path(slot)
            ));
        };
        if new.stamp <= last.stamp {
            return io(format!(
                "Update {old} but the new block {new} does not have a larger generation stamp than the last block {last}"
            ));
        }
        if new.len < last.len {
            let (old_len, len) = (old.len, new.len);
            return io(format!(
                "Update {old} (size={old_len}) to a smaller size block {new} (size={len})"
            ));
        }
        if new.stamp > self.state.ids.stamp {
            // A client gets its stamps from `updateBlockForPipeline`: others would use the numbers up.
            return io(format!(
                "Update {old} but the generation stamp of the new block {new} was never given out; the last one is {}",
                self.state.ids.stamp
            ));
        }
        let targets = self
            .state
            .blocks
            .resolve_storages(storages.iter().map(|(node, id)| (&**node, &**id)))?;
        self.change_blocks(slot, |blocks| {
            blocks.update_pipeline(last.id, new.stamp, new.len, &targets)
        })?;
        let op = self.update_op(slot);
        self.log_call(ctx, op);
        Ok(())
    }

    /// `FSNamesystem.checkUCBlock`
    fn check_open_block(
        &mut self,
        ctx: &OpContext,
        block: Block,
        client_name: &str,
    ) -> Result<Slot> {
        self.begin(ctx, || {
            format!("Cannot get a new generation stamp and an access token for block {block}")
        })?;
        let Some(stored) = self.state.blocks.get(block.id) else {
            return io(format!("{block} does not exist."));
        };
        if stored.state != BlockState::UnderConstruction {
            let state = state_name(stored.state);
            return io(format!(
                "Unexpected BlockUCState: {block} is {state} but not UNDER_CONSTRUCTION"
            ));
        }
        let slot = self.state.tree.find(stored.file);
        let Some((slot, writer)) = slot.and_then(|slot| Some((slot, self.writer(slot)?))) else {
            return io(format!(
                "The file {block} belonged to does not exist or it is not under construction."
            ));
        };
        if &*writer.client_name != client_name {
            let message =
                format!("Lease mismatch: {block} is accessed by a non lease holder {client_name}");
            return fail(JavaException::LeaseExpired, message);
        }
        Ok(slot)
    }

    /// `FSNamesystem.checkLease`
    pub(crate) fn check_lease(
        &self,
        located: &Located<'_>,
        holder: Option<&str>,
        id: InodeId,
    ) -> Result<Slot> {
        let what = || {
            let pending = holder.filter(|holder| self.state.leases.exists(holder)).map_or_else(
                || format!("Holder {} does not have any open files.", holder.unwrap_or("null")),
                |holder| {
                    format!(
                        "[Lease.  Holder: {holder}, pending creates: {}]",
                        self.state.leases.len_of(holder)
                    )
                },
            );
            format!("{} (inode {id}) {pending}", located.path)
        };
        let Some(slot) = located.last() else {
            return not_found(format!("File does not exist: {}", what()));
        };
        let Some(file) = self.state.tree.get(slot).as_file() else {
            return fail(
                JavaException::LeaseExpired,
                format!("INode is not a regular file: {}", what()),
            );
        };
        let Some(writer) = file.writer() else {
            return fail(
                JavaException::LeaseExpired,
                format!("File is not open for writing: {}", what()),
            );
        };
        match holder {
            Some(holder) if &*writer.client_name != holder => {
                let owner = &writer.client_name;
                let message =
                    format!("Client (={holder}) is not the lease owner (={owner}: {}", what());
                fail(JavaException::LeaseExpired, message)
            }
            _ => Ok(slot),
        }
    }

    /// The last block if the call repeats one that was answered; none if it asks for a new one.
    fn retried_block(
        &self,
        slot: Slot,
        path: &str,
        previous: Option<Block>,
    ) -> Result<Option<Block>> {
        let last = self.last_stored(slot);
        if same_block(previous, last) {
            return Ok(None);
        }
        if let (None, Some(block)) = (previous, last)
            && block.len >= self.block_size(slot)
            && self.state.blocks.is_complete(block.id)
        {
            // An append to a file that ends with a full block.
            return Ok(None);
        }
        let penultimate =
            self.state.tree.get(slot).as_file().and_then(|file| file.blocks.penultimate());
        let penultimate =
            penultimate.and_then(|id| self.state.blocks.get(id)).map(|stored| stored.block);
        match last {
            Some(last) if same_block(penultimate, previous) && last.len == 0 => Ok(Some(last)),
            Some(last) if same_block(penultimate, previous) => io(format!(
                "Request looked like a retry to allocate block {last} but it already contains {} bytes",
                last.len
            )),
            _ => {
                let shown = |block: Option<Block>| {
                    block.map_or("null".to_owned(), |block| block.to_string())
                };
                io(format!(
                    "Cannot allocate block in {path}: passed 'previous' block {} does not match actual last block in \
                     file {}",
                    shown(previous),
                    shown(last)
                ))
            }
        }
    }

    fn retry_block(
        &mut self,
        ctx: &OpContext,
        request: &AddBlockRequest<'_>,
        slot: Slot,
        last: Block,
    ) -> Result<LocatedBlock> {
        let mut targets = self.state.blocks.targets(last.id);
        if targets.is_empty() {
            targets = self.choose_for_block(ctx, request, slot)?;
            self.state.blocks.set_targets(last.id, &targets);
        }
        Ok(self.located_for_write(slot, last, &targets))
    }

    fn check_room_for_block(&self, slot: Slot, path: &str) -> Result<()> {
        let Some(file) = self.state.tree.get(slot).as_file() else { return Ok(()) };
        if file.blocks.penultimate().is_some_and(|id| !self.state.blocks.is_complete(id)) {
            return fail(JavaException::NotReplicatedYet, format!("Not replicated yet: {path}"));
        }
        let (count, limit) = (file.blocks.as_slice().len(), self.params.blocks_per_file_max);
        if count >= limit {
            return io(format!(
                "File has reached the limit on maximum number of blocks (dfs.namenode.fs-limits.max-blocks-per-file): \
                 {count} >= {limit}"
            ));
        }
        Ok(())
    }

    /// Bytes of the last block's charge that its commit gives back: it was charged as a full one.
    fn freed_by_commit(&self, slot: Slot, committed: Option<Block>) -> u64 {
        let Some(committed) = committed else { return 0 };
        match self.state.blocks.get(committed.id).map(|stored| stored.state) {
            Some(BlockState::UnderConstruction) => {
                self.block_size(slot).saturating_sub(committed.len)
            }
            _ => 0,
        }
    }

    fn choose_for_block(
        &self,
        _ctx: &OpContext,
        request: &AddBlockRequest<'_>,
        slot: Slot,
    ) -> Result<crate::blocks::Storages> {
        let Some(file) = self.state.tree.get(slot).as_file() else { return io("not a file") };
        let machine = file.writer().map(|writer| writer.client_machine.clone()).unwrap_or_default();
        self.state.blocks.choose_targets(&PlacementRequest {
            path: request.path,
            replicas: file.replication().into(),
            client_host: &machine,
            block_size: file.block_size(),
            excluded: request.excluded,
            favored: request.favored,
            chosen: &[],
            unusable: &[],
            storage_policy: self.effective_policy(slot),
            avoid_local: request.avoid_local,
            ignore_locality: request.ignore_locality,
        })
    }

    pub(crate) fn block_size(&self, slot: Slot) -> u64 {
        self.state.tree.get(slot).as_file().map_or(0, |file| file.block_size())
    }

    /// The last block as the block manager has it.
    pub(crate) fn last_stored(&self, slot: Slot) -> Option<Block> {
        self.state.blocks.get(self.last_block(slot)?).map(|stored| stored.block)
    }

    fn located_for_write(&self, slot: Slot, block: Block, targets: &[StorageIdx]) -> LocatedBlock {
        let locations =
            BlockLocations { block, replicas: self.state.blocks.describe(targets), corrupt: false };
        LocatedBlock { offset: self.file_len(slot), locations }
    }

    /// The client is done with the last block: its length counts from now on.
    pub(crate) fn commit_last_block(&mut self, slot: Slot, committed: Option<Block>) -> Result<()> {
        let (Some(committed), Some(last)) = (committed, self.last_block(slot)) else {
            return Ok(());
        };
        let Some(stored) = self.state.blocks.get(last) else { return Ok(()) };
        match stored.state {
            BlockState::Complete => Ok(()),
            BlockState::UnderRecovery => {
                io(format!("Commit or complete block {committed}, whereas it is under recovery."))
            }
            _ if committed.id != last => {
                io(format!("Commit block {committed}, which is not the last block {last}"))
            }
            _ => self.change_blocks(slot, |blocks| blocks.commit(committed).map(drop)),
        }
    }

    /// Does something to a file's blocks and charges the folders above for the difference.
    pub(crate) fn change_blocks<T>(
        &mut self,
        slot: Slot,
        change: impl FnOnce(&mut BlockManager) -> Result<T>,
    ) -> Result<T> {
        let before = self.charge_of_last(slot);
        let result = change(&mut self.state.blocks);
        let after = self.charge_of_last(slot);
        self.charge_blocks(slot, after.less(before));
        result
    }

    /// Only the last block's charge and length can change while a file is written.
    fn charge_of_last(&self, slot: Slot) -> BlocksChange {
        let Some(stored) = self.last_block(slot).and_then(|last| self.state.blocks.get(last))
        else {
            return BlocksChange::default();
        };
        let length = stored.block.len as i64;
        let bytes = match stored.state {
            BlockState::Complete | BlockState::Committed => length,
            _ => self.block_size(slot) as i64,
        };
        BlocksChange { blocks: 1, bytes, length }
    }

    /// Appends an empty block that a client is going to write.
    pub(crate) fn push_block(&mut self, slot: Slot, block: Block) {
        let id = self.state.tree.get(slot).id;
        let Some(file) = self.state.tree.get_mut(slot).as_file_mut() else { return };
        let replication = file.replication();
        file.blocks.push(block.id);
        self.state.blocks.put_under_construction(block, id, replication);
        self.charge_blocks(slot, self.charge_of_last(slot));
    }

    /// Takes the last block out of a file and forgets it.
    pub(crate) fn drop_last_block(&mut self, slot: Slot, last: BlockId) {
        let charged = self.charge_of_last(slot);
        if let Some(file) = self.state.tree.get_mut(slot).as_file_mut() {
            let count = file.blocks.as_slice().len();
            file.blocks.truncate(count.saturating_sub(1));
        }
        self.state.blocks.remove(last);
        self.charge_blocks(slot, BlocksChange::default().less(charged));
    }

    /// All blocks of a file as the block manager has them.
    pub(crate) fn stored_blocks(&self, slot: Slot) -> Vec<Block> {
        let Some(file) = self.state.tree.get(slot).as_file() else { return Vec::new() };
        let stored = file.blocks.as_slice().iter().filter_map(|id| self.state.blocks.get(*id));
        stored.map(|stored| stored.block).collect()
    }

    fn update_op(&self, slot: Slot) -> UpdateBlocks {
        UpdateBlocks { path: self.edit_path(slot), blocks: self.stored_blocks(slot) }
    }

    /// Logs a file's blocks as they are.
    pub(crate) fn persist_blocks(&mut self, slot: Slot) {
        let op = self.update_op(slot);
        self.log(op);
    }
}

fn state_name(state: BlockState) -> &'static str {
    match state {
        BlockState::UnderConstruction => "UNDER_CONSTRUCTION",
        BlockState::UnderRecovery => "UNDER_RECOVERY",
        BlockState::Committed => "COMMITTED",
        BlockState::Complete => "COMPLETE",
    }
}
