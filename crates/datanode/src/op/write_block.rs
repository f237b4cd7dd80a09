//! WRITE_BLOCK: all stages of a pipeline, and copies from other DataNodes.

use super::outcome::{AfterOperation, OpFailure, answer};
use super::peer::{connect, patience, transfer_name};
use super::receive::{Downstream, Mode, Receiver, Sink};
use crate::node::Node;
use crate::store::Failure;
use crate::store::choose;
use crate::store::replica::Replica;
use crate::store::write::{Placement, Writable};
use crate::store::writer::Writer;
use crate::transfer::conn::{Conn, invalid};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use zerohop_proto::hdfs::{BlockOpResponseProto, DatanodeInfoProto, OpWriteBlockProto, Status};
use zerohop_replica::Durability;
use zerohop_transport::trace;
use zerohop_wire::transfer::op::{self, OpCode};
use zerohop_wire::transfer::pipeline_request::for_downstream;
use zerohop_wire::{DataChecksum, ExtendedBlock, GenerationStamp};

/// Room that is set aside for a block whose size the request does not tell.
const DEFAULT_ROOM: u64 = 128 << 20;

struct Write<'a> {
    node: &'a Arc<Node>,
    message: OpWriteBlockProto,
    block: ExtendedBlock,
    stage: Stage,
    checksum: DataChecksum,
    /// A client writes; else another DataNode copies a replica here.
    from_client: bool,
}

/// Serves the operation.
pub(super) fn run(
    node: &Arc<Node>,
    conn: &mut Conn,
    message: OpWriteBlockProto,
) -> Result<AfterOperation, OpFailure> {
    let block = ExtendedBlock::from(&message.header.base_header.block);
    let write = Write {
        node,
        stage: message.stage(),
        checksum: DataChecksum::try_from(&message.requested_checksum).map_err(invalid)?,
        from_client: !message.header.client_name.is_empty(),
        block,
        message,
    };
    node.wait_for_pool(&write.block)?;
    tracing::debug!("receiving {} from {}, {:?}", write.block, conn.peer, write.stage);
    if write.from_client && write.stage == Stage::PipelineCloseRecovery {
        write.recover_close(conn)?;
    } else {
        write.receive(conn)?;
    }
    Ok(AfterOperation::Close)
}

