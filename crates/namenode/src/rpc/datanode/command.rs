//! Commands as DataNodes read them.

use crate::convert;
use zerohop_namespace::LocatedBlock;
use zerohop_namespace::blocks::{
    BlockLocations, Command, RecoverCommand, ReplicaLocation, TransferCommand,
};
use zerohop_proto::hdfs::datanode::datanode_command_proto::Type;
use zerohop_proto::hdfs::datanode::{
    BalancerBandwidthCommandProto, BlockCommandProto, BlockIdCommandProto,
    BlockRecoveryCommandProto, DatanodeCommandProto, FinalizeCommandProto, RegisterCommandProto,
    block_command_proto::Action, block_id_command_proto::Action as IdAction,
};
use zerohop_proto::hdfs::{
    BlockProto, DatanodeInfosProto, RecoveringBlockProto, StorageTypesProto, StorageUuidsProto,
};
use zerohop_wire::{Block, BlockId, GenerationStamp};

pub(super) fn proto(command: Command, pool: &str) -> DatanodeCommandProto {
    match command {
        Command::Transfer(transfers) => block_command(transfer(transfers, pool)),
        Command::Invalidate(blocks) => block_command(invalidate(blocks, pool)),
        Command::Recover(recoveries) => DatanodeCommandProto {
            recovery_cmd: Some(BlockRecoveryCommandProto {
                blocks: recoveries.into_iter().map(|command| recovering(command, pool)).collect(),
            }),
            ..of_type(Type::BlockRecoveryCommand)
        },
        Command::Cache(ids) => block_ids(IdAction::Cache, ids, pool),
        Command::Uncache(ids) => block_ids(IdAction::Uncache, ids, pool),
        Command::Register => DatanodeCommandProto {
            register_cmd: Some(RegisterCommandProto {}),
            ..of_type(Type::RegisterCommand)
        },
        Command::BalancerBandwidth(bandwidth) => DatanodeCommandProto {
            balancer_cmd: Some(BalancerBandwidthCommandProto { bandwidth }),
            ..of_type(Type::BalancerBandwidthCommand)
        },
    }
}

/// The answer to a full report: nothing before an upgrade needs to be kept.
pub(super) fn finalize(pool: &str) -> DatanodeCommandProto {
    DatanodeCommandProto {
        finalize_cmd: Some(FinalizeCommandProto { block_pool_id: pool.to_owned() }),
        ..of_type(Type::FinalizeCommand)
    }
}

fn of_type(kind: Type) -> DatanodeCommandProto {
    DatanodeCommandProto { cmd_type: kind.into(), ..DatanodeCommandProto::default() }
}

fn block_command(command: BlockCommandProto) -> DatanodeCommandProto {
    DatanodeCommandProto { blk_cmd: Some(command), ..of_type(Type::BlockCommand) }
}

fn block_ids(action: IdAction, ids: Vec<BlockId>, pool: &str) -> DatanodeCommandProto {
    DatanodeCommandProto {
        blk_id_cmd: Some(BlockIdCommandProto {
            action: action.into(),
            block_pool_id: pool.to_owned(),
            block_ids: ids.into_iter().map(|id| id.0 as u64).collect(),
        }),
        ..of_type(Type::BlockIdCommand)
    }
}

fn transfer(transfers: Vec<TransferCommand>, pool: &str) -> BlockCommandProto {
    let mut command = empty(Action::Transfer, pool);
    for TransferCommand { block, targets } in transfers {
        command.blocks.push(BlockProto::from(block));
        command.targets.push(DatanodeInfosProto {
            datanodes: targets.iter().map(|target| convert::datanode_info(&target.node)).collect(),
        });
        command.target_storage_uuids.push(StorageUuidsProto {
            storage_uuids: targets.iter().map(|target| target.storage_id.to_string()).collect(),
        });
        command.target_storage_types.push(StorageTypesProto {
            storage_types: targets.iter().map(|target| target.kind.number()).collect(),
        });
    }
    command
}

fn invalidate(blocks: Vec<Block>, pool: &str) -> BlockCommandProto {
    let mut command = empty(Action::Invalidate, pool);
    // One entry a block is expected in each list, empty here.
    command.targets = vec![DatanodeInfosProto::default(); blocks.len()];
    command.target_storage_uuids = vec![StorageUuidsProto::default(); blocks.len()];
    command.blocks = blocks.into_iter().map(BlockProto::from).collect();
    command
}

fn empty(action: Action, pool: &str) -> BlockCommandProto {
    BlockCommandProto {
        action: action.into(),
        block_pool_id: pool.to_owned(),
        blocks: Vec::new(),
        targets: Vec::new(),
        target_storage_uuids: Vec::new(),
        target_storage_types: Vec::new(),
    }
}

fn recovering(command: RecoverCommand, pool: &str) -> RecoveringBlockProto {
    let RecoverCommand { block, new_stamp: GenerationStamp(stamp), locations, truncate } = command;
    let replicas: Vec<ReplicaLocation> = locations;
    let located = LocatedBlock {
        offset: u64::MAX,
        locations: BlockLocations { block, replicas, corrupt: false },
    };
    RecoveringBlockProto {
        new_gen_stamp: stamp as u64,
        block: convert::located_block(located, pool),
        truncate_block: truncate.map(BlockProto::from),
        ec_policy: None,
        block_indices: None,
    }
}
