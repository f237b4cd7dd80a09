//! Recovers a block on the NameNode's behalf: all replicas get the same length and stamp.
//! (`BlockRecoveryWorker.RecoveryTaskContiguous`)

use super::inter::{PROTOCOL, VERSION};
use crate::namenodes::PoolService;
use crate::node::Node;
use crate::store::RecoveryInfo;
use std::sync::Arc;
use zerohop_proto::hdfs::datanode::{
    CommitBlockSynchronizationRequestProto, CommitBlockSynchronizationResponseProto,
};
use zerohop_proto::hdfs::{
    DatanodeIdProto, InitReplicaRecoveryRequestProto, InitReplicaRecoveryResponseProto,
    RecoveringBlockProto, ReplicaStateProto, UpdateReplicaUnderRecoveryRequestProto,
    UpdateReplicaUnderRecoveryResponseProto,
};
use zerohop_transport::rpc::{RpcClient, RpcError};
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{
    Block, BlockId, ExtendedBlock, GenerationStamp, JavaException, RemoteException,
};

/// A replica that takes part.
struct Participant {
    id: DatanodeIdProto,
    info: RecoveryInfo,
}

/// A recovery under way.
struct Recovery {
    node: Arc<Node>,
    service: Arc<PoolService>,
    message: RecoveringBlockProto,
    block: ExtendedBlock,
    id: GenerationStamp,
}

/// Recovers one block; a failure is logged, the NameNode will ask again.
pub(crate) async fn recover(
    node: Arc<Node>,
    service: Arc<PoolService>,
    message: RecoveringBlockProto,
) {
    let block = ExtendedBlock::from(&message.block.b);
    let id = GenerationStamp(message.new_gen_stamp as i64);
    let recovery = Recovery { node, service, message, block, id };
    if let Err(reason) = recovery.run().await {
        tracing::warn!("recovery of {} failed: {reason}", recovery.block);
    }
}

/// The answers of the DataNodes of a block.
#[derive(Default)]
struct Answers {
    found: Vec<Participant>,
    /// Replicas with bytes and a stamp that is not older than the block's, in whatever state.
    candidates: usize,
    /// DataNodes that did not answer, or refused, and why.
    errors: Vec<String>,
}

impl Answers {
    fn add(&mut self, id: &DatanodeIdProto, info: Option<RecoveryInfo>, stamp: GenerationStamp) {
        let has_bytes = |info: &RecoveryInfo| info.block.stamp >= stamp && info.block.len > 0;
        let Some(info) = info.filter(has_bytes) else { return };
        self.candidates += 1;
        if matches!(info.original, ReplicaState::Finalized | ReplicaState::Rbw | ReplicaState::Rwr)
        {
            self.found.push(Participant { id: id.clone(), info });
        }
    }

    /// Returns the replicas to recover, or none if nothing was ever written.
    ///
    /// # Errors
    /// Fails if a DataNode without an answer may hold flushed bytes that the found replicas lack. A finalized replica and one
    /// whose writer was stopped just now have all flushed bytes. A replica that waited for recovery may have lost some in a
    /// power failure.
    fn participants(self, block: &ExtendedBlock) -> Result<Vec<Participant>, String> {
        let is_whole = |p: &Participant| {
            matches!(p.info.original, ReplicaState::Finalized | ReplicaState::Rbw)
        };
        if !self.errors.is_empty() && !self.found.iter().any(is_whole) {
            let errors = self.errors.join("; ");
            return Err(format!(
                "no answer from {} DataNode(s), which may hold flushed bytes: {errors}",
                self.errors.len()
            ));
        }
        if self.candidates > 0 && self.found.is_empty() {
            return Err(format!(
                "Found {} replica(s) for block {block} but none is in RWR or better state",
                self.candidates
            ));
        }
        Ok(self.found)
    }
}

impl Recovery {
    async fn run(&self) -> Result<(), String> {
        let Some(found) = self.ask_all().await? else { return Ok(()) };
        if found.is_empty() {
            return self.commit(0, true, &[], &[]).await;
        }
        let (participants, mut len) = choose(found)?;
        let truncated = self.message.truncate_block.as_ref().map(Block::from);
        if let Some(truncated) = &truncated {
            len = truncated.len;
        }
        let new_id = truncated.map_or(self.block.block.id, |block| block.id);
        self.update_all(participants, new_id, len).await
    }

    /// Stops the writers of all replicas and asks what they have. Returns `None` if a newer recovery is in progress.
    async fn ask_all(&self) -> Result<Option<Vec<Participant>>, String> {
        let mut answers = Answers::default();
        for location in &self.message.block.locs {
            match self.ask(&location.id).await {
                Ok(info) => answers.add(&location.id, info, self.block.block.stamp),
                Err(error) if error.kind() == Some(JavaException::RecoveryInProgress) => {
                    tracing::warn!("{}: recovery {} is not the newest", self.block, self.id);
                    return Ok(None);
                }
                Err(error) => answers.errors.push(format!("{}: {error}", location.id.host_name)),
            }
        }
        answers.participants(&self.block).map(Some)
    }

