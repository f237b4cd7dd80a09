//! TRANSFER_BLOCK, and the copies a NameNode asks for: a replica goes to other DataNodes.

use super::outcome::{AfterOperation, OpFailure, answer, not_sent};
use super::peer::{connect, transfer_name};
use super::read_block::sender;
use super::send::SendError;
use crate::node::Node;
use crate::store::Failure;
use crate::transfer::conn::{Conn, invalid};
use std::io;
use std::sync::Arc;
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, CachingStrategyProto, ClientOperationHeaderProto,
    DatanodeInfoProto, OpTransferBlockProto, OpWriteBlockProto, Status,
};
use zerohop_transport::trace;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::transfer::op::{self, OpCode};

/// Where a replica is sent to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    pub(crate) nodes: Vec<DatanodeInfoProto>,
    pub(crate) storage_types: Vec<i32>,
    pub(crate) storage_ids: Vec<String>,
}

/// Serves the operation: a client wants a replica on one more node, to repair its pipeline.
pub(super) fn run(
    node: &Arc<Node>,
    conn: &mut Conn,
    message: &OpTransferBlockProto,
) -> Result<AfterOperation, OpFailure> {
    let block = ExtendedBlock::from(&message.header.base_header.block);
    node.wait_for_pool(&block)?;
    let targets = Targets {
        nodes: message.targets.clone(),
        storage_types: message.target_storage_types.clone(),
        storage_ids: message.target_storage_ids.clone(),
    };
    let (block, stage) = stored_block(node, block)?;
    let token = message.header.base_header.token.clone();
    send_to(node, &block, &targets, stage, &message.header.client_name, token)?;
    answer(conn, Status::Success, "")?;
    Ok(AfterOperation::Close)
}

/// The block as it is here, with what readers may see of it as length.
fn stored_block(node: &Node, mut block: ExtendedBlock) -> Result<(ExtendedBlock, Stage), Failure> {
    let pool = node.store.pools().get(&block.pool)?;
    let replica = pool
        .get(block.block.id)
        .ok_or_else(|| Failure::io(format!("{block} not found in datanode.")))?;
    let status = replica.lock();
    let stored = status.block();
    if stored.stamp < block.block.stamp {
        return Err(Failure::io(format!(
            "{} = storedGS < b.getGenerationStamp(), b={block}",
            stored.stamp
        )));
    }
    block.block.stamp = stored.stamp;
    let stage = match status.state() {
        ReplicaState::Rbw => Stage::TransferRbw,
        ReplicaState::Finalized => Stage::TransferFinalized,
        _ => {
            return Err(Failure::io(format!(
                "{block} is neither a RBW nor a Finalized, r={}",
                status.text(&replica.volume)
            )));
        }
    };
    block.block.len = status.visible().unwrap_or(0);
    Ok((block, stage))
}

/// Sends a replica to the first target, which passes it on to the others.
pub(crate) fn send_to(
    node: &Arc<Node>,
    block: &ExtendedBlock,
    targets: &Targets,
    stage: Stage,
    client_name: &str,
    token: Option<TokenProto>,
) -> Result<(), OpFailure> {
    let Some((first, _)) = targets.nodes.split_first() else { return Ok(()) };
    let _counted = node.count_transfer();
    let count = u32::try_from(targets.nodes.len()).unwrap_or(1).min(64);
    let mut conn = connect(node, first, count)?;
    let opened = node.open_replica(block, block.block.len)?;
    let sender = sender(node, block, opened, 0, Some(block.block.len), true)?;
    let request =
        request(node, block, targets, stage, client_name, token, sender.checksum().into());
    let sent = sender.send(&conn, op::encode(OpCode::WriteBlock, &request), None);
    sent.map_err(|error| match error {
        SendError::Conn(error) => at(&first.id.ip_addr, error).into(),
        error @ SendError::Replica(_) => not_sent(node, block, error),
    })?;
    if !client_name.is_empty() {
        let response: BlockOpResponseProto = conn.read_message()?;
        if response.status() != Status::Success {
            return Err(Failure::io(format!(
                "Bad connect ack, targets={} status={}",
                transfer_name(&first.id),
                response.status().as_str_name()
            ))
            .into());
        }
    }
    node.activity.blocks_replicated.increment();
    tracing::info!("sent {block} ({} bytes) to {}", block.block.len, transfer_name(&first.id));
    Ok(())
}

fn at(host: &str, error: io::Error) -> io::Error {
    invalid(format!("{host}: {error}"))
}

fn request(
    node: &Node,
    block: &ExtendedBlock,
    targets: &Targets,
    stage: Stage,
    client_name: &str,
    token: Option<TokenProto>,
    requested_checksum: zerohop_proto::hdfs::ChecksumProto,
) -> OpWriteBlockProto {
    let rest = |ids: &[String]| ids.get(1..).unwrap_or_default().to_vec();
    let disk = zerohop_wire::StorageType::Disk.number();
    OpWriteBlockProto {
        header: ClientOperationHeaderProto {
            base_header: BaseHeaderProto {
                block: block.into(),
                token: token.or_else(|| Some(TokenProto::default())),
                trace_info: trace::transfer_info(),
            },
            client_name: client_name.to_owned(),
        },
        targets: targets.nodes.get(1..).unwrap_or_default().to_vec(),
        source: node.own_info(&block.pool),
        stage: stage as i32,
        pipeline_size: 0,
        min_bytes_rcvd: 0,
        max_bytes_rcvd: 0,
        latest_generation_stamp: 0,
        requested_checksum,
        caching_strategy: Some(CachingStrategyProto { drop_behind: Some(true), readahead: None }),
        storage_type: Some(targets.storage_types.first().copied().unwrap_or(disk)),
        target_storage_types: targets.storage_types.get(1..).unwrap_or_default().to_vec(),
        allow_lazy_persist: Some(false),
        pinning: Some(false),
        target_pinnings: Vec::new(),
        storage_id: targets.storage_ids.first().cloned(),
        target_storage_ids: rest(&targets.storage_ids),
    }
}
