//! The client's side of WRITE_BLOCK, without a socket: which packet is sent next, what acks say about those that
//! were sent, and which DataNode is to blame when the pipeline fails.
//!
//! ```text
//! packets: | acknowledged | sent: oldest ... newest | unsent ... |
//! acks:    | taken | part of the next one |
//! ```
//! A packet is kept until every DataNode has acknowledged it. After a failure the packets that were sent become
//! unsent again, and go down the next pipeline. The last packet of a block is sent when all others are
//! acknowledged, and no packet of the next block before it is acknowledged too.

use super::ack::{PipelineAck, Slow, slow};
use super::packet::{HEARTBEAT_SEQNO, PREFIX_LEN_MAX, PacketHeader};
use super::pipeline_fault::{FaultCause, PipelineFault};
use super::unacknowledged::{Numbered, Unacknowledged};
use std::collections::VecDeque;
use std::time::Duration;

/// A packet of a block that is being written.
pub trait BlockPacket: Numbered {
    /// In the block, where its data ends.
    fn end(&self) -> u64;
    /// Whether it is the block's last packet, which has no data.
    fn is_last(&self) -> bool;
}

/// What a writer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// All packets are sent, and a block whose last packet was sent is closed.
    Sent,
    /// The packet with this number is acknowledged as well (hflush, hsync, close).
    Acknowledged(i64),
}

/// What a writer does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It sends the packet that [`BlockWrite::send`] gives.
    Send,
    /// It waits for acks, which [`BlockWrite::receive`] takes.
    Wait,
    /// The last packet is acknowledged: [`BlockWrite::end_block`].
    EndBlock,
    /// Nothing: what it waited for has happened.
    Done,
}

/// How a pipeline is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Packets that may be sent and not acknowledged.
    pub window: usize,
    /// A DataNode that calls itself slow in so many acks in a row has failed.
    pub slow_threshold: u32,
}

/// How long a pipeline may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SilenceLimits {
    /// DataNodes that were sent nothing for so long are sent a heartbeat; zero means never.
    pub heartbeat_after: Duration,
    /// DataNodes that acknowledge nothing for so long, not even heartbeats, are given up.
    pub silence_max: Duration,
}

/// What a writer does that has waited in vain for an ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It sends a heartbeat and continues to wait.
    Heartbeat,
    /// It gives the first DataNode up.
    GiveUp,
}

impl SilenceLimits {
    /// Whether DataNodes that were sent nothing for `since_sent` are to be sent a heartbeat.
    pub fn is_heartbeat_due(&self, since_sent: Duration) -> bool {
        !self.heartbeat_after.is_zero() && since_sent >= self.heartbeat_after
    }

    /// What a writer does that has waited for an ack for `waited`.
    pub fn after(&self, waited: Duration) -> Silence {
        if waited >= self.silence_max { Silence::GiveUp } else { Silence::Heartbeat }
    }
}

/// A block being written.
#[derive(Debug)]
pub struct BlockWrite<P> {
    options: WriteOptions,
    unsent: VecDeque<P>,
    sent: Unacknowledged<P>,
    /// Bytes of an ack that is not all there.
    partial_ack: Vec<u8>,
    /// Acks in a row in which each DataNode called itself slow; empty while none does.
    slow: Vec<u32>,
    acked_seqno: i64,
    /// Bytes of the block that every DataNode has.
    acked_len: u64,
    /// Bytes of the block that were sent.
    sent_len: u64,
    /// The last packet was sent.
    is_closing: bool,
}

impl<P: BlockPacket> BlockWrite<P> {
    /// A writer that has sent nothing.
    pub fn new(options: WriteOptions) -> Self {
        Self {
            options,
            unsent: VecDeque::new(),
            sent: Unacknowledged::default(),
            partial_ack: Vec::new(),
            slow: Vec::new(),
            acked_seqno: -1,
            acked_len: 0,
            sent_len: 0,
            is_closing: false,
        }
    }

    /// Begins a block of which the DataNodes have `len` bytes already.
    pub fn begin_block(&mut self, len: u64) {
        (self.acked_len, self.sent_len) = (len, len);
        self.is_closing = false;
    }

    /// Adds a packet to be sent.
    pub fn queue(&mut self, packet: P) {
        self.unsent.push_back(packet);
    }

    /// What comes next for a writer that waits for `until`.
    pub fn next(&self, until: Until) -> Next {
        if self.is_closing {
            return if self.sent.is_empty() { Next::EndBlock } else { Next::Wait };
        }
        if let Some(packet) = self.unsent.front() {
            let others_max = if packet.is_last() { 0 } else { self.options.window.max(1) - 1 };
            return if self.sent.len() > others_max { Next::Wait } else { Next::Send };
        }
        match until {
            Until::Acknowledged(seqno) if self.acked_seqno < seqno => Next::Wait,
            _ => Next::Done,
        }
    }

