//! Acknowledgements: of what is written here, and those that come from below.

use super::below::{Pending, UpstreamState, wait_both};
use super::{Receiver, Sink, find};
use crate::transfer::conn::invalid;
use std::io;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::Status;
use zerohop_wire::transfer::ack::{PipelineAck, UNKNOWN_SEQNO};
use zerohop_wire::transfer::arrival::Parsed;

/// How often a writer whose client only listens looks whether it is to stop.
const STOP_CHECK: Duration = Duration::from_millis(500);

impl<S: Sink> Receiver<'_, S> {
    /// Remembers the packets from the one at index `first` on as not acknowledged.
    pub(super) fn note_packets(&mut self, first: usize) {
        if !self.mode.acks {
            return;
        }
        let since = Instant::now();
        for packet in self.packets.iter().skip(first) {
            self.pending.push(Pending {
                seqno: packet.header.seqno,
                last: packet.header.last,
                end: packet.end(),
                since,
            });
        }
    }

    /// Acknowledges what is written here and below.
    pub(super) fn acknowledge(&mut self) -> io::Result<()> {
        if !self.mode.acks {
            return Ok(());
        }
        if self.mirror.is_none() {
            self.acknowledge_own()?;
        } else if !self.mirror_failed {
            self.relay_buffered()?;
            self.relay_ready()?;
        }
        self.send_acks()
    }

    /// Acknowledges all packets that are written: nobody is below.
    fn acknowledge_own(&mut self) -> io::Result<()> {
        let written = self.written;
        while let Some(pending) = self.pending.take_if(|pending| pending.end <= written) {
            self.target.live.set_acked(pending.end);
            if pending.last {
                self.finalize()?;
            }
            let ack = PipelineAck::own(pending.seqno, Status::Success);
            self.acks.extend_from_slice(&ack.encode());
        }
        Ok(())
    }

    /// Takes the acks that have arrived from below.
    pub(super) fn relay_ready(&mut self) -> io::Result<()> {
        self.hear_mirror();
        self.relay_buffered()
    }

    /// Relays the acks that are there, as far as their packets are written here too.
    fn relay_buffered(&mut self) -> io::Result<()> {
        while self.relay_next()? {}
        Ok(())
    }

    /// As [`relay_buffered`](Self::relay_buffered), while the newest packets are not noted yet.
    pub(super) fn relay_older(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() && self.relay_next()? {}
        Ok(())
    }

    /// Relays one ack, if it is there and its packet is written here too.
    fn relay_next(&mut self) -> io::Result<bool> {
        let is_ahead = self.pending.oldest().is_some_and(|first| first.end > self.written);
        let is_lost = is_ahead || self.mirror_failed;
        let Some(mirror) = self.mirror.as_mut().filter(|_| !is_lost) else { return Ok(false) };
        let taken = PipelineAck::take(mirror.conn.buffered()).map_err(invalid)?;
        let Some((ack, len)) = taken else { return Ok(false) };
        mirror.conn.consume(len);
        self.relay(&ack)?;
        Ok(true)
    }

    fn relay(&mut self, below: &PipelineAck) -> io::Result<()> {
        if below.statuses().next() == Some(Status::ErrorChecksum) {
            return Err(invalid(
                "the node below reported that the data sent by this one is corrupt",
            ));
        }
        if below.seqno == UNKNOWN_SEQNO {
            let ack = PipelineAck::with_downstream(UNKNOWN_SEQNO, Status::Success, below, 0);
            self.acks.extend_from_slice(&ack.encode());
            return Ok(());
        }
        let pending = match self.pending.take(below.seqno) {
            Ok(Some(pending)) => pending,
            Ok(None) => {
                self.mirror_lost(&invalid("an ack of a heartbeat that was not sent"));
                return Ok(());
            }
            Err(unexpected) => {
                self.mirror_lost(&invalid(unexpected));
                return Ok(());
            }
        };
        let waited = u64::try_from(pending.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let ack = PipelineAck::with_downstream(pending.seqno, Status::Success, below, waited);
        if ack.is_success() {
            self.target.live.set_acked(pending.end);
        }
        if pending.last {
            self.finalize()?;
        }
        self.acks.extend_from_slice(&ack.encode());
        Ok(())
    }

    pub(super) fn send_acks(&mut self) -> io::Result<()> {
        if !self.acks.is_empty() {
            self.conn.write_all(&self.acks)?;
            self.acks.clear();
        }
        Ok(())
    }

    pub(super) fn wait_for_ack(&mut self) -> io::Result<()> {
        let Some(mirror) = self.mirror.as_ref() else {
            return Err(invalid("the last packet ends beyond what is written"));
        };
        let patience = match self.above {
            UpstreamState::Sends => self.mirror_patience(),
            // Nothing from above shows that this writer is to stop.
            UpstreamState::Listens => self.mirror_patience().min(STOP_CHECK),
        };
        let (acks, above) = wait_both((self.conn, self.above), &mirror.conn, patience)?;
        if !acks {
            self.check_mirror()?;
        }
        if above || self.above == UpstreamState::Listens {
            self.hear_client()?;
        }
        if acks { self.relay_ready() } else { self.skip_heartbeats() }
    }

    /// Receives what the client sends after the last packet. One that shut its sending side down is
    /// still there for the acknowledgements; it left only where the connection failed or is closed on
    /// both sides.
    fn hear_client(&mut self) -> io::Result<()> {
        let left = |why: &str| {
            let text = format!("the client left before the last ack: {why}");
            Err(io::Error::new(io::ErrorKind::UnexpectedEof, text))
        };
        if self.control.is_stopped() {
            return left("its writer was stopped");
        }
        self.conn.reserve(4096);
        match self.conn.fill_ready() {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.above = UpstreamState::Listens;
                if self.conn.has_hung_up()? {
                    return left("it closed the connection");
                }
            }
            Err(error) => return left(&error.to_string()),
        }
        Ok(())
    }

    /// After the last packet a client that waits long sends heartbeats; they go below too.
    fn skip_heartbeats(&mut self) -> io::Result<()> {
        if let Parsed::Whole(packet) = find(self.conn.buffered(), 0)? {
            let len = packet.frame.end;
            self.packets.push(packet);
            self.forward(0..len)?;
            self.note_packets(0);
            self.packets.clear();
            self.conn.consume(len);
        }
        Ok(())
    }
}
