//! What a NameNode tells a DataNode to do.

use crate::ipc::recovery;
use crate::namenodes::PoolService;
use crate::node::Node;
use crate::op::transfer_block::{Targets, send_to};
use crate::store::Failure;
use std::sync::Arc;
use zerohop_proto::hdfs::datanode::block_command_proto::Action;
use zerohop_proto::hdfs::datanode::block_id_command_proto::Action as IdAction;
use zerohop_proto::hdfs::datanode::datanode_command_proto::Type;
use zerohop_proto::hdfs::datanode::error_report_request_proto::ErrorCode;
use zerohop_proto::hdfs::datanode::{BlockCommandProto, BlockIdCommandProto, DatanodeCommandProto};
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId, ExtendedBlock};

/// Whether the command is to register again.
pub(super) fn asks_to_register(command: &DatanodeCommandProto) -> bool {
    command.cmd_type() == Type::RegisterCommand
}

/// Carries out a command of the active NameNode; what takes long goes to a thread.
pub(super) fn carry_out(
    node: &Arc<Node>,
    service: &Arc<PoolService>,
    command: DatanodeCommandProto,
) {
    match command.cmd_type() {
        Type::BlockCommand => {
            if let Some(command) = command.blk_cmd {
                block_command(node, service, command);
            }
        }
        Type::BlockRecoveryCommand => {
            let blocks = command.recovery_cmd.map(|command| command.blocks).unwrap_or_default();
            for block in blocks {
                node.handle.spawn(recovery::recover(Arc::clone(node), Arc::clone(service), block));
            }
        }
        Type::BalancerBandwidthCommand => {
            if let Some(bandwidth) = command.balancer_cmd.map(|command| command.bandwidth)
                && bandwidth > 0
            {
                tracing::info!("balancer bandwidth is {bandwidth} bytes a second now");
                node.balance_throttle.set_limit(bandwidth);
            }
        }
        Type::BlockIdCommand => {
            if let Some(command) = command.blk_id_cmd {
                let node_for_work = Arc::clone(node);
                node.handle.spawn_blocking(move || cache(&node_for_work, &command));
            }
        }
        Type::FinalizeCommand => {
            if let Some(command) = command.finalize_cmd {
                finalize_upgrade(node, service, command.block_pool_id);
            }
        }
        // No block tokens are checked.
        Type::KeyUpdateCommand
        | Type::NullDatanodeCommand
        | Type::UnusedUpgradeCommand
        | Type::RegisterCommand => {}
        Type::BlockEcReconstructionCommand => {
            tracing::warn!("erasure-coded blocks cannot be rebuilt here");
        }
    }
}

/// Deletes what is kept from before an upgrade of the NameNode's own block pool.
fn finalize_upgrade(node: &Arc<Node>, service: &PoolService, pool_id: String) {
    if service.pool_id().as_deref() != Some(pool_id.as_str()) {
        let name = &service.name;
        return tracing::warn!("{name}: ignored a command to finalize block pool {pool_id}");
    }
    let node_for_work = Arc::clone(node);
    node.handle.spawn_blocking(move || node_for_work.store.finalize_upgrade(&pool_id));
}

fn block_command(node: &Arc<Node>, service: &Arc<PoolService>, command: BlockCommandProto) {
    match command.action() {
        Action::Invalidate => {
            let (node_for_work, under_way) = (Arc::clone(node), node.deletions.begin(&command));
            node.handle.spawn_blocking(move || {
                invalidate(&node_for_work, &command);
                drop(under_way);
            });
        }
        Action::Transfer => transfer(node, service, command),
        Action::Shutdown => tracing::warn!("the NameNode's shutdown command is ignored"),
    }
}

fn invalidate(node: &Node, command: &BlockCommandProto) {
    let pool = match node.store.pools().get(&command.block_pool_id) {
        Ok(pool) => pool,
        Err(failure) => return tracing::warn!("cannot delete replicas: {failure}"),
    };
    for block in &command.blocks {
        match node.store.removal().delete(&pool, Block::from(block)) {
            Ok((deleted, volume)) => {
                node.activity.blocks_removed.increment();
                tracing::debug!("deleted {}:{deleted}", pool.id);
                node.store.events().deleted(&pool.id, deleted, &volume);
                node.tell_deleted(&pool.id, &volume, deleted);
            }
            Err(failure) => tracing::info!("{failure}"),
        }
    }
}

/// Locks replicas in memory, or lets them go.
fn cache(node: &Node, command: &BlockIdCommandProto) {
    let pool = match node.store.pools().get(&command.block_pool_id) {
        Ok(pool) => pool,
        Err(failure) => return tracing::warn!("cannot cache replicas: {failure}"),
    };
    for id in command.block_ids.iter().map(|id| BlockId(*id as i64)) {
        match command.action() {
            IdAction::Cache => match node.store.reads().cache_block(&pool, id) {
                Ok(()) => {
                    node.activity.blocks_cached.increment();
                    tracing::debug!("{}:blk_{id} is locked in memory", pool.id);
                }
                Err(reason) => {
                    tracing::warn!("Failed to cache {}:blk_{id}: {reason}", pool.id);
                }
            },
            IdAction::Uncache => {
                node.activity.blocks_uncached.increment();
                node.store.cache().unlock(&pool.key(id));
            }
        }
    }
}

