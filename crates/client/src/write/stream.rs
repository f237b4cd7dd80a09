//! A block on its way: packets sent, acknowledged, or sent again after a recovery.
//!
//! [`BlockWrite`] knows which packet comes next; here packets and acknowledgements go through the socket.

use super::call::{Answer, WrittenFile};
use super::packet::Packet;
use super::packet_buffers::PacketBuffers;
use super::pipeline::Pipeline;
use super::set_up::SetUp;
use crate::error::{Error, Result};
use crate::lease::Idle;
use crate::types::{DatanodeInfo, FileStatus, LocatedBlock, Replica};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_proto::common::TokenProto;
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::checksum_type::DataChecksum;
use zerohop_wire::transfer::block_write::{BlockWrite, WriteOptions};
use zerohop_wire::transfer::pipeline_fault::PipelineFault;

/// Bytes that may be under way where packets are large.
const IN_FLIGHT_LEN: usize = 5 << 20;

/// Where a stream is in the life of a block (`BlockConstructionStage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The next packet needs a new block.
    Create,
    /// The next packet goes to the end of the file's last block.
    Append,
    /// Packets are being sent.
    Streaming,
    /// All data is acknowledged, the end of the block is not.
    Close,
}

/// A DataNode that failed in a pipeline. It is not asked for again.
pub(super) struct Failed {
    pub(super) node: DatanodeInfo,
    /// Set if it announced a restart: it may be chosen again after the next recovery.
    pub(super) restarts: bool,
}

/// A DataNode of the pipeline that is about to restart and is waited for.
pub(super) struct Restart {
    pub(super) node: DatanodeInfo,
    pub(super) deadline: Instant,
}

/// A DataNode that a writer asks the NameNode not to choose, with its failure.
pub(super) struct Excluded {
    pub(super) since: Instant,
    pub(super) node: DatanodeInfo,
    pub(super) fault: PipelineFault,
}

pub(super) struct Stream {
    pub(super) file: Arc<WrittenFile>,
    pub(super) block_size: u64,
    pub(super) replication: usize,
    pub(super) checksum: DataChecksum,
    pub(super) lazy_persist: bool,
    pub(super) stage: Stage,
    pub(super) set_up: Option<SetUp>,
    /// The NameNode's answer to the last need.
    answer: Option<Answer>,
    /// The current block, its length that which is acknowledged; between blocks the last one.
    pub(super) block: Option<ExtendedBlock>,
    pub(super) token: TokenProto,
    pub(super) nodes: Vec<Replica>,
    pub(super) pipeline: Option<Pipeline>,
    pub(super) packets: BlockWrite<Packet>,
    pub(super) buffers: PacketBuffers,
    /// The file's last block was continued; that holds for later blocks, too, as with Hadoop's client.
    pub(super) is_append: bool,
    /// This block or an earlier one was flushed.
    pub(super) is_flushed: bool,
    /// The NameNode's list of blocks is to be made durable at the next flush.
    pub(super) persist_blocks: bool,
    /// DataNodes that failed in the pipeline of this block.
    pub(super) failed: Vec<Failed>,
    /// DataNodes that could not be connected to.
    pub(super) excluded: Vec<Excluded>,
    pub(super) restart: Option<Restart>,
    pub(super) recoveries: u32,
    /// The failure that was found between two calls: the next step, or a repair, recovers from it.
    pub(super) fault: Option<PipelineFault>,
}

impl Stream {
    pub(super) fn new(file: Arc<WrittenFile>, status: &FileStatus, checksum: DataChecksum) -> Self {
        let settings = &file.client.settings;
        let by_len = (IN_FLIGHT_LEN / settings.packet_len.max(1)).max(4);
        let options = WriteOptions {
            window: settings.packets_in_flight_max.min(by_len),
            slow_threshold: settings.slow_node_threshold,
        };
        Self {
            file,
            block_size: status.block_size,
            replication: status.replication as usize,
            checksum,
            lazy_persist: false,
            stage: Stage::Create,
            set_up: None,
            answer: None,
            block: None,
            token: TokenProto::default(),
            nodes: Vec::new(),
            pipeline: None,
            packets: BlockWrite::new(options),
            buffers: PacketBuffers::default(),
            is_append: false,
            is_flushed: false,
            persist_blocks: false,
            failed: Vec::new(),
            excluded: Vec::new(),
            restart: None,
            recoveries: 0,
            fault: None,
        }
    }

    /// Continues at the end of an existing block.
    pub(super) fn continue_block(&mut self, last: LocatedBlock) {
        self.stage = Stage::Append;
        self.packets.begin_block(last.block.block.len);
        self.block = Some(last.block);
        self.token = last.token;
        self.nodes = last.replicas;
        self.is_append = true;
    }

    /// Queues a packet, which [`advance`](super::advance) sends.
    pub(super) fn queue(&mut self, mut packet: Packet) {
        packet.seal();
        self.packets.queue(packet);
    }

    /// Sets the NameNode's answer to the last need.
    pub(super) fn answered(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }

    /// Takes an answer without content, if there is one; fails if the call failed.
    pub(super) fn take_answer(&mut self) -> Result<()> {
        self.answer.take().transpose().map(|_| ())
    }

    /// As [`take_answer`](Self::take_answer), and fails without an answer, too.
    pub(super) fn take_done(&mut self) -> Result<()> {
        let answer = self.answer.take();
        answer.unwrap_or_else(|| Err(Error::plain("the NameNode was not asked"))).map(|_| ())
    }

