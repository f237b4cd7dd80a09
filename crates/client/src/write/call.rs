//! What a writer asks of the NameNode, and how it is asked.
//!
//! [`stream`](super::stream) moves block data and stops where the NameNode has to be asked. A thread then waits for
//! the answer, a task awaits it.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::namenode::Writing;
use crate::types::{DatanodeInfo, LocatedBlock, Replica};
use std::sync::Arc;
use std::time::Duration;
use tracing::{Instrument, Span};
use zerohop_proto::hdfs::AddBlockFlagProto;
use zerohop_system::clock;
use zerohop_transport::waits::WAITS;
use zerohop_wire::{ExtendedBlock, JavaException};

/// What a writer needs before it can continue.
#[derive(Debug)]
pub(super) enum Need {
    /// A new block after `previous`, on none of the `excluded` DataNodes.
    Block { previous: Option<ExtendedBlock>, excluded: Vec<DatanodeInfo> },
    /// The NameNode takes a block back that could not be written to.
    Abandon(ExtendedBlock),
    /// A new generation stamp for the block.
    Stamp(ExtendedBlock),
    /// The NameNode records the pipeline in which `old` has become `new`.
    Update { old: ExtendedBlock, new: ExtendedBlock, nodes: Vec<Replica> },
    /// One more DataNode for the pipeline of `nodes`.
    Replacement { block: ExtendedBlock, nodes: Vec<Replica>, exclude: Vec<DatanodeInfo> },
    /// The NameNode makes the list of blocks durable, and the last one's length if it is given.
    Persist(Option<u64>),
    /// Some time.
    Wait(Duration),
}

/// What a need was met with: a block, where one was asked for.
pub(super) type Answer = Result<Option<LocatedBlock>>;

/// The file that is written, as the NameNode knows it.
pub(super) struct WrittenFile {
    pub(super) client: Arc<Client>,
    pub(super) src: String,
    pub(super) file_id: u64,
    /// DataNodes that the caller wants replicas on.
    pub(super) favored: Vec<String>,
    pub(super) block_flags: Vec<AddBlockFlagProto>,
    /// Of the file, as long as it is open.
    pub(super) span: Span,
}

impl WrittenFile {
    fn writing(&self) -> Writing<'_> {
        Writing { src: &self.src, file_id: self.file_id, client_name: &self.client.name }
    }

    /// Meets what a writer needs.
    pub(super) async fn meet(&self, need: Need) -> Answer {
        self.ask(need).instrument(self.span.clone()).await
    }

    async fn ask(&self, need: Need) -> Answer {
        let (namenode, name) = (&self.client.namenode, &self.client.name);
        match need {
            Need::Block { previous, excluded } => {
                return self.following_block(previous.as_ref(), &excluded).await.map(Some);
            }
            Need::Stamp(block) => {
                return namenode.update_block_for_pipeline(&block, name).await.map(Some);
            }
            Need::Replacement { block, nodes, exclude } => {
                let asked = namenode.additional_datanode(self.writing(), &block, &nodes, &exclude);
                return asked.await.map(Some);
            }
            Need::Abandon(block) => namenode.abandon_block(self.writing(), &block).await?,
            Need::Update { old, new, nodes } => {
                namenode.update_pipeline(name, &old, &new, &nodes).await?;
            }
            Need::Persist(len) => namenode.fsync(self.writing(), len).await?,
            Need::Wait(time) => clock::sleep(time).await,
        }
        Ok(None)
    }

    /// The next block. The NameNode may first wait for reports that enough DataNodes have the last one.
    async fn following_block(
        &self,
        previous: Option<&ExtendedBlock>,
        excluded: &[DatanodeInfo],
    ) -> Result<LocatedBlock> {
        let settings = &self.client.settings;
        let mut delay = settings.following_block_delay;
        let mut left = settings.following_block_retries;
        loop {
            let (favored, flags) = (&self.favored, &self.block_flags);
            let namenode = &self.client.namenode;
            let asked = namenode.add_block(self.writing(), previous, excluded, favored, flags);
            let error = match asked.await {
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
            clock::sleep(delay).await;
            delay = next_delay(delay, settings.following_block_delay_max);
        }
    }

    /// Completes the file, whose last block is `last`, when that is on enough DataNodes.
    pub(super) async fn complete(&self, last: Option<ExtendedBlock>) -> Result<()> {
        let settings = &self.client.settings;
        let mut delay = settings.following_block_delay;
        let mut left = settings.following_block_retries;
        loop {
            if self.client.namenode.complete(self.writing(), last.as_ref()).await? {
                return Ok(());
            }
            if left == 0 {
                return Err(Error::plain(format!(
                    "Unable to close file because the last block {} does not have enough number \
                     of replicas.",
                    last.map(|block| block.to_string()).unwrap_or_default()
                )));
            }
            left -= 1;
            tracing::warn!(
                target: WAITS,
                wait_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                "closing {}: its last block has not enough replicas yet; asking again {left} more time(s)",
                self.src
            );
            clock::sleep(delay).await;
            delay = next_delay(delay, settings.following_block_delay_max);
        }
    }

    /// Closes the file, which is open and cannot be written, so that no lease is left. Returns why it cannot.
    pub(super) async fn refuse(&self, last: Option<ExtendedBlock>, why: Error) -> Error {
        if let Err(error) = self.complete(last).await {
            tracing::warn!("{}: {why}; closing it failed, too: {error}", self.src);
        }
        why
    }

    /// Has the NameNode close the file without this writer.
    pub(super) async fn recover_lease(&self) {
        let recovery = self.client.namenode.recover_lease(&self.src, &self.client.name);
        if let Err(error) = recovery.await {
            tracing::warn!("Fail to recover lease for {}: {error}", self.src);
        }
    }
}

/// Twice as long each time, at most `max`.
fn next_delay(delay: Duration, max: Duration) -> Duration {
    delay.saturating_mul(2).min(max)
}
