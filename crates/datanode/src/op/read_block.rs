//! READ_BLOCK: a range of a replica, in packets.

use super::outcome::{AfterOperation, OpFailure, answer, not_sent, success_with_checksum};
use super::send::Sender;
use crate::node::Node;
use crate::store::Failure;
use crate::transfer::conn::Conn;
use std::sync::Arc;
use zerohop_proto::hdfs::{ClientReadStatusProto, OpReadBlockProto, Status};
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;

/// Serves the operation.
pub(super) fn run(
    node: &Arc<Node>,
    conn: &mut Conn,
    message: &OpReadBlockProto,
) -> Result<AfterOperation, OpFailure> {
    let block = ExtendedBlock::from(&message.header.base_header.block);
    node.wait_for_pool(&block)?;
    let with_sums = message.send_checksums.unwrap_or(true);
    let sender = match open(node, &block, message.offset, message.len, with_sums) {
        Ok(sender) => sender,
        Err(failure) => {
            let text = format!("opReadBlock {block} received exception {failure}");
            answer(conn, Status::Error, &text)?;
            return Err(failure.into());
        }
    };
    let (is_local, begun) = (conn.is_local(), clock::now());
    node.activity.read.begin(is_local);
    let sent = sender.send(conn, success_with_checksum(&sender), None);
    let bytes = sent.map_err(|error| not_sent(node, &block, error))?;
    node.activity.read.moved(bytes, is_local, clock::since(begun));
    // The client says whether the checksums fitted; then the connection is free again.
    let status: ClientReadStatusProto = conn.read_message()?;
    tracing::trace!("{}: read {block}: {}", conn.peer, status.status);
    if status.status == Status::ErrorChecksum as i32 {
        node.suspect_replica(&block);
    }
    Ok(AfterOperation::Keep)
}

fn open(
    node: &Node,
    block: &ExtendedBlock,
    offset: u64,
    len: u64,
    with_sums: bool,
) -> Result<Sender, Failure> {
    let opened = node.open_for_client(block, offset.saturating_add(len))?;
    sender(node, block, opened, offset, Some(len), with_sums)
}

/// A sender of a range; an exception as Apache words it when the range is not there.
pub(super) fn sender(
    node: &Node,
    block: &ExtendedBlock,
    opened: crate::store::Opened,
    offset: u64,
    len: Option<u64>,
    with_sums: bool,
) -> Result<Sender, Failure> {
    Sender::new(opened, offset, len, with_sums, node.settings.sendfile).map_err(|out| {
        Failure::io(format!(
            " Offset {offset} and length {} don't match block {block} ( blockLen {} )",
            len.unwrap_or(out.len),
            out.len
        ))
    })
}
