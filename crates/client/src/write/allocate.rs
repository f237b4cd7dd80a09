//! A new block and its pipeline.

use super::pipeline::{Fault, Pipeline, Setup};
use super::stream::{Stage, Stream};
use crate::error::{Error, Result};
use crate::types::{DatanodeInfo, LocatedBlock};
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage;
use zerohop_transport::waits::WAITS;
use zerohop_wire::JavaException;

impl Stream {
    /// Gets a block and connects its pipeline; DataNodes that cannot be reached are left out of the
    /// next try.
    pub(super) fn allocate(&mut self) -> Result<()> {
        let previous = self.block.clone();
        for _ in 0..=self.client.settings.block_write_retries {
            let located = self.following_block(previous.as_ref())?;
            self.bytes_sent = 0;
            self.take_located(located);
            match self.connect(BlockConstructionStage::PipelineSetupCreate, None) {
                Ok(()) => {
                    self.stage = Stage::Streaming;
                    self.is_flushed = false;
                    return Ok(());
                }
                Err(fault) => self.abandon(&fault)?,
            }
            self.block = previous.clone();
        }
        Err(Error::plain("Unable to create new block."))
    }

    fn take_located(&mut self, located: LocatedBlock) {
        self.block = Some(crate::types::with_len(&located.block, 0));
        self.token = located.token;
        self.nodes = located.replicas;
    }

    fn abandon(&mut self, fault: &Fault) -> Result<()> {
        let index = match fault {
            Fault::Node { index, .. } | Fault::Restarting { index } => *index,
        };
        if let Some(block) = &self.block {
            tracing::warn!("Abandoning {block} of {}: {fault:?}", self.src);
            self.client.wait(self.client.namenode.abandon_block(self.writing(), block))?;
        }
        if let Some(bad) = self.nodes.get(index) {
            tracing::warn!("Excluding datanode {}", bad.node);
            self.excluded.push((Instant::now(), bad.node.clone()));
        }
        self.nodes.clear();
        Ok(())
    }

    /// Connects the pipeline of `self.nodes`; `new_stamp` where the block gets a new one.
    pub(super) fn connect(
        &mut self,
        stage: BlockConstructionStage,
        new_stamp: Option<u64>,
    ) -> std::result::Result<(), Fault> {
        let Some(block) = &self.block else { return Err(Fault::first("no block")) };
        self.persist_blocks = true;
        let setup = Setup {
            block,
            block_size: self.block_size,
            token: &self.token,
            nodes: &self.nodes,
            stage,
            acked_len: block.block.len,
            sent_len: self.bytes_sent,
            new_stamp: new_stamp.unwrap_or(0),
            checksum: self.checksum,
            lazy_persist: self.lazy_persist,
            pinnings: &self.pinnings(),
        };
        self.pipeline = Some(Pipeline::open(&self.client, &setup)?);
        self.restart_deadline = None;
        Ok(())
    }

    /// Replicas on DataNodes that the writer asked for are not to be moved by the balancer.
    fn pinnings(&self) -> Vec<bool> {
        if self.favored.is_empty() {
            return Vec::new();
        }
        self.nodes.iter().map(|r| self.favored.contains(&r.node.transfer_addr(true))).collect()
    }

    /// The next block. The NameNode may want to hear first that the last one is on enough DataNodes.
    fn following_block(
        &mut self,
        previous: Option<&zerohop_wire::ExtendedBlock>,
    ) -> Result<LocatedBlock> {
        let client = self.client.clone();
        let excluded = self.excluded_nodes();
        let mut delay = client.settings.following_block_delay;
        let mut left = client.settings.following_block_retries;
        loop {
            let asked = client.wait(client.namenode.add_block(
                self.writing(),
                previous,
                &excluded,
                &self.favored,
                &self.block_flags,
            ));
            let error = match asked {
                Ok(located) => return Ok(located),
                Err(error) => error,
            };
            if error.remote_kind() != Some(JavaException::NotReplicatedYet) || left == 0 {
                return Err(error);
            }
            left -= 1;
            tracing::warn!(
                target: WAITS,
                wait_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                "no DataNode has reported the block before this one of {} yet; asking again {left} \
                 more time(s)",
                self.src
            );
            std::thread::sleep(delay);
            delay = next_delay(delay, client.settings.following_block_delay_max);
        }
    }

    fn excluded_nodes(&mut self) -> Vec<DatanodeInfo> {
        let expiry = self.client.settings.excluded_expiry;
        self.excluded.retain(|(since, _)| since.elapsed() < expiry);
        self.excluded.iter().map(|(_, node)| node.clone()).collect()
    }
}

/// Twice as long each time, at most `max`.
pub(super) fn next_delay(delay: Duration, max: Duration) -> Duration {
    delay.saturating_mul(2).min(max)
}
