//! Blocks of a file being written: added, abandoned, given a new pipeline.

use crate::blocks::{BlockLocations, BlockState, PlacementRequest, StorageIdx};
use crate::fail::{fail, io, not_found};
use crate::tree::Slot;
use crate::walk::Located;
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
        let usage =
            self.state.space_delta(slot, self.state.block_size(slot).saturating_sub(freed) as i64);
        self.state.verify_quota(self.state.tree().get(slot).parent, &usage, None)?;
        let penultimate = self.check_written(slot, request.previous)?;
        let block = self.next_block()?;
        let path = self.state.edit_path_of(located.path, slot);
        let finished = self.commit(AddBlock { path, penultimate, last: block })?.finished;
        let blocks = self.state.blocks_mut();
        for before in finished {
            blocks.under_construction().complete_if_replicated(before);
        }
        blocks.under_construction().set_targets(block.id, &targets);
        Ok(self.located_for_write(slot, block, &targets))
    }

    /// The block whose replicas a file's next block, or its end, is waiting for. None: for none that a report could bring.
    pub fn lacking_block(&self, path: &str, file_id: InodeId) -> Option<BlockId> {
        let slot = match file_id {
            InodeId::GRANDFATHER => self.state.walk(path).ok()?.last()?,
            id => self.state.tree().find(id)?,
        };
        let blocks = &self.state.tree().get(slot).as_file()?.blocks;
        let mut last_two = blocks.penultimate().into_iter().chain(blocks.last());
        last_two.find(|id| !self.state.blocks().is_complete(*id))
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
            .blocks()
            .datanodes()
            .resolve_storages(request.existing.iter().map(|(node, id)| (&**node, &**id)))?;
        let machine =
            self.state.writer(slot).map(|writer| writer.client_machine.clone()).unwrap_or_default();
        let placement = PlacementRequest {
            path: &located.path,
            replicas: request.count,
            client_host: &machine,
            block_size: self.state.block_size(slot),
            excluded: request.excluded,
            chosen: &chosen,
            storage_policy: self.state.effective_policy(slot),
            ..PlacementRequest::default()
        };
        let targets = self.state.blocks().choose_more_targets(&placement);
        // Clients find the new ones by comparing: the old ones are listed too.
        let all: Vec<StorageIdx> = chosen.iter().chain(&targets).copied().collect();
        let replicas = self.state.blocks().datanodes().locations(&all);
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
        if self.state.last_block(slot) == Some(block.id) {
            let mut blocks = self.state.stored_blocks(slot);
            blocks.pop();
            self.commit_blocks(slot, blocks)?;
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
        let Some(last) = self.state.last_stored(slot).filter(|last| last.id == new.id) else {
            return io(format!(
                "{new} and {old} is not the last block of {}",
                self.state.tree().path(slot)
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
        if new.stamp > self.state.ids().stamp {
            // A client gets its stamps from `updateBlockForPipeline`: others would use the numbers up.
            return io(format!(
                "Update {old} but the generation stamp of the new block {new} was never given out; the last one is {}",
                self.state.ids().stamp
            ));
        }
        let targets = self
            .state
            .blocks()
            .datanodes()
            .resolve_storages(storages.iter().map(|(node, id)| (&**node, &**id)))?;
        let mut blocks = self.state.stored_blocks(slot);
        if let Some(last) = blocks.last_mut() {
            (last.stamp, last.len) = (new.stamp, new.len);
        }
        let op = self.update_op(slot, blocks);
        self.commit_call(ctx, op)?;
        self.state.blocks_mut().under_construction().replace_pipeline(last.id, &targets)
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
        let Some(stored) = self.state.blocks().get(block.id) else {
            return io(format!("{block} does not exist."));
        };
        if stored.state != BlockState::UnderConstruction {
            let state = state_name(stored.state);
            return io(format!(
                "Unexpected BlockUCState: {block} is {state} but not UNDER_CONSTRUCTION"
            ));
        }
        let slot = self.state.tree().find(stored.file);
        let Some((slot, writer)) = slot.and_then(|slot| Some((slot, self.state.writer(slot)?)))
        else {
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
            let pending = holder.filter(|holder| self.state.leases().exists(holder)).map_or_else(
                || format!("Holder {} does not have any open files.", holder.unwrap_or("null")),
                |holder| {
                    format!(
                        "[Lease.  Holder: {holder}, pending creates: {}]",
                        self.state.leases().len_of(holder)
                    )
                },
            );
            format!("{} (inode {id}) {pending}", located.path)
        };
        let Some(slot) = located.last() else {
            return not_found(format!("File does not exist: {}", what()));
        };
        let Some(file) = self.state.tree().get(slot).as_file() else {
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
        let last = self.state.last_stored(slot);
        if same_block(previous, last) {
            return Ok(None);
        }
        if let (None, Some(block)) = (previous, last)
            && self.state.blocks().is_complete(block.id)
        {
            // An append that leaves the last block as it is: it is full, or a rolling upgrade may be rolled back to it.
            return Ok(None);
        }
        let penultimate =
            self.state.tree().get(slot).as_file().and_then(|file| file.blocks.penultimate());
        let penultimate =
            penultimate.and_then(|id| self.state.blocks().get(id)).map(|stored| stored.block);
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
        let mut targets = self.state.blocks().lookup().targets(last.id);
        if targets.is_empty() {
            targets = self.choose_for_block(ctx, request, slot)?;
            self.state.blocks_mut().under_construction().set_targets(last.id, &targets);
        }
        Ok(self.located_for_write(slot, last, &targets))
    }

    fn check_room_for_block(&self, slot: Slot, path: &str) -> Result<()> {
        let Some(file) = self.state.tree().get(slot).as_file() else { return Ok(()) };
        if file.blocks.penultimate().is_some_and(|id| !self.state.blocks().is_complete(id)) {
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
        match self.state.blocks().get(committed.id).map(|stored| stored.state) {
            Some(BlockState::UnderConstruction) => {
                self.state.block_size(slot).saturating_sub(committed.len)
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
        let Some(file) = self.state.tree().get(slot).as_file() else { return io("not a file") };
        let machine = file.writer().map(|writer| writer.client_machine.clone()).unwrap_or_default();
        self.state.blocks().choose_targets(&PlacementRequest {
            path: request.path,
            replicas: file.replication().into(),
            client_host: &machine,
            block_size: file.block_size(),
            excluded: request.excluded,
            favored: request.favored,
            chosen: &[],
            unusable: &[],
            storage_policy: self.state.effective_policy(slot),
            avoid_local: request.avoid_local,
            ignore_locality: request.ignore_locality,
        })
    }

    fn located_for_write(&self, slot: Slot, block: Block, targets: &[StorageIdx]) -> LocatedBlock {
        let locations = BlockLocations {
            block,
            replicas: self.state.blocks().datanodes().locations(targets),
            corrupt: false,
        };
        LocatedBlock { offset: self.state.file_len(slot), locations }
    }

    /// The last block as it is once a client has written `written` of it.
    ///
    /// # Errors
    /// `IOException` when the client has written another block, or less of this one than is known.
    pub(crate) fn check_written(
        &self,
        slot: Slot,
        written: Option<Block>,
    ) -> Result<Option<Block>> {
        let last = self.state.last_block(slot).and_then(|last| self.state.blocks().get(last));
        let (Some(written), Some(last)) = (written, last) else {
            return Ok(last.map(|last| last.block));
        };
        match last.state {
            BlockState::Complete => Ok(Some(last.block)),
            BlockState::UnderRecovery => {
                io(format!("Commit or complete block {written}, whereas it is under recovery."))
            }
            _ if written.id != last.block.id => {
                io(format!("Commit block {written}, which is not the last block {}", last.block.id))
            }
            _ => {
                self.state.blocks().check_commit(written)?;
                Ok(Some(Block { len: written.len, ..last.block }))
            }
        }
    }

    fn update_op(&self, slot: Slot, blocks: Vec<Block>) -> UpdateBlocks {
        UpdateBlocks { path: self.state.edit_path(slot), blocks }
    }

    /// Commits a file's list of blocks.
    pub(crate) fn commit_blocks(&mut self, slot: Slot, blocks: Vec<Block>) -> Result<()> {
        let op = self.update_op(slot, blocks);
        self.commit(op).map(drop)
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
