//! Acknowledgements: of what is written here, and those that come from the downstream DataNode.
//!
//! A downstream DataNode that owes an acknowledgement and says nothing for its patience is lost, even
//! if the client goes on sending: the client would else take this node for the silent one.

use super::destination::{Destination, Sink};
use super::downstream::Downstream;
use crate::outliers::{SlowCall, SlowCalls};
use crate::store::replica::Replica;
use crate::transfer::conn::{Conn, invalid};
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::Status;
use zerohop_system::clock;
use zerohop_wire::BlockId;
use zerohop_wire::transfer::arrival::ArrivedPacket;
use zerohop_wire::transfer::responder::{Answered, Heard, Responder};

/// The downstream DataNode, if there is one, and the acknowledgements of a block's packets.
pub(super) struct Acks {
    /// For logs.
    block: BlockId,
    /// Packets are acknowledged; of a copy between DataNodes they are not, they are only passed on.
    are_sent: bool,
    downstream: Option<Downstream>,
    responder: Responder,
    slow_calls: Arc<SlowCalls>,
}

impl Acks {
    /// For packets that go on at `written`, the end of what is in the replica's file.
    pub(super) fn new(
        replica: &Replica,
        are_sent: bool,
        downstream: Option<Downstream>,
        written: u64,
    ) -> Self {
        let responder = Responder::new(written);
        let responder = match &downstream {
            Some(downstream) => responder.with_downstream(downstream.patience, clock::now()),
            None => responder,
        };
        let slow_calls = Arc::clone(replica.volume.times.slow_calls());
        Self { block: replica.id, are_sent, downstream, responder, slow_calls }
    }

