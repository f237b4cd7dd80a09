//! Going on after a DataNode of the pipeline failed: a new generation stamp, a pipeline of those
//! that are left (and perhaps a new one), and the packets that were not acknowledged once more.

use super::pipeline::{self, Fault};
use super::replace::{Loss, wants_replacement};
use super::stream::{Stage, Stream};
use crate::error::{Error, Result};
use crate::types::{DatanodeInfo, LocatedBlock, Replica};
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage;

/// Wait before a DataNode that restarts is tried again.
const RESTART_LOOK_INTERVAL: Duration = Duration::from_secs(4);
/// Times a replacement is looked for.
const REPLACEMENTS_MAX: usize = 3;

impl Stream {
    /// Sets the pipeline up again; packets not acknowledged are unsent again.
    pub(super) fn recover(&mut self, fault: Fault) -> Result<()> {
        self.pipeline = None;
        self.fault = None;
        while let Some(packet) = self.sent.take_newest() {
            self.unsent.push_front(packet);
        }
        let is_restart = matches!(fault, Fault::Restarting { .. });
        if !is_restart {
            self.recoveries += 1;
            let limit = self.client.settings.recovery_retries;
            if self.recoveries > limit {
                return Err(Error::plain(format!(
                    "Failing write. Tried pipeline recovery {limit} times without success."
                )));
            }
        }
        let stage = match self.stage {
            Stage::Close => BlockConstructionStage::PipelineCloseRecovery,
            _ => BlockConstructionStage::PipelineSetupStreamingRecovery,
        };
        self.rebuild(Some(fault), stage)?;
        if self.stage == Stage::Close {
            self.end_recovered_block();
        } else {
            self.stage = Stage::Streaming;
        }
        Ok(())
    }

    /// The DataNodes have closed the block while the pipeline was set up: its last packet is done.
    fn end_recovered_block(&mut self) {
        if let Some(last) = self.unsent.pop_front() {
            self.last_acked = last.seqno;
        }
        self.recoveries = 0;
        self.end_block();
    }

    /// The pipeline to append to a block that is there.
    pub(super) fn set_up_append(&mut self) -> Result<()> {
        self.rebuild(None, BlockConstructionStage::PipelineSetupAppend)?;
        self.stage = Stage::Streaming;
        Ok(())
    }

    /// Tries pipelines until one stands.
    fn rebuild(&mut self, mut fault: Option<Fault>, stage: BlockConstructionStage) -> Result<()> {
        if self.nodes.is_empty() {
            return Err(self.no_locations());
        }
        let old = self.block.clone().ok_or_else(|| self.no_locations())?;
        loop {
            let is_recovery = fault.is_some();
            if let Some(fault) = fault.take() {
                self.drop_failed(fault)?;
            }
            self.replace_failed()?;
            let client = self.client.clone();
            let located =
                client.wait(client.namenode.update_block_for_pipeline(&old, &client.name))?;
            self.token = located.token;
            let stamp = located.block.block.stamp;
            match self.connect(with_recovery(stage, is_recovery), Some(stamp.0 as u64)) {
                Ok(()) => {
                    let mut new = old.clone();
                    new.block.stamp = stamp;
                    let update =
                        client.namenode.update_pipeline(&client.name, &old, &new, &self.nodes);
                    client.wait(update)?;
                    self.block = Some(new);
                    return Ok(());
                }
                Err(next) => fault = Some(next),
            }
        }
    }

    /// Takes the failed DataNode out, or waits for one that restarts.
    fn drop_failed(&mut self, fault: Fault) -> Result<()> {
        let (index, why) = match fault {
            Fault::Restarting { index } if self.is_worth_waiting(index) => {
                return self.wait_for_restart();
            }
            Fault::Restarting { index } => (index, "restarting".to_owned()),
            Fault::Node { index, why } => {
                if self.restart_deadline.is_some_and(|deadline| Instant::now() < deadline) {
                    return self.wait_for_restart();
                }
                (index, why)
            }
        };
        self.restart_deadline = None;
        let nodes: Vec<String> = self.nodes.iter().map(Replica::to_string).collect();
        let nodes = nodes.join(", ");
        if self.nodes.len() <= 1 || index >= self.nodes.len() {
            return Err(Error::plain(format!("All datanodes [{nodes}] are bad. Aborting...")));
        }
        let bad = self.nodes.remove(index);
        tracing::warn!(
            "Error Recovery for {} in pipeline [{nodes}]: datanode {index}({bad}) is bad: {why}",
            self.block.as_ref().map(ToString::to_string).unwrap_or_default()
        );
        self.failed.push(bad.node);
        Ok(())
    }

