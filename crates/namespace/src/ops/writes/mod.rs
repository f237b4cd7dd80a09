//! Blocks of a file being written: allocation, abandonment and new pipelines.

mod complete;

use super::open_file::{OpenFiles, same_block};
use crate::blocks::{BlockLocations, BlockState, PlacementRequest, StorageIdx};
use crate::call::Call;
use crate::error::{BlockError, LeaseExpired, LimitError, NotReplicatedYet, refuse};
use crate::tree::Slot;
use crate::{AddBlockRequest, AdditionalDatanodeRequest, LocatedBlock, Result};
use zerohop_journal::op::AddBlock;
use zerohop_wire::{Block, InodeId};

/// The offset Hadoop writes where a block's place in the file does not matter (-1).
const NO_OFFSET: u64 = u64::MAX;

/// The calls of a file's writer about the file's blocks.
pub struct FileWrites<'n> {
    pub(crate) call: Call<'n>,
}

impl<'n> FileWrites<'n> {
    pub(super) fn open_files(&mut self) -> OpenFiles<'_, 'n> {
        OpenFiles { call: &mut self.call }
    }

    /// The next block for a file being written, with DataNodes to write it to; a repeated call gives the same block.
    ///
    /// # Errors
    /// As Hadoop's `addBlock`; `Error::NotReplicatedYet` while the block before the last misses replicas.
    pub fn add_block(&mut self, request: &AddBlockRequest<'_>) -> Result<LocatedBlock> {
        let path = request.path;
        self.call.begin(|| format!("Cannot add block to {path}"))?;
        let located = self.call.access().resolve_file(path, request.file_id)?;
        self.call.check_object_limit(0)?;
        let slot =
            self.open_files().check_lease(&located, Some(request.client_name), request.file_id)?;
        if let Some(last) = self.retried_block(slot, &located.path, request.previous)? {
            return self.retry_block(request, slot, last);
        }
        self.check_room_for_block(slot, path)?;
        let targets = self.choose_for_block(request, slot)?;
        let freed = self.freed_by_commit(slot, request.previous);
        let usage = self.call.state.ledger().space_delta(
            slot,
            self.call.state.files().block_size(slot).saturating_sub(freed) as i64,
        );
        self.call.state.ledger().verify_quota(
            self.call.state.tree().get(slot).parent,
            &usage,
            None,
        )?;
        let penultimate = self.open_files().check_written(slot, request.previous)?;
        let block = self.call.next_block()?;
        let path = self.call.state.paths().edit_path_of(located.path, slot);
        let finished = self.call.commit(AddBlock { path, penultimate, last: block })?.finished;
        let blocks = self.call.state.blocks_mut();
        for before in finished {
            blocks.under_construction().complete_if_replicated(before);
        }
        blocks.under_construction().set_targets(block.id, &targets);
        Ok(self.located_for_write(slot, block, &targets))
    }

    /// Further DataNodes for a pipeline that lost some.
    ///
    /// # Errors
    /// As Hadoop's `getAdditionalDatanode`.
    pub fn additional_datanode(
        &mut self,
        request: &AdditionalDatanodeRequest<'_>,
    ) -> Result<LocatedBlock> {
        let (path, block) = (request.path, request.block);
        self.call.begin(|| format!("Cannot add datanode; src={path}, blk={block}"))?;
        let located = self.call.access().resolve_file(path, request.file_id)?;
        let slot =
            self.open_files().check_lease(&located, Some(request.client_name), request.file_id)?;
        let chosen = self
            .call
            .state
            .blocks()
            .datanodes()
            .resolve_storages(request.existing.iter().map(|(node, id)| (&**node, &**id)))?;
        let machine = self
            .call
            .state
            .files()
            .writer(slot)
            .map(|writer| writer.client_machine.clone())
            .unwrap_or_default();
        let placement = PlacementRequest {
            path: &located.path,
            replicas: request.count,
            client_host: &machine,
            client_rack: self.call.ctx.client_rack.as_deref(),
            block_size: self.call.state.files().block_size(slot),
            excluded: request.excluded,
            chosen: &chosen,
            storage_policy: self.call.state.effective_policy(slot),
            ..PlacementRequest::default()
        };
        let targets = self.call.state.blocks().choose_more_targets(&placement);
        // Clients find the new DataNodes by comparing with the old ones, so both are listed.
        let all: Vec<StorageIdx> = chosen.iter().chain(&targets).copied().collect();
        let replicas = self.call.state.blocks().datanodes().locations(&all);
        Ok(LocatedBlock {
            offset: NO_OFFSET,
            locations: BlockLocations { block, replicas, corrupt: false },
        })
    }