    /// The first packet is to come.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        match &mut self.downstream {
            Some(downstream) if self.are_sent => downstream.expect_acks(),
            _ => Ok(()),
        }
    }

    /// The downstream DataNode, if it acknowledges packets and is not lost.
    pub(super) fn answering(&self) -> Option<&Downstream> {
        self.connected().filter(|_| self.are_sent)
    }

    /// The downstream DataNode, if it is not lost.
    fn connected(&self) -> Option<&Downstream> {
        self.downstream.as_ref().filter(|_| !self.is_downstream_lost())
    }

    /// Whether the downstream DataNode is lost.
    pub(super) fn is_downstream_lost(&self) -> bool {
        self.responder.is_downstream_lost()
    }

    /// Whether all packets are acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        self.responder.is_idle()
    }

    /// Gives back the receive buffer.
    pub(super) fn shrink(&mut self) {
        if let Some(downstream) = &mut self.downstream {
            downstream.conn.shrink();
        }
    }

    /// Remembers packets as not acknowledged.
    pub(super) fn note(&mut self, packets: &[ArrivedPacket]) {
        if !self.are_sent {
            return;
        }
        let now = clock::now();
        for packet in packets {
            self.responder.received(&packet.header, now);
        }
    }

    /// Acknowledges what is written, here up to `written` and downstream.
    pub(super) fn acknowledge(
        &mut self,
        written: u64,
        upstream: &Conn,
        to: &mut Destination<impl Sink>,
    ) -> io::Result<()> {
        if !self.are_sent {
            return Ok(());
        }
        self.responder.written(written);
        while let Some(answered) = self.responder.next_own() {
            self.answer(&answered, to)?;
        }
        if self.responder.has_downstream() {
            self.relay_buffered(to)?;
            self.relay_ready(to)?;
        }
        self.send(upstream)
    }

    /// Acknowledges a packet that all DataNodes from here on have answered for.
    fn answer(&mut self, answered: &Answered, to: &mut Destination<impl Sink>) -> io::Result<()> {
        if answered.is_success() {
            to.set_acked(answered.end);
        }
        if answered.last {
            to.finalize()?;
        }
        self.responder.acknowledge(answered);
        Ok(())
    }

    /// Tells the client that this node cannot take a packet.
    pub(super) fn refuse(&mut self, seqno: i64, status: Status, upstream: &Conn) {
        if self.are_sent {
            self.responder.refuse(seqno, status);
            drop(self.send(upstream));
        }
    }

    /// Sends the acks that are ready.
    pub(super) fn send(&mut self, upstream: &Conn) -> io::Result<()> {
        if !self.responder.acks().is_empty() {
            let begun = clock::now();
            upstream.write_all(self.responder.acks())?;
            self.responder.acks_sent();
            let about = || format!("upstream={}, blockId={}", upstream.peer, self.block);
            self.slow_calls.note(SlowCall::AckToUpstream, clock::since(begun), about);
        }
        Ok(())
    }

    /// Takes the acks that have arrived from downstream.
    pub(super) fn relay_ready(&mut self, to: &mut Destination<impl Sink>) -> io::Result<()> {
        self.receive();
        self.relay_buffered(to)
    }

    /// Relays the acks that are there, as far as their packets are written here too.
    fn relay_buffered(&mut self, to: &mut Destination<impl Sink>) -> io::Result<()> {
        while self.relay_next(to)? {}
        Ok(())
    }

    /// As [`relay_buffered`](Self::relay_buffered), while the newest packets are not noted yet.
    fn relay_older(&mut self, to: &mut Destination<impl Sink>) -> io::Result<()> {
        while !self.responder.is_idle() && self.relay_next(to)? {}
        Ok(())
    }

    /// Relays one ack, if it is there and its packet is written here too.
    fn relay_next(&mut self, to: &mut Destination<impl Sink>) -> io::Result<bool> {
        let Some(downstream) = &mut self.downstream else { return Ok(false) };
        let bytes = downstream.conn.buffered();
        let heard = self.responder.hear(bytes, clock::now()).map_err(invalid)?;
        let Some((heard, len)) = heard else { return Ok(false) };
        downstream.conn.consume(len);
        match heard {
            Heard::Answer(answered) => {
                downstream.note_round_trip(answered.downstream_ns());
                self.answer(&answered, to)?;
            }
            Heard::OutOfBand => {}
            Heard::Unexpected(unexpected) => log_lost(self.block, downstream, &unexpected),
        }
        Ok(true)
    }

    /// Passes received bytes on to the downstream DataNode. Acks of earlier packets are relayed while it
    /// takes its time.
    pub(super) fn forward(
        &mut self,
        bytes: &[u8],
        upstream: &Conn,
        to: &mut Destination<impl Sink>,
    ) -> io::Result<()> {
        let started = clock::now();
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(downstream) = self.connected() else { break };
            match downstream.conn.write_some(rest) {
                Ok(0) if !self.are_sent => {
                    self.lose(&io::Error::new(io::ErrorKind::TimedOut, "it takes nothing"));
                }
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(error) => self.lose(&error),
            }
            if !rest.is_empty() && !self.is_downstream_lost() {
                self.wait_to_forward(started, upstream, to)?;
            }
        }
        if let Some(downstream) = self.connected() {
            let took = clock::since(started);
            downstream.note_latency(took);
            to.note_downstream(&downstream.name, took);
        }
        Ok(())
    }

    fn wait_to_forward(
        &mut self,
        started: Instant,
        upstream: &Conn,
        to: &mut Destination<impl Sink>,
    ) -> io::Result<()> {
        if !self.are_sent {
            return Ok(());
        }
        self.receive();
        self.relay_older(to)?;
        self.send(upstream)?;
        self.lose_after_silence(Some(started));
        Ok(())
    }

    /// How long the downstream DataNode may still be silent.
    pub(super) fn silence_left(&self) -> Duration {
        self.responder.silence_left(None, clock::now())
    }

    /// Gives the downstream DataNode up if it is silent for too long; true when that is so.
    pub(super) fn check_silence(&mut self, upstream: &Conn) -> io::Result<bool> {
        let is_lost = self.are_sent && self.lose_after_silence(None);
        if is_lost {
            self.send(upstream)?;
        }
        Ok(is_lost)
    }

    fn lose_after_silence(&mut self, sending_since: Option<Instant>) -> bool {
        let Some(downstream) = self.connected() else { return false };
        if !self.responder.silence_left(sending_since, clock::now()).is_zero() {
            return false;
        }
        let text = format!("it acknowledged nothing for {} ms", downstream.patience.as_millis());
        self.lose(&io::Error::new(io::ErrorKind::TimedOut, text));
        true
    }

    /// Receives what the downstream DataNode has sent.
    fn receive(&mut self) {
        if !self.responder.has_downstream() {
            return;
        }
        let Some(downstream) = &mut self.downstream else { return };
        downstream.conn.reserve(4096);
        match downstream.conn.fill_ready() {
            Ok(0) => {}
            Ok(_) => self.responder.downstream_spoke(clock::now()),
            Err(error) => self.lose(&error),
        }
    }

    fn lose(&mut self, error: &io::Error) {
        if let Some(downstream) = &self.downstream {
            log_lost(self.block, downstream, error);
        }
        self.responder.downstream_lost();
    }
}

fn log_lost(block: BlockId, downstream: &Downstream, why: &dyn Display) {
    tracing::info!("blk_{block}: the downstream DataNode, {}, is lost: {why}", downstream.name);
}
