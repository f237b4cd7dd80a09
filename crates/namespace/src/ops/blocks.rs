//! Blocks of a file being written: added, abandoned, given a new pipeline.

use crate::blocks::{BlockLocations, BlockState, PlacementRequest, StorageIdx};
use crate::error::{
    BlockError, LeaseExpired, LeasedFile, LimitError, NotFound, NotReplicatedYet, refuse,
};
use crate::tree::Slot;
use crate::walk::Located;
use crate::{
    AddBlockRequest, AdditionalDatanodeRequest, LocatedBlock, Namespace, OpContext, Result,
};
use zerohop_journal::op::{AddBlock, UpdateBlocks};
use zerohop_wire::{Block, BlockId, InodeId};

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
    /// As Hadoop's `addBlock`; `Error::NotReplicatedYet` while the block before the last misses replicas.
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
        let usage = self
            .state
            .ledger()
            .space_delta(slot, self.state.block_size(slot).saturating_sub(freed) as i64);
        self.state.ledger().verify_quota(self.state.tree().get(slot).parent, &usage, None)?;
        let penultimate = self.check_written(slot, request.previous)?;
        let block = self.next_block()?;
        let path = self.state.paths().edit_path_of(located.path, slot);
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
            InodeId::GRANDFATHER => self.state.paths().walk(path).ok()?.last()?,
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
            let path = self.state.tree().path(slot);
            return refuse(BlockError::UpdateNotLast { old, new, path });
        };
        if new.stamp <= last.stamp {
            return refuse(BlockError::UpdateOfOldStamp { old, new, last });
        }
        if new.len < last.len {
            return refuse(BlockError::UpdateTooShort { old, new });
        }
        if new.stamp > self.state.ids().stamp {
            // A client gets its stamps from `updateBlockForPipeline`: others would use the numbers up.
            let last = self.state.ids().stamp;
            return refuse(BlockError::UpdateOfUnknownStamp { old, new, last });
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
            return refuse(BlockError::UnknownInPipeline { block });
        };
        if stored.state != BlockState::UnderConstruction {
            let state = state_name(stored.state);
            return refuse(BlockError::UnexpectedState { block, state });
        }
        let slot = self.state.tree().find(stored.file);
        let Some((slot, writer)) = slot.and_then(|slot| Some((slot, self.state.writer(slot)?)))
        else {
            return refuse(BlockError::FileNotOpen { block });
        };
        if &*writer.client_name != client_name {
            let client = client_name.to_owned();
            return refuse(LeaseExpired::OtherOwnerOfBlock { block, client });
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
        let file = || LeasedFile {
            path: located.path.to_string(),
            id,
            holder: holder.map(str::to_owned),
            open_files: holder
                .filter(|holder| self.state.leases().exists(holder))
                .map(|holder| self.state.leases().len_of(holder)),
        };
        let Some(slot) = located.last() else {
            return refuse(NotFound::Leased { file: file() });
        };
        let Some(inode) = self.state.tree().get(slot).as_file() else {
            return refuse(LeaseExpired::NotAFile { file: file() });
        };
        let Some(writer) = inode.writer() else {
            return refuse(LeaseExpired::NotOpen { file: file() });
        };
        match holder {
            Some(holder) if &*writer.client_name != holder => {
                let (holder, owner) = (holder.to_owned(), writer.client_name.to_string());
                refuse(LeaseExpired::OtherOwner { holder, owner, file: file() })
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
            Some(block) if same_block(penultimate, previous) => {
                refuse(BlockError::AllocatedAndWritten { block })
            }
            _ => refuse(BlockError::PreviousNotLast { path: path.to_owned(), previous, last }),
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
            return refuse(NotReplicatedYet { path: path.to_owned() });
        }
        let (count, limit) = (file.blocks.as_slice().len(), self.params.blocks_per_file_max);
        if count >= limit {
            return refuse(LimitError::BlocksPerFile { count, limit });
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
        let Some(file) = self.state.tree().get(slot).as_file() else {
            return refuse(BlockError::NotAFile);
        };
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
        LocatedBlock { offset: self.state.ledger().file_len(slot), locations }
    }

    /// The last block as it is once a client has written `written` of it.
    ///
    /// # Errors
    /// `Error::Block` when the client has written another block, or less of this one than is known.
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
            BlockState::UnderRecovery => refuse(BlockError::CommitInRecovery { block: written }),
            _ if written.id != last.block.id => {
                refuse(BlockError::CommitNotLast { block: written, last: last.block.id })
            }
            _ => {
                self.state.blocks().check_commit(written)?;
                Ok(Some(Block { len: written.len, ..last.block }))
            }
        }
    }

    fn update_op(&self, slot: Slot, blocks: Vec<Block>) -> UpdateBlocks {
        UpdateBlocks { path: self.state.paths().edit_path(slot), blocks }
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
