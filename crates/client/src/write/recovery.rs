//! What follows the failure of a DataNode in the pipeline: a new generation stamp, a pipeline of those
//! that are left (and perhaps a new one), and the packets that were not acknowledged once more.

use super::call::Need;
use super::pipeline;
use super::replace::{Loss, wants_replacement};
use super::set_up::{Rebuild, RebuildStep as Step, Replacement, SetUp};
use super::stream::{Failed, Restart, Stage, Stream};
use crate::error::{Error, Result};
use crate::types::{DatanodeInfo, LocatedBlock, Replica};
use std::time::Duration;
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage;
use zerohop_system::clock;
use zerohop_transport::net;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::transfer::pipeline_fault::PipelineFault;

/// Wait before a DataNode that restarts is tried again.
const RESTART_LOOK_INTERVAL: Duration = Duration::from_secs(4);
/// Times a replacement is looked for.
const REPLACEMENTS_MAX: usize = 3;

impl Stream {
    /// Begins to recover the pipeline from a failure between two calls, if there was one.
    pub(super) fn begin_repair(&mut self) -> Result<()> {
        self.fault.take().map_or(Ok(()), |fault| self.begin_recovery(fault))
    }

    /// Begins to set the pipeline up again; packets not acknowledged are unsent again.
    pub(super) fn begin_recovery(&mut self, fault: PipelineFault) -> Result<()> {
        self.pipeline = None;
        self.fault = None;
        self.packets.recover();
        if self.packets.is_all_acknowledged() {
            // The limit is for a packet that no pipeline can take. An idle writer outlives any number of DataNodes.
            self.recoveries = 0;
        } else if !matches!(fault, PipelineFault::Restarting { .. }) {
            self.recoveries += 1;
            let limit = self.file.client.settings.recovery_retries;
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
        self.begin_rebuild(stage, Step::Drop(fault))
    }

    /// Begins to set the pipeline up to append to a block that is there.
    pub(super) fn begin_append(&mut self) -> Result<()> {
        self.begin_rebuild(BlockConstructionStage::PipelineSetupAppend, Step::Replace)
    }

    fn begin_rebuild(&mut self, stage: BlockConstructionStage, step: Step) -> Result<()> {
        let old = self.block.clone().filter(|_| !self.nodes.is_empty());
        let old = old.ok_or_else(|| self.no_locations())?;
        self.set_up = Some(SetUp::Pipeline(Rebuild { old, stage, step }));
        Ok(())
    }

    /// The next step towards a pipeline; pipelines are tried until one stands.
    pub(super) fn rebuild(&mut self, rebuild: Rebuild) -> Result<Option<Need>> {
        let Rebuild { old, mut stage, step } = rebuild;
        let (step, need) = match step {
            Step::Drop(fault) => (Step::Replace, self.drop_failed(fault)?),
            Step::Replace => self.replace_failed(&old)?,
            Step::Copy(replacement) => self.copy_to_replacement(&old, replacement)?,
            Step::Stamp => (Step::Connect, Some(Need::Stamp(old.clone()))),
            Step::Connect => {
                let located = self.take_located()?;
                self.token = located.token;
                let stamp = located.block.block.stamp;
                match self.connect(stage, Some(stamp.0 as u64)) {
                    Ok(()) => {
                        let mut new = old.clone();
                        new.block.stamp = stamp;
                        let (old, nodes) = (old.clone(), self.nodes.clone());
                        let need = Need::Update { old, new: new.clone(), nodes };
                        (Step::Updated(new), Some(need))
                    }
                    Err(fault) => {
                        stage = after_failure(stage);
                        (Step::Drop(fault), None)
                    }
                }
            }
            Step::Updated(new) => {
                self.take_done()?;
                self.block = Some(new);
                self.end_rebuild();
                return Ok(None);
            }
        };
        self.set_up = Some(SetUp::Pipeline(Rebuild { old, stage, step }));
        Ok(need)
    }

    fn end_rebuild(&mut self) {
        if self.stage != Stage::Close {
            self.stage = Stage::Streaming;
            return;
        }
        // The DataNodes have closed the block while the pipeline was set up.
        if let Some(last) = self.packets.close_recovered() {
            self.buffers.keep(last);
        }
        self.recoveries = 0;
        self.end_block();
    }

    /// Takes the failed DataNode out, or waits for one that restarts.
    fn drop_failed(&mut self, fault: PipelineFault) -> Result<Option<Need>> {
        let index = fault.index();
        let restarts = matches!(fault, PipelineFault::Restarting { .. });
        let waits = match &self.restart {
            None => restarts && self.is_worth_waiting(index),
            // Another one that fails in the meantime is taken out.
            Some(restart) => {
                let is_it = self.nodes.get(index).is_some_and(|bad| bad.node == restart.node);
                (is_it || self.nodes.len() == 1) && clock::now() < restart.deadline
            }
        };
        if waits && let Some(restarting) = self.nodes.get(index) {
            return Ok(Some(self.wait_for_restart(restarting.node.clone())));
        }
        let nodes = names(&self.nodes);
        if self.nodes.len() <= 1 || index >= self.nodes.len() {
            return Err(Error::plain(format!("All datanodes [{nodes}] are bad. Aborting...")));
        }
        let bad = self.nodes.remove(index);
        tracing::warn!(
            "Error Recovery for {} in pipeline [{nodes}]: datanode {index}({bad}) is bad: {fault}",
            self.block.as_ref().map(ToString::to_string).unwrap_or_default()
        );
        self.restart.take_if(|restart| restart.node == bad.node);
        self.failed.push(Failed { node: bad.node, restarts });
        Ok(None)
    }

    /// A restart is waited for where this machine's own DataNode or the only one restarts.
    fn is_worth_waiting(&self, index: usize) -> bool {
        let ip = self.nodes.get(index).and_then(|replica| replica.node.ip().parse().ok());
        self.nodes.len() == 1 || ip.is_some_and(net::is_own_address)
    }

    fn wait_for_restart(&mut self, node: DatanodeInfo) -> Need {
        let timeout = self.file.client.settings.restart_timeout;
        self.restart.get_or_insert_with(|| Restart { node, deadline: clock::now() + timeout });
        Need::Wait(RESTART_LOOK_INTERVAL.min(timeout))
    }

    /// Looks for another DataNode where the policy wants one.
    fn replace_failed(&mut self, block: &ExtendedBlock) -> Result<(Step, Option<Need>)> {
        // The end of a wait for a restart.
        self.take_answer()?;
        let loss = Loss {
            replication: self.replication,
            left: self.nodes.len(),
            is_append: self.is_append,
            is_flushed: self.is_flushed,
        };
        if !wants_replacement(self.file.client.settings.replace_policy, &loss) {
            return Ok((Step::Stamp, None));
        }
        let exclude = self.failed.iter().map(|failed| failed.node.clone()).collect();
        let nodes = self.nodes.clone();
        Ok(ask_for(block, Replacement { nodes, exclude, tried: 0 }))
    }

    /// Has the replica copied to the DataNode that the NameNode gives; asks for another one where that fails.
    fn copy_to_replacement(
        &mut self,
        block: &ExtendedBlock,
        mut replacement: Replacement,
    ) -> Result<(Step, Option<Need>)> {
        let error = match self.copy_once(block, &mut replacement) {
            Ok(None) => return Ok((Step::Stamp, None)),
            Ok(Some(_)) if replacement.tried < REPLACEMENTS_MAX => {
                return Ok(ask_for(block, replacement));
            }
            Ok(Some(error)) | Err(error) => error,
        };
        // Only the block's end is missing, and every byte is acknowledged. An error would leave the file open; once it is closed,
        // the NameNode has its block copied.
        let is_ending = self.stage == Stage::Close;
        if !is_ending && !self.file.client.settings.replace_best_effort {
            return Err(error);
        }
        let why = match is_ending {
            true => "all data of the block is acknowledged",
            false => {
                "dfs.client.block.write.replace-datanode-on-failure.best-effort is set to true"
            }
        };
        tracing::warn!(
            "Failed to replace datanode. Continue with the remaining datanodes since {why}: {error}"
        );
        Ok((Step::Stamp, None))
    }

    /// Why the copy failed, if it did; an error if no other DataNode may be asked for.
    fn copy_once(
        &mut self,
        block: &ExtendedBlock,
        replacement: &mut Replacement,
    ) -> Result<Option<Error>> {
        let located = self.take_located()?;
        let Replacement { nodes, exclude, tried } = replacement;
        let Some(new) = newcomer(nodes, &located) else {
            return self.no_newcomer(nodes).map(|()| None);
        };
        let Some(source) = nodes.get(*tried % nodes.len().max(1)) else {
            return Err(Error::plain("Failed to add a node"));
        };
        let (client, sent_len) = (&self.file.client, self.packets.sent_len());
        let copied = pipeline::transfer(client, block, &located.token, source, &new, sent_len);
        let Err(error) = copied else {
            self.nodes = located.replicas;
            return Ok(None);
        };
        let doing = format!("Error transferring data from {source} to {new}");
        tracing::warn!("{doing}: {error}");
        exclude.push(new.node);
        *tried += 1;
        Ok(Some(Error::io(doing, error)))
    }

    /// No DataNode is left to add: an error, unless enough of them are there.
    fn no_newcomer(&self, original: &[Replica]) -> Result<()> {
        let settings = &self.file.client.settings;
        let enough = settings.replace_min_replication;
        if enough > 0 && original.len() >= enough {
            return Ok(());
        }
        let nodes = names(original);
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

/// The NameNode is asked for a replacement.
fn ask_for(block: &ExtendedBlock, replacement: Replacement) -> (Step, Option<Need>) {
    let (nodes, exclude) = (replacement.nodes.clone(), replacement.exclude.clone());
    let need = Need::Replacement { block: block.clone(), nodes, exclude };
    (Step::Copy(replacement), Some(need))
}

fn names(nodes: &[Replica]) -> String {
    let names: Vec<String> = nodes.iter().map(Replica::to_string).collect();
    names.join(", ")
}

/// Setting up for append is asked for as such once; after a failure it is a recovery.
fn after_failure(stage: BlockConstructionStage) -> BlockConstructionStage {
    match stage {
        BlockConstructionStage::PipelineSetupAppend => {
            BlockConstructionStage::PipelineSetupAppendRecovery
        }
        other => other,
    }
}