impl Write<'_> {
    fn new_stamp(&self) -> GenerationStamp {
        GenerationStamp(self.message.latest_generation_stamp as i64)
    }

    fn is_transfer(&self) -> bool {
        matches!(self.stage, Stage::TransferRbw | Stage::TransferFinalized)
    }

    /// The block as it is called after this operation.
    fn written_block(&self) -> ExtendedBlock {
        let mut block = self.block.clone();
        let restamps = self.from_client && !self.is_transfer();
        if restamps && self.message.latest_generation_stamp != 0 {
            block.block.stamp = self.new_stamp();
        }
        block
    }

    /// Completes the replica here and on the DataNodes downstream; no data flows.
    fn recover_close(&self, conn: &mut Conn) -> Result<(), OpFailure> {
        let least = self.message.min_bytes_rcvd;
        let replica =
            self.node.store.writes().recover_close(&self.block, self.new_stamp(), least)?;
        let downstream = self.connect_downstream(conn, None)?;
        let (status, first_bad) = self.downstream_answer(conn, downstream)?.1;
        self.confirm(conn, status, first_bad)?;
        self.node.tell_received(&self.block.pool, &replica, replica.block(), None, true);
        Ok(())
    }

    fn receive(&self, conn: &mut Conn) -> Result<(), OpFailure> {
        if self.is_transfer() && !self.message.targets.is_empty() {
            return Err(Failure::io(format!(
                "{} does not support multiple targets",
                self.stage.as_str_name()
            ))
            .into());
        }
        if !self.from_client {
            self.ask_for_copies();
        }
        let control = Writer::new(Arc::clone(conn.stream()));
        let target = self.open_target(&control)?;
        let replica = Arc::clone(&target.replica);
        let received = self.receive_into(conn, target, &control);
        if received.is_err() {
            replica.expect_no_more();
        }
        replica.release(&control);
        if received.is_err() && (!self.from_client || self.is_transfer()) {
            self.node.store.writes().drop_temporary(&self.block.pool, &replica);
        }
        received
    }

    /// Replicas are being made again: the NameNode probably has some to be copied from here, too, and tells so
    /// in answers to heartbeats only.
    fn ask_for_copies(&self) {
        if let Some(service) = self.node.service(&self.block.pool) {
            service.links().iter().for_each(|link| link.ask_heartbeat());
        }
    }

    fn receive_into(
        &self,
        conn: &mut Conn,
        target: Writable,
        control: &Arc<Writer>,
    ) -> Result<(), OpFailure> {
        let mut downstream = self.connect_downstream(conn, Some(control))?;
        let acks = self.from_client && !self.is_transfer();
        if self.from_client {
            let (ready, (status, first_bad)) = self.downstream_answer(conn, downstream)?;
            if acks {
                self.confirm(conn, status, first_bad)?;
            }
            downstream = ready;
        }
        let mode = Mode {
            acks,
            verify: downstream.is_none() || !self.from_client,
            sync_on_close: self.node.settings.sync_on_close,
            timeout: self.node.settings.socket_timeout,
        };
        let replica = Arc::clone(&target.replica);
        let is_local = conn.is_local();
        self.node.activity.written.begin(is_local);
        let _receiving = self.node.activity.receiving.during();
        let sink = WriteSink { write: self, is_local, replica };
        Receiver::new(conn, downstream, target, self.checksum, Arc::clone(control), sink, mode)
            .run()?;
        if self.is_transfer() {
            answer(conn, Status::Success, "")?;
        }
        Ok(())
    }

    fn open_target(&self, writer: &Arc<Writer>) -> Result<Writable, Failure> {
        let writes = self.node.store.writes();
        let placement = Placement {
            storage_type: choose::storage_type(self.message.storage_type),
            checksum: self.checksum,
            room: match self.block.block.len {
                0 => DEFAULT_ROOM,
                len => len,
            },
        };
        if !self.from_client {
            return writes.create_temporary(&self.block, false, placement, writer);
        }
        let (stamp, least) = (self.new_stamp(), self.message.min_bytes_rcvd);
        let target = match self.stage {
            Stage::PipelineSetupCreate => {
                writes.create_rbw(&self.block, stamp, placement, writer)?
            }
            Stage::PipelineSetupStreamingRecovery => {
                let most = self.message.max_bytes_rcvd;
                writes.recover_rbw(&self.block, stamp, least, most, writer)?
            }
            Stage::PipelineSetupAppend => writes.append(&self.block, stamp, least, writer)?,
            Stage::PipelineSetupAppendRecovery => {
                writes.recover_append(&self.block, stamp, least, writer)?
            }
            Stage::TransferRbw | Stage::TransferFinalized => {
                return writes.create_temporary(&self.block, true, placement, writer);
            }
            Stage::DataStreaming | Stage::PipelineClose | Stage::PipelineCloseRecovery => {
                return Err(Failure::io(format!(
                    "Unsupported stage {} while receiving block {}",
                    self.stage.as_str_name(),
                    self.block
                )));
            }
        };
        self.node.tell_receiving(&self.block.pool, &target.replica);
        Ok(target)
    }

    /// Connects to the next node and passes the request on.
    fn connect_downstream(
        &self,
        conn: &Conn,
        control: Option<&Arc<Writer>>,
    ) -> Result<Option<Downstream>, OpFailure> {
        let Some((target, _)) = self.message.targets.split_first() else { return Ok(None) };
        let name = transfer_name(&target.id);
        match self.open_downstream(target) {
            Ok(opened) => {
                if let Some(control) = control {
                    control.add(Arc::clone(opened.stream()));
                }
                let patience = patience(self.node, self.downstream_count());
                let downstream = Downstream::new(opened, name, patience)
                    .counted(&self.node.activity.ack_round_trips);
                Ok(Some(match self.message.targets.len() {
                    1 => downstream.measured(&self.node.peer_latencies),
                    _ => downstream,
                }))
            }
            Err(error) => {
                self.downstream_failed(conn, &name, error)?;
                Ok(None)
            }
        }
    }

    fn open_downstream(&self, target: &DatanodeInfoProto) -> io::Result<Conn> {
        let downstream = connect(self.node, target, self.downstream_count())?;
        let mut request = for_downstream(&self.message);
        // A DataNode that makes no spans passes on what the client said.
        if let Some(here) = trace::transfer_info() {
            request.header.base_header.trace_info = Some(here);
        }
        downstream.write_all(&op::encode(OpCode::WriteBlock, &request))?;
        Ok(downstream)
    }

    /// How many DataNodes are downstream of this one.
    fn downstream_count(&self) -> u32 {
        u32::try_from(self.message.targets.len()).unwrap_or(u32::MAX).min(64)
    }

    /// A client is told which node failed; a copy goes on without the DataNodes downstream.
    fn downstream_failed(
        &self,
        conn: &Conn,
        name: &str,
        error: io::Error,
    ) -> Result<(), OpFailure> {
        if !self.from_client {
            tracing::info!("{}: goes on without {name}: {error}", self.block);
            return Ok(());
        }
        conn.write_message(&BlockOpResponseProto {
            status: Status::Error as i32,
            first_bad_link: Some(name.to_owned()),
            ..Default::default()
        })?;
        let text = format!("{}: cannot reach {name}: {error}", self.block);
        Err(OpFailure::Failed(Failure::io(text)))
    }

    /// Waits until all DataNodes downstream are ready.
    fn downstream_answer(
        &self,
        conn: &Conn,
        downstream: Option<Downstream>,
    ) -> Result<(Option<Downstream>, (Status, String)), OpFailure> {
        let Some(mut downstream) = downstream else {
            return Ok((None, (Status::Success, String::new())));
        };
        match downstream.conn.read_message::<BlockOpResponseProto>() {
            Ok(response) => {
                let status = response.status();
                let first_bad = response.first_bad_link.unwrap_or_default();
                Ok((Some(downstream), (status, first_bad)))
            }
            Err(error) => {
                let name = downstream.name.clone();
                self.downstream_failed(conn, &name, error)?;
                Ok((None, (Status::Error, name)))
            }
        }
    }

    fn confirm(&self, conn: &Conn, status: Status, first_bad: String) -> io::Result<()> {
        conn.write_message(&BlockOpResponseProto {
            status: status as i32,
            first_bad_link: Some(first_bad),
            ..Default::default()
        })
    }
}