    /// Removes the last block, for which no DataNode could be reached.
    ///
    /// # Errors
    /// As Hadoop's `abandonBlock`.
    pub fn abandon_block(
        &mut self,
        path: &str,
        file_id: InodeId,
        client_name: &str,
        block: Block,
    ) -> Result<()> {
        self.call.begin(|| format!("Cannot abandon block {block} for file{path}"))?;
        let located = self.call.access().resolve_file(path, file_id)?;
        let slot = self.open_files().check_lease(&located, Some(client_name), file_id)?;
        if self.call.state.files().last_block(slot) == Some(block.id) {
            let mut blocks = self.call.state.files().stored_blocks(slot);
            blocks.pop();
            self.open_files().commit_blocks(slot, blocks)?;
        }
        Ok(())
    }

    /// A new stamp for the last block, whose pipeline is to be set up again. The answer names no DataNodes.
    ///
    /// # Errors
    /// As Hadoop's `updateBlockForPipeline`.
    pub fn update_block_for_pipeline(
        &mut self,
        block: Block,
        client_name: &str,
    ) -> Result<LocatedBlock> {
        self.check_open_block(block, client_name)?;
        let block = Block { stamp: self.call.next_stamp()?, ..block };
        let locations = BlockLocations { block, replicas: Vec::new(), corrupt: false };
        Ok(LocatedBlock { offset: NO_OFFSET, locations })
    }

    /// Continues a pipeline with other DataNodes, a new stamp and the acknowledged length.
    ///
    /// # Errors
    /// As Hadoop's `updatePipeline`.
    pub fn update_pipeline(
        &mut self,
        client_name: &str,
        old: Block,
        new: Block,
        storages: &[(String, String)],
    ) -> Result<()> {
        let slot = self.check_open_block(old, client_name)?;
        let Some(last) = self.call.state.files().last_stored(slot).filter(|last| last.id == new.id)
        else {
            let path = self.call.state.tree().path(slot);
            return refuse(BlockError::UpdateNotLast { old, new, path });
        };
        if new.stamp <= last.stamp {
            return refuse(BlockError::UpdateOfOldStamp { old, new, last });
        }
        if new.len < last.len {
            return refuse(BlockError::UpdateTooShort { old, new });
        }
        if new.stamp > self.call.state.ids().stamp {
            // A client must use a stamp of `updateBlockForPipeline`: any other could exhaust the numbers.
            let last = self.call.state.ids().stamp;
            return refuse(BlockError::UpdateOfUnknownStamp { old, new, last });
        }
        let targets = self
            .call
            .state
            .blocks()
            .datanodes()
            .resolve_storages(storages.iter().map(|(node, id)| (&**node, &**id)))?;
        let mut blocks = self.call.state.files().stored_blocks(slot);
        if let Some(last) = blocks.last_mut() {
            (last.stamp, last.len) = (new.stamp, new.len);
        }
        let op = self.open_files().update_op(slot, blocks);
        self.call.commit_call(op)?;
        self.call.state.blocks_mut().under_construction().replace_pipeline(last.id, &targets)
    }