    /// Takes the answer, which is a block.
    pub(super) fn take_located(&mut self) -> Result<LocatedBlock> {
        let located = self.answer.take().transpose()?.flatten();
        located.ok_or_else(|| Error::plain("the NameNode was not asked for a block"))
    }

    /// Sends the packet that comes next.
    pub(super) fn send_next(&mut self) -> std::result::Result<(), PipelineFault> {
        let Some(packet) = self.packets.send() else { return Ok(()) };
        if packet.is_last {
            self.stage = Stage::Close;
        }
        let sent = match &mut self.pipeline {
            Some(pipeline) => pipeline.send(packet),
            None => Err(std::io::ErrorKind::NotConnected.into()),
        };
        match sent {
            Err(error) => Err(self.blame(error)),
            Ok(()) if self.packets.wants_acks() => self.take_ready_acks(),
            Ok(()) => Ok(()),
        }
    }

    /// The block is closed: the next packet begins a new one.
    pub(super) fn end_block(&mut self) {
        self.packets.end_block();
        self.pipeline = None;
        self.fault = None;
        self.nodes.clear();
        self.failed.clear();
        self.stage = Stage::Create;
        self.restart = None;
    }

    fn take_ready_acks(&mut self) -> std::result::Result<(), PipelineFault> {
        while let Some(pipeline) = &mut self.pipeline {
            let Some(bytes) = pipeline.ready_acks().map_err(PipelineFault::lost)? else { break };
            let received =
                receive(&mut self.packets, &mut self.buffers, &mut self.recoveries, bytes);
            self.note_len();
            received?;
        }
        Ok(())
    }

    /// Waits for acknowledgements and takes them.
    pub(super) fn wait_for_acks(&mut self) -> std::result::Result<(), PipelineFault> {
        let Some(pipeline) = &mut self.pipeline else {
            return Err(PipelineFault::lost("no pipeline"));
        };
        let begun = clock::now();
        let bytes = pipeline.wait_for_acks().map_err(PipelineFault::lost)?;
        let took = clock::since(begun);
        let received = receive(&mut self.packets, &mut self.buffers, &mut self.recoveries, bytes);
        self.note_len();
        self.warn_if_slow(took);
        received
    }

    /// The next acknowledgement took so long; the DataNodes log which of them it was that waited, and for what.
    fn warn_if_slow(&self, took: Duration) {
        let threshold = self.file.client.settings.slow_io;
        if took > threshold {
            let block = self.block.as_ref().map(ToString::to_string).unwrap_or_default();
            let nodes: Vec<String> = self.nodes.iter().map(|node| node.node.to_string()).collect();
            tracing::warn!(
                "Slow ReadProcessor read fields for block {block} took {}ms (threshold={}ms); file: {}, targets: [{}]",
                took.as_millis(),
                threshold.as_millis(),
                self.file.src,
                nodes.join(", ")
            );
        }
    }

    /// The block is as long as what is acknowledged.
    fn note_len(&mut self) {
        let acked_len = self.packets.acked_len();
        if let Some(block) = &mut self.block {
            block.block.len = block.block.len.max(acked_len);
        }
    }

    /// The DataNode that a failed write is blamed on; an acknowledgement may name it.
    fn blame(&mut self, error: std::io::Error) -> PipelineFault {
        match self.take_ready_acks() {
            Err(fault) if fault.explains_lost_connection() => fault,
            _ => PipelineFault::lost(error),
        }
    }

    /// Whether nothing was sent down the pipeline for a while; one that is known to be broken needs no
    /// heartbeat.
    pub(super) fn is_quiet(&self) -> bool {
        self.fault.is_none() && self.pipeline.as_ref().is_some_and(Pipeline::is_quiet)
    }

    /// Reads the acknowledgements that arrived between two calls, and keeps a failure: DataNodes report it only once.
    pub(super) fn look(&mut self) -> Idle {
        if self.fault.is_none()
            && let Err(fault) = self.take_ready_acks()
        {
            tracing::debug!("{} is idle: {fault:?}", self.file.src);
            self.fault = Some(fault);
        }
        match (&self.fault, self.is_quiet()) {
            (Some(_), _) => Idle::Broken,
            (None, true) => Idle::Quiet,
            (None, false) => Idle::Well,
        }
    }

    /// Sends a heartbeat, and takes the acknowledgements that have arrived. A failure is kept for the
    /// next packet or a repair, because the DataNodes report it only once.
    pub(super) fn heartbeat(&mut self) {
        let Some(pipeline) = &mut self.pipeline else { return };
        let beaten = match pipeline.heartbeat() {
            Ok(()) => self.take_ready_acks(),
            Err(error) => Err(self.blame(error)),
        };
        if let Err(fault) = beaten {
            tracing::debug!("heartbeat for {}: {fault:?}", self.file.src);
            self.fault.get_or_insert(fault);
        }
    }

    pub(super) fn no_locations(&self) -> Error {
        Error::plain(format!(
            "Could not get block locations. Source file \"{}\" - Aborting...",
            self.file.src
        ))
    }
}

/// Takes bytes of acknowledgements. Packets that are acknowledged count also where a fault comes behind them: the next
/// recovery is the first one again, and their buffers are used again.
fn receive(
    packets: &mut BlockWrite<Packet>,
    buffers: &mut PacketBuffers,
    recoveries: &mut u32,
    bytes: &[u8],
) -> std::result::Result<(), PipelineFault> {
    packets.receive(bytes, |packet| {
        *recoveries = 0;
        buffers.keep(packet);
    })
}
