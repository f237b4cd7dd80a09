//! REPLACE_BLOCK: takes a replica over from another DataNode, or from another volume of this one
//! (balancer, mover).

use super::outcome::{AfterOperation, OpFailure, answer};
use super::peer::connect;
use super::receive::{Mode, Receiver, Sink};
use crate::node::Node;
use crate::store::Failure;
use crate::store::choose;
use crate::store::write::{Placement, Writable};
use crate::store::writer::Writer;
use crate::transfer::conn::{Conn, invalid};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::{BlockOpResponseProto, OpCopyBlockProto, OpReplaceBlockProto, Status};
use zerohop_replica::{Durability, ErrorKind};
use zerohop_system::clock;
use zerohop_transport::trace;
use zerohop_wire::transfer::op::{self, OpCode};
use zerohop_wire::{DataChecksum, ExtendedBlock};

/// Serves the operation.
pub(super) fn run(
    node: &Arc<Node>,
    conn: &mut Conn,
    message: &OpReplaceBlockProto,
) -> Result<AfterOperation, OpFailure> {
    let block = ExtendedBlock::from(&message.header.block);
    node.wait_for_pool(&block)?;
    let Some(_move) = node.begin_move() else {
        let text = format!(
            "Not able to receive block {} from {} because threads quota={} is exceeded.",
            block.block.id,
            conn.peer,
            node.adjustable().balance_max_moves
        );
        answer(conn, Status::Error, text)?;
        return Ok(AfterOperation::Close);
    };
    if let Err(failure) = take_over(node, conn, message, &block) {
        let text = format!("opReplaceBlock {block} received exception {failure}");
        answer(conn, Status::Error, text)?;
        return Err(failure);
    }
    answer(conn, Status::Success, "")?;
    Ok(AfterOperation::Close)
}

fn take_over(
    node: &Arc<Node>,
    conn: &Conn,
    message: &OpReplaceBlockProto,
    block: &ExtendedBlock,
) -> Result<(), OpFailure> {
    if message.source.id.datanode_uuid == node.store.datanode_uuid() {
        return move_within(node, message, block);
    }
    let mut source = connect(node, &message.source, 1)?;
    let mut request = OpCopyBlockProto { header: message.header.clone() };
    if let Some(here) = trace::transfer_info() {
        request.header.trace_info = Some(here);
    }
    source.write_all(&op::encode(OpCode::CopyBlock, &request))?;
    let response: BlockOpResponseProto = source.read_message()?;
    let info = response.read_op_checksum_info.as_ref();
    let (Status::Success, Some(info)) = (response.status(), info) else {
        return Err(Failure::io(format!(
            "Got error, status={}, status message {}, copy block {block} from {}",
            response.status().as_str_name(),
            response.message(),
            source.peer
        ))
        .into());
    };
    let checksum = DataChecksum::try_from(&info.checksum).map_err(invalid)?;
    let writer = Writer::new(Arc::clone(source.stream()));
    let placement = Placement {
        storage_type: choose::storage_type(message.storage_type),
        checksum,
        room: block.block.len,
    };
    let target = node.store.writes().create_temporary(block, false, placement, &writer)?;
    let replica = Arc::clone(&target.replica);
    let sink = Moved { node, block, conn, hint: &message.del_hint, answered: clock::now() };
    let mode = mode(node.settings.socket_timeout);
    let moved =
        Receiver::new(&mut source, None, target, checksum, Arc::clone(&writer), sink, mode).run();
    replica.release(&writer);
    if moved.is_err() {
        node.store.writes().drop_temporary(&block.pool, &replica);
    }
    Ok(moved?)
}

/// How a replica is received. It is forced to disk even without `dfs.datanode.synconclose`: the source
/// is deleted when the NameNode hears of the copy, and may have been on disk.
const fn mode(timeout: Duration) -> Mode {
    Mode { acks: false, verify: true, sync_on_close: true, timeout }
}

/// Source and target are this node: another of its volumes gets the replica.
fn move_within(
    node: &Arc<Node>,
    message: &OpReplaceBlockProto,
    block: &ExtendedBlock,
) -> Result<(), OpFailure> {
    let moved = node.store.moves().move_to_type(block, choose::storage_type(message.storage_type));
    let moved = moved.inspect_err(|failure| {
        if let (Failure::Files(error), Ok(replica)) = (failure, node.store.pools().replica(block))
            && error.kind() == ErrorKind::Corrupt
        {
            node.report_own_bad(block, &replica.volume, &error.to_string());
        }
    })?;
    let hint = Some(message.del_hint.clone());
    // The NameNode takes it for moved: it is not told that the old one is gone.
    node.tell_received(&block.pool, &moved.replica, moved.block, hint, false);
    node.store.moves().clean_up(&block.pool, &moved);
    tracing::info!("moved {block} to {}", moved.replica.volume);
    Ok(())
}

struct Moved<'a> {
    node: &'a Arc<Node>,
    block: &'a ExtendedBlock,
    conn: &'a Conn,
    hint: &'a str,
    answered: Instant,
}

impl Sink for Moved<'_> {
    fn finalize(&mut self, target: &Writable, sync: bool) -> io::Result<()> {
        let durability = if sync { Durability::Disk } else { Durability::PageCache };
        let block = self
            .node
            .store
            .writes()
            .finalize(&target.replica, durability)
            .map_err(|failure| io::Error::other(failure.to_string()))?;
        let hint = Some(self.hint.to_owned());
        self.node.tell_received(&self.block.pool, &target.replica, block, hint, false);
        tracing::info!("moved {} here, instead of {}", self.block, self.hint);
        Ok(())
    }

    /// The balancer waits; a slow move is not a dead one.
    fn progress(&mut self) -> io::Result<()> {
        let every: Duration = self.node.settings.socket_timeout / 2;
        if clock::since(self.answered) > every {
            answer(self.conn, Status::InProgress, "")?;
            self.answered = clock::now();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source was deleted while the copy was in the page cache only.
    #[test]
    fn a_move_is_synced_before_its_source_is_deleted() {
        assert!(mode(Duration::ZERO).sync_on_close);
    }
}
