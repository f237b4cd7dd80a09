//! Acknowledgements: of what is written here, and those that come from below.

use super::below::{UpstreamState, wait_both};
use super::{Receiver, Sink, find};
use crate::transfer::conn::invalid;
use std::io;
use std::time::Duration;
use zerohop_system::clock;
use zerohop_wire::transfer::arrival::Parsed;
use zerohop_wire::transfer::responder::{Answered, Heard};

/// How often a writer whose client only listens looks whether it is to stop.
const STOP_CHECK: Duration = Duration::from_millis(500);

impl<S: Sink> Receiver<'_, S> {
    /// Remembers the packets from the one at index `first` on as not acknowledged.
    pub(super) fn note_packets(&mut self, first: usize) {
        if !self.mode.acks {
            return;
        }
        let now = clock::now();
        for packet in self.packets.iter().skip(first) {
            self.responder.received(&packet.header, now);
        }
    }

    /// Acknowledges what is written here and below.
    pub(super) fn acknowledge(&mut self) -> io::Result<()> {
        if !self.mode.acks {
            return Ok(());
        }
        self.responder.written(self.written);
        while let Some(answered) = self.responder.next_own() {
            self.answer(&answered)?;
        }
        if self.responder.has_downstream() {
            self.relay_buffered()?;
            self.relay_ready()?;
        }
        self.send_acks()
    }

    /// Acknowledges a packet that all DataNodes from here on have answered for.
    fn answer(&mut self, answered: &Answered) -> io::Result<()> {
        if answered.is_success() {
            self.target.live.set_acked(answered.end);
        }
        if answered.last {
            self.finalize()?;
        }
        self.responder.acknowledge(answered);
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
        while !self.responder.is_idle() && self.relay_next()? {}
        Ok(())
    }

    /// Relays one ack, if it is there and its packet is written here too.
    fn relay_next(&mut self) -> io::Result<bool> {
        let Some(mirror) = &mut self.mirror else { return Ok(false) };
        let heard = self.responder.hear(mirror.conn.buffered(), clock::now()).map_err(invalid)?;
        let Some((heard, len)) = heard else { return Ok(false) };
        mirror.conn.consume(len);
        match heard {
            Heard::Answer(answered) => self.answer(&answered)?,
            Heard::OutOfBand => {}
            Heard::Unexpected(unexpected) => mirror.log_lost(&self.target.replica, &unexpected),
        }
        Ok(true)
    }

    pub(super) fn send_acks(&mut self) -> io::Result<()> {
        if !self.responder.acks().is_empty() {
            self.conn.write_all(self.responder.acks())?;
            self.responder.acks_sent();
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