    /// `FSNamesystem.checkUCBlock`
    fn check_open_block(&mut self, block: Block, client_name: &str) -> Result<Slot> {
        self.call.begin(|| {
            format!("Cannot get a new generation stamp and an access token for block {block}")
        })?;
        let Some(stored) = self.call.state.blocks().get(block.id) else {
            return refuse(BlockError::UnknownInPipeline { block });
        };
        if stored.state != BlockState::UnderConstruction {
            let state = state_name(stored.state);
            return refuse(BlockError::UnexpectedState { block, state });
        }
        let slot = self.call.state.tree().find(stored.file);
        let Some((slot, writer)) =
            slot.and_then(|slot| Some((slot, self.call.state.files().writer(slot)?)))
        else {
            return refuse(BlockError::FileNotOpen { block });
        };
        if &*writer.client_name != client_name {
            let client = client_name.to_owned();
            return refuse(LeaseExpired::OtherOwnerOfBlock { block, client });
        }
        Ok(slot)
    }

    /// The last block if the call repeats one that was answered; none if it asks for a new block.
    fn retried_block(
        &self,
        slot: Slot,
        path: &str,
        previous: Option<Block>,
    ) -> Result<Option<Block>> {
        let last = self.call.state.files().last_stored(slot);
        if same_block(previous, last) {
            return Ok(None);
        }
        if let (None, Some(block)) = (previous, last)
            && self.call.state.blocks().is_complete(block.id)
        {
            // An append that leaves the last block as it is: it is full, or a rolling upgrade may be rolled back to it.
            return Ok(None);
        }
        let penultimate =
            self.call.state.tree().get(slot).as_file().and_then(|file| file.blocks.penultimate());
        let penultimate =
            penultimate.and_then(|id| self.call.state.blocks().get(id)).map(|stored| stored.block);
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
        request: &AddBlockRequest<'_>,
        slot: Slot,
        last: Block,
    ) -> Result<LocatedBlock> {
        let mut targets = self.call.state.blocks().lookup().targets(last.id);
        if targets.is_empty() {
            targets = self.choose_for_block(request, slot)?;
            self.call.state.blocks_mut().under_construction().set_targets(last.id, &targets);
        }
        Ok(self.located_for_write(slot, last, &targets))
    }

    fn check_room_for_block(&self, slot: Slot, path: &str) -> Result<()> {
        let Some(file) = self.call.state.tree().get(slot).as_file() else { return Ok(()) };
        if file.blocks.penultimate().is_some_and(|id| !self.call.state.blocks().is_complete(id)) {
            return refuse(NotReplicatedYet { path: path.to_owned() });
        }
        let (count, limit) = (file.blocks.as_slice().len(), self.call.params.blocks_per_file_max);
        if count >= limit {
            return refuse(LimitError::BlocksPerFile { count, limit });
        }
        Ok(())
    }

    /// Bytes that committing the last block gives back to the quota, which was charged for a full block.
    fn freed_by_commit(&self, slot: Slot, committed: Option<Block>) -> u64 {
        let Some(committed) = committed else { return 0 };
        match self.call.state.blocks().get(committed.id).map(|stored| stored.state) {
            Some(BlockState::UnderConstruction) => {
                self.call.state.files().block_size(slot).saturating_sub(committed.len)
            }
            _ => 0,
        }
    }

    fn choose_for_block(
        &self,
        request: &AddBlockRequest<'_>,
        slot: Slot,
    ) -> Result<crate::blocks::Storages> {
        let Some(file) = self.call.state.tree().get(slot).as_file() else {
            return refuse(BlockError::NotAFile);
        };
        let machine = file.writer().map(|writer| writer.client_machine.clone()).unwrap_or_default();
        self.call.state.blocks().choose_targets(&PlacementRequest {
            path: request.path,
            replicas: file.replication().into(),
            client_host: &machine,
            client_rack: self.call.ctx.client_rack.as_deref(),
            block_size: file.block_size(),
            excluded: request.excluded,
            favored: request.favored,
            storage_policy: self.call.state.effective_policy(slot),
            avoid_local: request.avoid_local,
            ignore_locality: request.ignore_locality,
            ..PlacementRequest::default()
        })
    }

    fn located_for_write(&self, slot: Slot, block: Block, targets: &[StorageIdx]) -> LocatedBlock {
        let locations = BlockLocations {
            block,
            replicas: self.call.state.blocks().datanodes().locations(targets),
            corrupt: false,
        };
        LocatedBlock { offset: self.call.state.ledger().file_len(slot), locations }
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