fn transfer(node: &Arc<Node>, service: &Arc<PoolService>, command: BlockCommandProto) {
    let pool_id: Arc<str> = command.block_pool_id.as_str().into();
    for (index, block) in command.blocks.iter().enumerate() {
        let targets = Targets {
            nodes: command.targets.get(index).map(|t| t.datanodes.clone()).unwrap_or_default(),
            storage_types: command
                .target_storage_types
                .get(index)
                .map(|types| types.storage_types.clone())
                .unwrap_or_default(),
            storage_ids: command
                .target_storage_uuids
                .get(index)
                .map(|ids| ids.storage_uuids.clone())
                .unwrap_or_default(),
        };
        let block = ExtendedBlock { pool: Arc::clone(&pool_id), block: block.into() };
        let (node, service) = (Arc::clone(node), Arc::clone(service));
        let threads = node.threads.clone();
        let run = threads.run(move || {
            replicate(&node, &service, &block, &targets);
            // The NameNode orders further copies in answers to heartbeats only.
            service.links().iter().for_each(|link| link.ask_heartbeat());
        });
        if run.is_err() {
            tracing::warn!("no thread is free to copy a replica; the NameNode will ask again");
        }
    }
}

fn replicate(
    node: &Arc<Node>,
    service: &Arc<PoolService>,
    block: &ExtendedBlock,
    targets: &Targets,
) {
    if let Err(failure) = check_finalized(node, block) {
        let text = format!("Can't send invalid block {block}");
        tracing::info!("{text}: {failure}");
        for link in service.links() {
            let text = text.clone();
            node.handle.spawn(async move {
                link.report_error(ErrorCode::InvalidBlock as u32, text).await;
            });
        }
        return;
    }
    if let Err(failure) = send_to(node, block, targets, Stage::PipelineSetupCreate, "", None) {
        let names: Vec<String> = targets
            .nodes
            .iter()
            .map(|target| format!("{}:{}", target.id.ip_addr, target.id.xfer_port))
            .collect();
        tracing::warn!("{block} did not get to {}: {failure}", names.join(" "));
    }
}

fn check_finalized(node: &Node, block: &ExtendedBlock) -> Result<(), Failure> {
    let replica = node.store.pools().replica(block)?;
    let (state, known) = {
        let status = replica.lock();
        (status.state(), status.block())
    };
    if state != ReplicaState::Finalized || known.stamp != block.block.stamp {
        return Err(Failure::io(format!("the replica here is {replica}")));
    }
    if known.len < block.block.len {
        let cause = format!("it has {} of {} bytes", known.len, block.block.len);
        node.report_own_bad(block, &replica.volume, &cause);
        return Err(Failure::io(cause));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_node::{POOL, TestNode, wait_until};
    use std::fs;
    use zerohop_proto::hdfs::datanode::FinalizeCommandProto;

    fn finalize(pool_id: &str) -> DatanodeCommandProto {
        DatanodeCommandProto {
            cmd_type: Type::FinalizeCommand.into(),
            finalize_cmd: Some(FinalizeCommandProto { block_pool_id: pool_id.to_owned() }),
            ..DatanodeCommandProto::default()
        }
    }

    /// The command was ignored: what Apache's DataNode kept from before an upgrade took its space for ever.
    #[test]
    fn a_finalized_upgrade_kept_its_previous_directory() {
        let test = TestNode::start(&["a", "b"], &[]);
        let block = test.finalized(1, 1000);
        let service = Arc::clone(&test.node.services()[0]);
        let pools = ["a", "b"].map(|name| test.directory(name).join("current").join(POOL));
        let of_volume = test.directory("b").join("previous");
        for previous in [&pools[0].join("previous"), &pools[1].join("previous"), &of_volume] {
            fs::create_dir_all(previous.join("finalized/subdir0")).unwrap();
            fs::write(previous.join("finalized/subdir0/blk_9"), b"deleted since").unwrap();
        }
        carry_out(&test.node, &service, finalize("BP-2-127.0.0.1-2"));
        assert!(pools.iter().all(|pool| pool.join("previous").exists()));
        // A volume has its own finalized first, and its block pool by the next command.
        carry_out(&test.node, &service, finalize(POOL));
        wait_until("a's is gone", || !pools[0].join("previous").exists());
        wait_until("b's own is gone", || !of_volume.exists());
        carry_out(&test.node, &service, finalize(POOL));
        wait_until("all are gone", || !pools[1].join("previous").exists());
        let left = |pool: &std::path::PathBuf| pool.join("finalized.tmp").exists();
        wait_until("deleted", || !pools.iter().any(left));
        assert!(test.knows(&block));
        test.node.open_replica(&block, 0).unwrap().reader.verify().unwrap();
    }
}