struct WriteSink<'a> {
    write: &'a Write<'a>,
    /// The sender is on this machine.
    is_local: bool,
    replica: Arc<Replica>,
}

impl Sink for WriteSink<'_> {
    fn finalize(&mut self, target: &Writable, sync: bool) -> io::Result<()> {
        let (node, write) = (self.write.node, self.write);
        if write.stage == Stage::TransferRbw && write.from_client {
            let converted =
                node.store.writes().convert_temporary_to_rbw(&write.block, &target.replica);
            return converted.map_err(|failure| io::Error::other(failure.to_string()));
        }
        let durability = if sync { Durability::Disk } else { Durability::PageCache };
        let block = node
            .store
            .writes()
            .finalize(&target.replica, durability)
            .map_err(|failure| io::Error::other(failure.to_string()))?;
        node.activity.blocks_written.increment();
        tracing::debug!("received {}, {} bytes", write.written_block(), block.len);
        let waits = write.from_client && !write.is_transfer();
        if !write.is_transfer() {
            node.tell_received(&write.block.pool, &target.replica, block, None, waits);
        }
        Ok(())
    }

    fn wrote(&mut self, packets: usize, bytes: u64, took: Duration) {
        let activity = &self.write.node.activity;
        activity.packets_received.add(packets as u64);
        activity.written.moved(bytes, self.is_local, took);
    }

    fn corrupt(&mut self) {
        if let (false, Some(source)) = (self.write.from_client, &self.write.message.source) {
            self.write.node.report_remote_bad(&self.write.block, source.clone());
        }
        tracing::debug!("{}: a checksum did not fit", self.replica.id);
    }

    fn status_on_failure(&self) -> Option<Status> {
        let (node, write) = (self.write.node, self.write);
        if !node.is_restarting() {
            return None;
        }
        node.keep_for_restart(&write.block.pool, &self.replica);
        Some(Status::OobRestart)
    }
}