    /// A restart is waited for where this machine's own DataNode or the only one restarts.
    fn is_worth_waiting(&self, index: usize) -> bool {
        let is_local = || {
            let addr = self.nodes.get(index).and_then(|r| self.client.transfer_addr(&r.node).ok());
            addr.is_some_and(|addr| addr.ip().is_loopback())
        };
        self.nodes.len() == 1 || is_local()
    }

    fn wait_for_restart(&mut self) -> Result<()> {
        let timeout = self.client.settings.restart_timeout;
        self.restart_deadline.get_or_insert_with(|| Instant::now() + timeout);
        std::thread::sleep(RESTART_LOOK_INTERVAL.min(timeout));
        Ok(())
    }

    /// Adds a DataNode where the policy wants one.
    fn replace_failed(&mut self) -> Result<()> {
        let loss = Loss {
            replication: self.replication,
            left: self.nodes.len(),
            is_append: self.is_append,
            is_flushed: self.is_flushed,
        };
        // All data is where it belongs when only the block's end is missing: the NameNode has what
        // is left copied.
        let is_ending = self.stage == Stage::Close;
        if is_ending || !wants_replacement(self.client.settings.replace_policy, &loss) {
            return Ok(());
        }
        match self.add_datanode() {
            Err(error) if self.client.settings.replace_best_effort => {
                tracing::warn!(
                    "Failed to replace datanode. Continue with the remaining datanodes since \
                     dfs.client.block.write.replace-datanode-on-failure.best-effort is set to \
                     true: {error}"
                );
                Ok(())
            }
            result => result,
        }
    }

    fn add_datanode(&mut self) -> Result<()> {
        let Some(block) = self.block.clone() else { return Err(self.no_locations()) };
        let original = self.nodes.clone();
        let mut exclude: Vec<DatanodeInfo> = self.failed.clone();
        let mut last_error = None;
        for tried in 0..REPLACEMENTS_MAX {
            let client = self.client.clone();
            let asked =
                client.namenode.additional_datanode(self.writing(), &block, &original, &exclude);
            let located = client.wait(asked)?;
            let Some(new) = newcomer(&original, &located) else {
                return self.no_newcomer(&original);
            };
            let Some(source) = original.get(tried % original.len().max(1)) else { break };
            let copied =
                pipeline::transfer(&client, &block, &located.token, source, &new, self.bytes_sent);
            match copied {
                Ok(()) => {
                    self.nodes = located.replicas;
                    return Ok(());
                }
                Err(error) => {
                    let doing = format!("Error transferring data from {source} to {new}");
                    tracing::warn!("{doing}: {error}");
                    exclude.push(new.node);
                    last_error = Some(Error::io(doing, error));
                }
            }
        }
        Err(last_error.unwrap_or_else(|| Error::plain("Failed to add a node")))
    }

    /// No DataNode is left to add: an error, unless enough of them are there.
    fn no_newcomer(&self, original: &[Replica]) -> Result<()> {
        let settings = &self.client.settings;
        let enough = settings.replace_min_replication;
        if enough > 0 && original.len() >= enough {
            return Ok(());
        }
        let nodes: Vec<String> = original.iter().map(Replica::to_string).collect();
        let nodes = nodes.join(", ");
        Err(Error::plain(format!(
            "Failed to replace a bad datanode on the existing pipeline due to no more good \
             datanodes being available to try. (Nodes: current=[{nodes}], original=[{nodes}]). The \
             current failed datanode replacement policy is {}, and a client may configure this via \
             'dfs.client.block.write.replace-datanode-on-failure.policy' in its configuration.",
            format!("{:?}", settings.replace_policy).to_uppercase()
        )))
    }
}

/// The DataNode of `located` that was not there before.
fn newcomer(original: &[Replica], located: &LocatedBlock) -> Option<Replica> {
    if located.replicas.len() != original.len() + 1 {
        return None;
    }
    let is_new = |replica: &&Replica| !original.iter().any(|known| known.node == replica.node);
    located.replicas.iter().find(is_new).cloned()
}

/// Setting up for append is asked for as such once; after a failure it is a recovery.
fn with_recovery(stage: BlockConstructionStage, is_recovery: bool) -> BlockConstructionStage {
    match stage {
        BlockConstructionStage::PipelineSetupAppend if is_recovery => {
            BlockConstructionStage::PipelineSetupAppendRecovery
        }
        other => other,
    }
}
