//! Packets on their way: sent, acknowledged, or sent again after a recovery.

use super::packet::{Chunks, Packet};
use super::pipeline::{Fault, Pipeline};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::namenode::Writing;
use crate::types::{DatanodeInfo, FileStatus, LocatedBlock, Replica};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::AddBlockFlagProto;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::checksum_type::DataChecksum;
use zerohop_wire::transfer::ack::{self, PipelineAck, Slow};
use zerohop_wire::transfer::unacknowledged::{NodeFault, Unacknowledged};

/// Bytes that may be under way where packets are large.
const IN_FLIGHT_LEN: usize = 5 << 20;
/// Buffers kept for the next packets.
const SPARE_MAX: usize = 8;

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

pub(super) struct Stream {
    pub(super) client: Arc<Client>,
    pub(super) src: String,
    pub(super) file_id: u64,
    pub(super) block_size: u64,
    pub(super) replication: usize,
    pub(super) checksum: DataChecksum,
    pub(super) lazy_persist: bool,
    pub(super) favored: Vec<String>,
    pub(super) block_flags: Vec<AddBlockFlagProto>,
    pub(super) stage: Stage,
    /// The current block, its length that which is acknowledged; between blocks the last one.
    pub(super) block: Option<ExtendedBlock>,
    pub(super) token: TokenProto,
    pub(super) nodes: Vec<Replica>,
    pub(super) pipeline: Option<Pipeline>,
    pub(super) unsent: VecDeque<Packet>,
    pub(super) sent: Unacknowledged<Packet>,
    pub(super) bytes_sent: u64,
    pub(super) last_acked: i64,
    next_seqno: i64,
    pub(super) is_append: bool,
    pub(super) is_flushed: bool,
    /// The NameNode's list of blocks is to be made durable at the next flush.
    pub(super) persist_blocks: bool,
    /// DataNodes that failed in the pipeline of this block.
    pub(super) failed: Vec<DatanodeInfo>,
    /// DataNodes that could not be connected to, and since when.
    pub(super) excluded: Vec<(Instant, DatanodeInfo)>,
    pub(super) restart_deadline: Option<Instant>,
    pub(super) recoveries: u32,
    /// What a heartbeat found while nobody wrote: the next step recovers from it.
    pub(super) fault: Option<Fault>,
    slow: HashMap<DatanodeInfo, u32>,
    spare: Vec<Vec<u8>>,
    window: usize,
}

impl Stream {
    pub(super) fn new(
        client: &Arc<Client>,
        src: &str,
        status: &FileStatus,
        checksum: DataChecksum,
    ) -> Self {
        let settings = &client.settings;
        let by_len = (IN_FLIGHT_LEN / settings.packet_len.max(1)).max(4);
        Self {
            client: Arc::clone(client),
            src: src.to_owned(),
            file_id: status.file_id,
            block_size: status.block_size,
            replication: status.replication as usize,
            checksum,
            lazy_persist: false,
            favored: Vec::new(),
            block_flags: Vec::new(),
            stage: Stage::Create,
            block: None,
            token: TokenProto::default(),
            nodes: Vec::new(),
            pipeline: None,
            unsent: VecDeque::new(),
            sent: Unacknowledged::default(),
            bytes_sent: 0,
            last_acked: -1,
            next_seqno: 0,
            is_append: false,
            is_flushed: false,
            persist_blocks: false,
            failed: Vec::new(),
            excluded: Vec::new(),
            restart_deadline: None,
            recoveries: 0,
            fault: None,
            slow: HashMap::new(),
            spare: Vec::new(),
            window: settings.packets_in_flight_max.min(by_len),
        }
    }

    /// Goes on at the end of a block that is there.
    pub(super) fn continue_block(&mut self, last: LocatedBlock) {
        self.stage = Stage::Append;
        self.bytes_sent = last.block.block.len;
        self.block = Some(last.block);
        self.token = last.token;
        self.nodes = last.replicas;
        self.is_append = true;
    }

