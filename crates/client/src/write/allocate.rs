//! A new block and its pipeline.

use super::call::Need;
use super::pipeline::{Pipeline, Setup};
use super::set_up::{NewBlock, NewBlockStep as Step, SetUp};
use super::stream::{Stage, Stream};
use crate::error::{Error, Result};
use crate::types::{DatanodeInfo, LocatedBlock};
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage;
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::transfer::pipeline_fault::PipelineFault;

impl Stream {
    /// The next step towards a block and its pipeline. DataNodes that cannot be reached are left out of the next try.
    pub(super) fn allocate(&mut self, mut new: NewBlock) -> Result<Option<Need>> {
        let need = match new.step {
            Step::Ask => {
                new.step = Step::Connect;
                Need::Block { previous: new.previous.clone(), excluded: self.excluded_nodes() }
            }
            Step::Connect => {
                let located = self.take_located()?;
                let Some(abandoned) = self.connect_new(located) else { return Ok(None) };
                self.block = new.previous.clone();
                new.step = Step::Abandoned;
                Need::Abandon(abandoned)
            }
            Step::Abandoned => {
                self.take_answer()?;
                let Some(left) = new.tries_left.checked_sub(1) else {
                    return Err(Error::plain("Unable to create new block."));
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
            self.is_flushed = false;
            return None;
        };
        tracing::warn!("Abandoning {block} of {}: {fault}", self.file.src);
        if let Some(bad) = self.nodes.get(fault.index()) {
            tracing::warn!("Excluding datanode {}", bad.node);
            self.excluded.push((clock::now(), bad.node.clone()));
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
        self.restart_deadline = None;
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
        self.excluded.retain(|(since, _)| clock::since(*since) < expiry);
        self.excluded.iter().map(|(_, node)| node.clone()).collect()
    }
}