    fn is_own(&self, id: &DatanodeIdProto) -> bool {
        id.datanode_uuid == self.node.store.datanode_uuid()
    }

    fn client(&self, id: &DatanodeIdProto) -> RpcClient {
        let by_name = self.node.settings.connect_by_name;
        let host = if by_name { &id.host_name } else { &id.ip_addr };
        let addr = format!("{host}:{}", id.ipc_port);
        let mut options = self.node.rpc_options.clone();
        options.rpc_timeout = self.node.settings.socket_timeout;
        RpcClient::new(addr, PROTOCOL, VERSION, &self.node.user, options)
    }

    async fn ask(&self, id: &DatanodeIdProto) -> Result<Option<RecoveryInfo>, RemoteException> {
        if self.is_own(id) {
            let (node, block, recovery) = (Arc::clone(&self.node), self.block.clone(), self.id);
            return blocking(move || node.store.recovery().init_recovery(&block, recovery)).await;
        }
        let request = InitReplicaRecoveryRequestProto { block: self.message.clone() };
        let answer: InitReplicaRecoveryResponseProto =
            self.client(id).call("initReplicaRecovery", &request).await.map_err(exception)?;
        Ok(answer.block.as_ref().filter(|_| answer.replica_found).map(|block| RecoveryInfo {
            block: Block::from(block),
            original: state_from_proto(answer.state()),
        }))
    }

    async fn update(
        &self,
        participant: &Participant,
        new_id: BlockId,
        len: u64,
    ) -> Result<String, RemoteException> {
        let old =
            ExtendedBlock { pool: Arc::clone(&self.block.pool), block: participant.info.block };
        if self.is_own(&participant.id) {
            let (node, recovery) = (Arc::clone(&self.node), self.id);
            return blocking(move || {
                let (replica, block) =
                    node.store.recovery().update_recovered(&old, recovery, new_id, len)?;
                node.tell_received(&old.pool, &replica, block, None, false);
                Ok(replica.volume.storage_id())
            })
            .await;
        }
        let request = UpdateReplicaUnderRecoveryRequestProto {
            block: (&old).into(),
            recovery_id: self.id.0 as u64,
            new_length: len,
            new_block_id: Some(new_id.0 as u64),
        };
        let answer: UpdateReplicaUnderRecoveryResponseProto = self
            .client(&participant.id)
            .call("updateReplicaUnderRecovery", &request)
            .await
            .map_err(exception)?;
        Ok(answer.storage_uuid.unwrap_or_default())
    }

    async fn update_all(
        &self,
        participants: Vec<Participant>,
        new_id: BlockId,
        len: u64,
    ) -> Result<(), String> {
        let (mut nodes, mut storages, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for participant in participants {
            match self.update(&participant, new_id, len).await {
                Ok(storage) => {
                    nodes.push(participant.id);
                    storages.push(storage);
                }
                Err(error) => {
                    tracing::warn!("{}: {}: {error}", self.block, participant.id.host_name);
                    failed.push(participant.id.host_name);
                }
            }
        }
        if nodes.is_empty() {
            return Err(format!("the following datanodes failed: {}", failed.join(", ")));
        }
        self.commit(len, false, &nodes, &storages).await
    }

    async fn commit(
        &self,
        len: u64,
        delete: bool,
        nodes: &[DatanodeIdProto],
        storages: &[String],
    ) -> Result<(), String> {
        let link = self.service.active().ok_or("no NameNode is active")?;
        let request = CommitBlockSynchronizationRequestProto {
            block: (&self.block).into(),
            new_gen_stamp: self.id.0 as u64,
            new_length: len,
            close_file: true,
            delete_block: delete,
            new_taragets: nodes.to_vec(),
            new_target_storages: storages.to_vec(),
        };
        let _done: CommitBlockSynchronizationResponseProto = link
            .client()
            .call("commitBlockSynchronization", &request)
            .await
            .map_err(|error| error.to_string())?;
        tracing::info!("recovered {}: {len} bytes on {} nodes", self.block, nodes.len());
        Ok(())
    }
}

/// Which replicas go on, and with how many bytes: finalized ones are right; else those being
/// written, cut to the shortest; else those that waited for recovery.
fn choose(found: Vec<Participant>) -> Result<(Vec<Participant>, u64), String> {
    let has = |state| found.iter().any(|p: &Participant| p.info.original == state);
    if has(ReplicaState::Finalized) {
        let finalized: Vec<u64> = found
            .iter()
            .filter(|p| p.info.original == ReplicaState::Finalized)
            .map(|p| p.info.block.len)
            .collect();
        let len = finalized.first().copied().unwrap_or_default();
        if finalized.iter().any(|other| *other != len) {
            return Err(format!("Inconsistent size of finalized replicas: {finalized:?}"));
        }
        let fits = |p: &Participant| {
            p.info.original == ReplicaState::Finalized
                || p.info.original == ReplicaState::Rbw && p.info.block.len == len
        };
        return Ok((found.into_iter().filter(fits).collect(), len));
    }
    let best = if has(ReplicaState::Rbw) { ReplicaState::Rbw } else { ReplicaState::Rwr };
    let chosen: Vec<Participant> = found.into_iter().filter(|p| p.info.original == best).collect();
    let len = chosen.iter().map(|p| p.info.block.len).min().ok_or("Incorrect block size")?;
    Ok((chosen, len))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, crate::store::Failure> + Send + 'static,
) -> Result<T, RemoteException> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|failure| failure.to_exception()),
        Err(error) => Err(JavaException::Io.with(error.to_string())),
    }
}

