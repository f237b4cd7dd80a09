//! A new block and its pipeline.

use super::call::Need;
use super::pipeline::{Pipeline, Setup};
use super::set_up::{NewBlock, NewBlockStep as Step, SetUp};
use super::stream::{Excluded, Stage, Stream};
use crate::error::{Error, Result};
use crate::types::{DatanodeInfo, LocatedBlock};
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage;
use zerohop_system::clock;
use zerohop_wire::transfer::pipeline_fault::PipelineFault;
use zerohop_wire::{ExtendedBlock, JavaException};

/// Begins the line of an error that says why DataNodes were excluded.
const UNUSABLE: &str = "DataNodes that this client could not use: ";

impl Stream {
    /// The next step towards a block and its pipeline. DataNodes that cannot be reached are left out of the next try.
    pub(super) fn allocate(&mut self, mut new: NewBlock) -> Result<Option<Need>> {
        let need = match new.step {
            Step::Ask => {
                new.step = Step::Connect;
                Need::Block { previous: new.previous.clone(), excluded: self.excluded_nodes() }
            }
            Step::Connect => {
                let located = self.take_located().map_err(|error| match error.remote_kind() {
                    // The NameNode only counts the DataNodes that it left out.
                    Some(JavaException::Io) => self.with_faults(error),
                    _ => error,
                })?;
                let Some(abandoned) = self.connect_new(located) else { return Ok(None) };
                self.block = new.previous.clone();
                new.step = Step::Abandoned;
                Need::Abandon(abandoned)
            }
            Step::Abandoned => {
                self.take_done()?;
                let Some(left) = new.tries_left.checked_sub(1) else {
                    return Err(self.with_faults(Error::plain("Unable to create new block.")));
                };
                new.tries_left = left;
                new.step = Step::Ask;
                self.set_up = Some(SetUp::Block(new));
                return Ok(None);
            }
        };
        self.set_up = Some(SetUp::Block(new));
        Ok(Some(need))
    }

    /// Connects the pipeline of a new block; gives the block back where that fails.
    fn connect_new(&mut self, located: LocatedBlock) -> Option<ExtendedBlock> {
        let block = crate::types::with_len(&located.block, 0);
        self.block = Some(block.clone());
        self.token = located.token;
        self.nodes = located.replicas;
        self.packets.begin_block(0);
        let Err(fault) = self.connect(BlockConstructionStage::PipelineSetupCreate, None) else {
            self.stage = Stage::Streaming;
            return None;
        };
        tracing::warn!("Abandoning {block} of {}: {fault}", self.file.src);
        if let Some(bad) = self.nodes.get(fault.index()) {
            tracing::warn!("Excluding datanode {}", bad.node);
            self.excluded.push(Excluded { since: clock::now(), node: bad.node.clone(), fault });
        }
        self.nodes.clear();
        Some(block)
    }

    /// Connects the pipeline of `self.nodes`; `new_stamp` where the block gets a new one.
    pub(super) fn connect(
        &mut self,
        stage: BlockConstructionStage,
        new_stamp: Option<u64>,
    ) -> std::result::Result<(), PipelineFault> {
        let Some(block) = &self.block else { return Err(PipelineFault::lost("no block")) };
        self.persist_blocks = true;
        let setup = Setup {
            block,
            block_size: self.block_size,
            token: &self.token,
            nodes: &self.nodes,
            stage,
            acked_len: block.block.len,
            sent_len: self.packets.sent_len(),
            new_stamp: new_stamp.unwrap_or(0),
            checksum: self.checksum,
            lazy_persist: self.lazy_persist,
            pinnings: &self.pinnings(),
        };
        self.pipeline = Some(Pipeline::open(&self.file.client, &setup)?);
        self.restart = None;
        // A restarted DataNode may serve as a replacement again.
        self.failed.retain(|failed| !failed.restarts);
        Ok(())
    }

    /// Replicas on DataNodes that the writer asked for are not to be moved by the balancer.
    fn pinnings(&self) -> Vec<bool> {
        let favored = &self.file.favored;
        if favored.is_empty() {
            return Vec::new();
        }
        self.nodes.iter().map(|r| favored.contains(&r.node.transfer_addr(true))).collect()
    }

    fn excluded_nodes(&mut self) -> Vec<DatanodeInfo> {
        let expiry = self.file.client.settings.excluded_expiry;
        self.excluded.retain(|excluded| clock::since(excluded.since) < expiry);
        self.excluded.iter().map(|excluded| excluded.node.clone()).collect()
    }

    /// Adds to an error what is wrong with the DataNodes that were left out.
    fn with_faults(&self, error: Error) -> Error {
        if self.excluded.is_empty() {
            return error;
        }
        let shown: Vec<String> = (self.excluded.iter())
            .map(|excluded| format!("{}: {}", excluded.node.transfer_addr(false), excluded.fault))
            .collect();
        error.with_line(&format!("{UNUSABLE}{}", shown.join(", ")))
    }
}
