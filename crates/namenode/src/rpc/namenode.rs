//! NamenodeProtocol: what checkpointing nodes, the balancer and benchmarks ask.

use super::answer::Call;
use super::service::Protocol;
use crate::ha::OperationCategory;
use crate::identity::no_block_keys;
use crate::message::encode;
use crate::service::synced;
use zerohop_proto::hdfs::namenode::{
    GetBlockKeysRequestProto, GetBlockKeysResponseProto, GetBlocksRequestProto,
    GetBlocksResponseProto, GetMostRecentCheckpointTxIdRequestProto,
    GetMostRecentCheckpointTxIdResponseProto, GetTransactionIdRequestProto,
    GetTransactionIdResponseProto, IsRollingUpgradeRequestProto, IsRollingUpgradeResponseProto,
    IsUpgradeFinalizedRequestProto, IsUpgradeFinalizedResponseProto, RollEditLogResponseProto,
};
use zerohop_proto::hdfs::{
    BlockProto, BlockWithLocationsProto, BlocksWithLocationsProto, CheckpointSignatureProto,
    VersionRequestProto, VersionResponseProto,
};
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_wire::JavaException;

pub(super) struct NamenodeProtocol;

impl Protocol for NamenodeProtocol {
    const NAME: &'static str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        let op = call.op_context();
        if let Err(error) = call.core.check_superuser(&op) {
            return Reply::exception(error.into());
        }
        match method {
            "versionRequest" => version(call),
            "getBlocks" => blocks(call),
            "getBlockKeys" => call.ask(|_, _, _: GetBlockKeysRequestProto| {
                Ok(GetBlockKeysResponseProto { keys: Some(no_block_keys()) })
            }),
            "getTransactionId" => transaction_id(call),
            "rollEditLog" => roll(call),
            "isUpgradeFinalized" => call.ask(|_, _, _: IsUpgradeFinalizedRequestProto| {
                Ok(IsUpgradeFinalizedResponseProto { is_upgrade_finalized: true })
            }),
            "isRollingUpgrade" => call.ask(|core, _, _: IsRollingUpgradeRequestProto| {
                let upgrade = core.read(|namespace| namespace.rolling_upgrade());
                Ok(IsRollingUpgradeResponseProto { is_rolling_upgrade: upgrade.is_under_way() })
            }),
            "getMostRecentCheckpointTxId" => {
                call.ask(|core, _, _: GetMostRecentCheckpointTxIdRequestProto| {
                    let tx_id = core.checkpoints.last_txid() as u64;
                    Ok(GetMostRecentCheckpointTxIdResponseProto { tx_id })
                })
            }
            "errorReport"
            | "registerSubordinateNamenode"
            | "startCheckpoint"
            | "endCheckpoint"
            | "getEditLogManifest"
            | "getNextSPSPath" => Reply::exception(
                JavaException::UnsupportedOperation
                    .with(format!("{method} is not supported by this NameNode")),
            ),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

fn version(call: Call<'_>) -> Reply {
    call.ask(|core, _, _: VersionRequestProto| {
        Ok(VersionResponseProto { info: core.identity.namespace_info(core.ha.state()) })
    })
}

fn transaction_id(call: Call<'_>) -> Reply {
    call.ask(|core, _, _: GetTransactionIdRequestProto| {
        Ok(GetTransactionIdResponseProto { tx_id: core.last_txid().0 as u64 })
    })
}

fn blocks(call: Call<'_>) -> Reply {
    call.ask(|core, _, q: GetBlocksRequestProto| {
        let uuid = &q.datanode.datanode_uuid;
        let size_min = q.min_block_size.unwrap_or(10 << 20);
        let kind = q.storage_type.is_some().then(|| q.storage_type().into());
        let found = core.read_as(OperationCategory::Read, |namespace| {
            namespace.check_safe_mode(|| "Cannot execute getBlocks".to_owned())?;
            Ok(namespace.blocks().lookup().blocks_of(uuid, q.size, size_min, kind))
        })?;
        let Some(found) = found else {
            let message = format!("Datanode {uuid} not found.");
            return Err(JavaException::HadoopIllegalArgument.with(message));
        };
        let blocks = found.into_iter().map(|(block, replicas)| BlockWithLocationsProto {
            block: BlockProto::from(block),
            datanode_uuids: replicas.iter().map(|replica| replica.node.id.uuid.clone()).collect(),
            storage_uuids: replicas.iter().map(|replica| replica.storage_id.to_string()).collect(),
            storage_types: replicas.iter().map(|replica| replica.kind.number()).collect(),
            indices: None,
            data_block_num: None,
            cell_size: None,
        });
        Ok(GetBlocksResponseProto { blocks: BlocksWithLocationsProto { blocks: blocks.collect() } })
    })
}

fn roll(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    let (ended, sync) = match core.roll_edits() {
        Ok(rolled) => rolled,
        Err(error) => return Reply::exception(error.into()),
    };
    Reply::later(async move {
        synced(sync).await?;
        let signature = CheckpointSignatureProto {
            block_pool_id: core.identity.pool.to_string(),
            most_recent_checkpoint_tx_id: core.checkpoints.last_txid() as u64,
            cur_segment_tx_id: ended.0 as u64 + 1,
            storage_info: core.identity.storage_info(),
        };
        Ok(encode(&RollEditLogResponseProto { signature }))
    })
}