    pub(super) fn writing(&self) -> Writing<'_> {
        Writing { src: &self.src, file_id: self.file_id, client_name: &self.client.name }
    }

    /// A packet for at most `capacity` bytes at `offset` of the block.
    pub(super) fn packet(&mut self, chunks: Chunks, capacity: usize, offset: u64) -> Packet {
        let seqno = self.next_seqno;
        self.next_seqno += 1;
        let buffer = if capacity == 0 { Vec::new() } else { self.spare.pop().unwrap_or_default() };
        Packet::new(buffer, chunks, capacity, offset, seqno)
    }

    /// Takes the packet back that [`packet`](Self::packet) made last, with its number.
    pub(super) fn put_back(&mut self, packet: Packet) {
        self.next_seqno = packet.seqno;
        self.keep_buffer(packet);
    }

    fn keep_buffer(&mut self, packet: Packet) {
        let buffer = packet.into_buffer();
        if self.spare.len() < SPARE_MAX && !buffer.is_empty() {
            self.spare.push(buffer);
        }
    }

    /// The number of the packet queued last.
    pub(super) fn last_queued(&self) -> i64 {
        self.next_seqno - 1
    }

    /// Sends a packet; returns when it is in the socket, not when it is acknowledged.
    pub(super) fn send(&mut self, mut packet: Packet) -> Result<()> {
        packet.seal();
        self.unsent.push_back(packet);
        self.drive(|stream| stream.unsent.is_empty())
    }

    /// Waits until a packet is acknowledged.
    pub(super) fn wait_for(&mut self, seqno: i64) -> Result<()> {
        self.drive(|stream| stream.last_acked >= seqno)
    }

    /// Sends and takes acknowledgements until `is_done`; recovers the pipeline as often as it takes.
    fn drive(&mut self, is_done: impl Fn(&Self) -> bool) -> Result<()> {
        while !is_done(self) {
            self.set_up()?;
            let step = match self.fault.take() {
                Some(fault) => Err(fault),
                None if self.unsent.is_empty() => self.take_ack(),
                None => self.send_next(),
            };
            if let Err(fault) = step {
                self.recover(fault)?;
            }
        }
        Ok(())
    }

    /// Gets a block and its pipeline where the next packet needs one.
    fn set_up(&mut self) -> Result<()> {
        match self.stage {
            Stage::Create if !self.unsent.is_empty() => self.allocate(),
            Stage::Append if !self.unsent.is_empty() => self.set_up_append(),
            _ => Ok(()),
        }
    }

    fn send_next(&mut self) -> std::result::Result<(), Fault> {
        self.make_room()?;
        let Some(mut packet) = self.unsent.pop_front() else { return Ok(()) };
        if packet.is_last {
            self.stage = Stage::Close;
        }
        let (is_last, end) = (packet.is_last, packet.end());
        let sent = match &mut self.pipeline {
            Some(pipeline) => pipeline.send(&mut packet),
            None => Err(std::io::ErrorKind::NotConnected.into()),
        };
        self.sent.push(packet);
        if let Err(error) = sent {
            return Err(self.blame(error));
        }
        self.bytes_sent = self.bytes_sent.max(end);
        if !is_last && self.sent.len() * 2 < self.window {
            // They can wait: there is room, and whoever waits for one takes it.
            return Ok(());
        } else if !is_last {
            return self.take_ready_acks();
        }
        while !self.sent.is_empty() {
            self.take_ack()?;
        }
        self.end_block();
        Ok(())
    }

    /// Waits until there is room in the window; before the end of a block, until all is
    /// acknowledged.
    fn make_room(&mut self) -> std::result::Result<(), Fault> {
        let is_last = self.unsent.front().is_some_and(|packet| packet.is_last);
        let room = if is_last { 0 } else { self.window - 1 };
        while self.sent.len() > room {
            self.take_ack()?;
        }
        Ok(())
    }

    /// The block is closed: the next packet begins a new one.
    pub(super) fn end_block(&mut self) {
        self.pipeline = None;
        self.fault = None;
        self.nodes.clear();
        self.failed.clear();
        self.stage = Stage::Create;
        self.is_append = false;
        self.restart_deadline = None;
    }

    fn take_ready_acks(&mut self) -> std::result::Result<(), Fault> {
        while let Some(pipeline) = &mut self.pipeline {
            match pipeline.try_ack() {
                Ok(Some(ack)) => self.take(&ack)?,
                Ok(None) => break,
                Err(error) => return Err(Fault::first(error)),
            }
        }
        Ok(())
    }

    fn take_ack(&mut self) -> std::result::Result<(), Fault> {
        let Some(pipeline) = &mut self.pipeline else {
            return Err(Fault::first("no pipeline"));
        };
        let ack = pipeline.wait_ack().map_err(Fault::first)?;
        self.take(&ack)
    }

    /// Which DataNode a failed write is to be blamed on: an acknowledgement may say.
    fn blame(&mut self, error: std::io::Error) -> Fault {
        match self.take_ready_acks() {
            Err(fault @ (Fault::Restarting { .. } | Fault::Node { index: 1.., .. })) => fault,
            _ => Fault::first(error),
        }
    }

    fn take(&mut self, ack: &PipelineAck) -> std::result::Result<(), Fault> {
        match NodeFault::of(ack) {
            None => {}
            Some(NodeFault::Restarting { index }) => return Err(Fault::Restarting { index }),
            Some(NodeFault::Failed { index, status }) => {
                let status = status.map_or("an unknown status", |status| status.as_str_name());
                return Err(Fault::Node { index, why: format!("Bad response {status}") });
            }
        }
        self.note_slow(ack)?;
        let Some(packet) = self.sent.take(ack.seqno).map_err(Fault::first)? else {
            return Ok(());
        };
        if let Some(block) = &mut self.block {
            block.block.len = block.block.len.max(packet.end());
        }
        self.last_acked = ack.seqno;
        self.recoveries = 0;
        self.keep_buffer(packet);
        Ok(())
    }

    /// A DataNode that calls itself slow many times in a row counts as failed.
    fn note_slow(&mut self, ack: &PipelineAck) -> std::result::Result<(), Fault> {
        let is_slow = |flag: &u32| ack::slow(*flag) == Slow::Slow;
        if self.slow.is_empty() && !ack.flags.iter().any(is_slow) {
            return Ok(());
        }
        for (index, flag) in ack.flags.iter().enumerate() {
            let Some(replica) = self.nodes.get(index) else { continue };
            if !is_slow(flag) {
                self.slow.remove(&replica.node);
                continue;
            }
            let count = self.slow.entry(replica.node.clone()).or_default();
            *count += 1;
            if *count >= self.client.settings.slow_node_threshold {
                self.slow.clear();
                return Err(Fault::Node { index, why: "it calls itself slow".to_owned() });
            }
        }
        Ok(())
    }

    /// Whether the pipeline has heard nothing of this writer for a while; one that is known to be
    /// broken need not.
    pub(super) fn is_quiet(&self) -> bool {
        self.fault.is_none() && self.pipeline.as_ref().is_some_and(Pipeline::is_quiet)
    }

    /// Says that this writer lives, and takes what was answered meanwhile. A failure is kept for the
    /// next packet: what the DataNodes said of it they say only once.
    pub(super) fn heartbeat(&mut self) {
        let Some(pipeline) = &mut self.pipeline else { return };
        let beaten = match pipeline.heartbeat() {
            Ok(()) => self.take_ready_acks(),
            Err(error) => Err(self.blame(error)),
        };
        if let Err(fault) = beaten {
            tracing::debug!("heartbeat for {}: {fault:?}", self.src);
            self.fault.get_or_insert(fault);
        }
    }

    pub(super) fn no_locations(&self) -> Error {
        Error::plain(format!(
            "Could not get block locations. Source file \"{}\" - Aborting...",
            self.src
        ))
    }
}

#[cfg(test)]
#[path = "stream_test.rs"]
pub(super) mod tests;
