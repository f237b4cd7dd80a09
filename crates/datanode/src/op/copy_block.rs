//! COPY_BLOCK: a whole replica for another DataNode that takes it over (balancer, mover).

use super::outcome::{AfterOperation, OpFailure, answer, not_sent, success_with_checksum};
use super::read_block::sender;
use crate::node::Node;
use crate::transfer::conn::Conn;
use std::sync::Arc;
use zerohop_proto::hdfs::{OpCopyBlockProto, Status};
use zerohop_wire::ExtendedBlock;

/// Serves the operation.
pub(super) fn run(
    node: &Arc<Node>,
    conn: &mut Conn,
    message: &OpCopyBlockProto,
) -> Result<AfterOperation, OpFailure> {
    let block = ExtendedBlock::from(&message.header.block);
    node.wait_for_pool(&block)?;
    let Some(_move) = node.begin_move() else {
        let text = format!(
            "Not able to copy block {} to {} because threads quota={} is exceeded.",
            block.block.id,
            conn.peer,
            node.adjustable().balance_max_moves
        );
        answer(conn, Status::Error, text)?;
        return Ok(AfterOperation::Close);
    };
    let opened = node.open_replica(&block, 0)?;
    let sender = sender(node, &block, opened, 0, None, true)?;
    let sent = sender.send(conn, success_with_checksum(&sender), Some(&node.balance_throttle));
    sent.map_err(|error| not_sent(node, &block, error))?;
    // A sign that all is sent: the receiver waits for these two bytes (a Java char).
    conn.write_all(&[0, b'd'])?;
    tracing::info!("copied {block} to {}", conn.peer);
    Ok(AfterOperation::Close)
}