fn exception(error: RpcError) -> RemoteException {
    match error {
        RpcError::Remote(exception) => exception,
        other => JavaException::Io.with(other.to_string()),
    }
}

fn state_from_proto(state: ReplicaStateProto) -> ReplicaState {
    match state {
        ReplicaStateProto::Finalized => ReplicaState::Finalized,
        ReplicaStateProto::Rbw => ReplicaState::Rbw,
        ReplicaStateProto::Rwr => ReplicaState::Rwr,
        ReplicaStateProto::Rur => ReplicaState::Rur,
        ReplicaStateProto::Temporary => ReplicaState::Temporary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn participant(original: ReplicaState, len: u64) -> Participant {
        let block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len };
        Participant { id: DatanodeIdProto::default(), info: RecoveryInfo { block, original } }
    }

    #[test]
    fn finalized_replicas_decide_the_length() {
        let all = vec![
            participant(ReplicaState::Finalized, 10),
            participant(ReplicaState::Rbw, 10),
            participant(ReplicaState::Rbw, 8),
            participant(ReplicaState::Rwr, 10),
        ];
        let (chosen, len) = choose(all).unwrap();
        assert_eq!((chosen.len(), len), (2, 10));
    }

    #[test]
    fn else_the_shortest_being_written() {
        let all = vec![
            participant(ReplicaState::Rbw, 12),
            participant(ReplicaState::Rbw, 9),
            participant(ReplicaState::Rwr, 3),
        ];
        let (chosen, len) = choose(all).unwrap();
        assert_eq!((chosen.len(), len), (2, 9));
        let waiting = vec![participant(ReplicaState::Rwr, 3), participant(ReplicaState::Rwr, 5)];
        assert_eq!(choose(waiting).unwrap().1, 3);
    }

    fn answers(found: &[(ReplicaState, u64)], errors: usize) -> Answers {
        let mut answers =
            Answers { errors: vec!["dn: timed out".to_owned(); errors], ..Answers::default() };
        for (state, len) in found {
            let info = participant(*state, *len).info;
            answers.add(&DatanodeIdProto::default(), Some(info), GenerationStamp(1001));
        }
        answers
    }

    /// One DataNode had no replica, the others timed out, and the block was deleted with its flushed bytes.
    #[test]
    fn a_recovery_without_an_answer_from_one_of_its_datanodes_deletes_no_block() {
        let block = ExtendedBlock {
            pool: "BP-1".into(),
            block: participant(ReplicaState::Rbw, 0).info.block,
        };
        let mut one_lacks_it = answers(&[], 2);
        one_lacks_it.add(&DatanodeIdProto::default(), None, GenerationStamp(1001));
        let error = one_lacks_it.participants(&block).err().unwrap();
        assert!(error.contains("no answer from 2 DataNode(s)"), "{error}");
        assert!(answers(&[(ReplicaState::Rbw, 0)], 1).participants(&block).is_err());
        assert!(answers(&[(ReplicaState::Rbw, 0)], 0).participants(&block).unwrap().is_empty());
    }

    /// The power took the last flushed bytes of a replica; the DataNodes that have them were slow to answer.
    #[test]
    fn a_replica_that_waited_for_recovery_does_not_decide_while_another_datanode_is_silent() {
        let block = ExtendedBlock {
            pool: "BP-1".into(),
            block: participant(ReplicaState::Rbw, 0).info.block,
        };
        assert!(answers(&[(ReplicaState::Rwr, 3)], 1).participants(&block).is_err());
        for found in
            [&[(ReplicaState::Rwr, 3), (ReplicaState::Rbw, 9)][..], &[(ReplicaState::Finalized, 9)]]
        {
            assert_eq!(answers(found, 1).participants(&block).unwrap().len(), found.len());
        }
        assert_eq!(answers(&[(ReplicaState::Rwr, 3)], 0).participants(&block).unwrap().len(), 1);
    }

    #[test]
    fn finalized_replicas_of_two_lengths_are_an_error() {
        let all = vec![
            participant(ReplicaState::Finalized, 10),
            participant(ReplicaState::Finalized, 11),
        ];
        assert!(choose(all).is_err());
    }
}