    /// The packet that is sent now. It counts as sent even if sending it fails: how much of it arrived is unknown.
    pub fn send(&mut self) -> Option<&mut P> {
        let packet = self.unsent.pop_front()?;
        self.is_closing = packet.is_last();
        self.sent_len = self.sent_len.max(packet.end());
        self.sent.push(packet);
        self.sent.newest_mut()
    }

    /// Whether acks that have arrived should be taken before the next packet is sent. Few of them can wait: there
    /// is room, and a writer that waits for one takes them all.
    pub fn wants_acks(&self) -> bool {
        self.sent.len() * 2 >= self.options.window
    }

    /// Takes bytes of acks, however they were split on the way; `acked` gets the packets that every DataNode has.
    ///
    /// # Errors
    /// A DataNode failed or is about to restart. The pipeline is of no more use: [`recover`](Self::recover).
    pub fn receive(&mut self, bytes: &[u8], mut acked: impl FnMut(P)) -> Result<(), PipelineFault> {
        self.partial_ack.extend_from_slice(bytes);
        let mut taken = 0;
        let result = loop {
            let rest = self.partial_ack.get(taken..).unwrap_or_default();
            match PipelineAck::take(rest) {
                Ok(Some((ack, len))) => {
                    taken += len;
                    match self.take_ack(&ack) {
                        Ok(Some(packet)) => acked(packet),
                        Ok(None) => {}
                        Err(fault) => break Err(fault),
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(PipelineFault::first(FaultCause::NotAnAck(error))),
            }
        };
        self.partial_ack.drain(..taken);
        result
    }

    fn take_ack(&mut self, ack: &PipelineAck) -> Result<Option<P>, PipelineFault> {
        if let Some(fault) = PipelineFault::of_ack(ack) {
            return Err(fault);
        }
        self.count_slow(ack)?;
        let unexpected = |error| PipelineFault::first(FaultCause::UnexpectedAck(error));
        let packet = self.sent.take(ack.seqno).map_err(unexpected)?;
        if let Some(packet) = &packet {
            self.acked_len = self.acked_len.max(packet.end());
            self.acked_seqno = ack.seqno;
        }
        Ok(packet)
    }

    fn count_slow(&mut self, ack: &PipelineAck) -> Result<(), PipelineFault> {
        let is_slow = |flag: &u32| slow(*flag) == Slow::Slow;
        if self.slow.is_empty() && !ack.flags.iter().any(is_slow) {
            return Ok(());
        }
        self.slow.resize(ack.flags.len(), 0);
        for (count, flag) in self.slow.iter_mut().zip(&ack.flags) {
            *count = if is_slow(flag) { *count + 1 } else { 0 };
        }
        match self.slow.iter().position(|count| *count >= self.options.slow_threshold.max(1)) {
            Some(index) => Err(PipelineFault::Failed { index, cause: FaultCause::Slow }),
            None => Ok(()),
        }
    }

    /// The packets that were sent are to be sent again, on another pipeline.
    pub fn recover(&mut self) {
        while let Some(packet) = self.sent.take_newest() {
            self.unsent.push_front(packet);
        }
        self.partial_ack.clear();
        self.slow.clear();
        self.is_closing = false;
    }

    /// The DataNodes have closed the block while the pipeline was set up again: its last packet is done.
    pub fn close_recovered(&mut self) -> Option<P> {
        let last = self.unsent.pop_front_if(|packet| packet.is_last())?;
        self.acked_seqno = last.seqno();
        Some(last)
    }

    /// The last packet is acknowledged: what is sent next belongs to another block.
    pub fn end_block(&mut self) {
        self.is_closing = false;
        self.partial_ack.clear();
        self.slow.clear();
    }

    /// Returns `true` if every DataNode has all packets.
    pub fn is_all_acknowledged(&self) -> bool {
        self.sent.is_empty() && self.unsent.is_empty()
    }

    /// Bytes of the block that every DataNode has.
    pub fn acked_len(&self) -> u64 {
        self.acked_len
    }

    /// Bytes of the block that were sent.
    pub fn sent_len(&self) -> u64 {
        self.sent_len
    }
}

/// The bytes of a packet that only says that the writer is alive: those from the returned place on.
pub fn heartbeat() -> ([u8; PREFIX_LEN_MAX], usize) {
    let header = PacketHeader { seqno: HEARTBEAT_SEQNO, ..PacketHeader::default() };
    let mut bytes = [0; PREFIX_LEN_MAX];
    let start = header.encode_before(&mut bytes, 0);
    (bytes, start)
}

#[cfg(test)]
#[path = "block_write_test.rs"]
mod tests;
