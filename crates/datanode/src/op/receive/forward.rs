//! What goes to the node below, and how long that may be silent.
//!
//! A node below that owes an acknowledgement and says nothing for its patience is lost, whatever the
//! client says meanwhile: the client would else take this node for the silent one.

use super::{Receiver, Sink, part};
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::Status;
use zerohop_wire::transfer::ack::{PipelineAck, UNKNOWN_SEQNO};

impl<S: Sink> Receiver<'_, S> {
    /// Passes received bytes to the node below. Acks of earlier packets are relayed while it takes
    /// its time.
    pub(super) fn forward(&mut self, range: Range<usize>) -> io::Result<()> {
        let started = Instant::now();
        let mut at = range.start;
        while at < range.end {
            let Some(mirror) = self.mirror.as_ref().filter(|_| !self.mirror_failed) else { break };
            match mirror.conn.write_some(part(self.conn.buffered(), &(at..range.end))) {
                Ok(0) if !self.mode.acks => {
                    self.mirror_lost(&io::Error::new(io::ErrorKind::TimedOut, "it takes nothing"));
                }
                Ok(sent) => at += sent,
                Err(error) => self.mirror_lost(&error),
            }
            if at < range.end && !self.mirror_failed {
                self.wait_to_forward(started)?;
            }
        }
        if let Some(mirror) = self.mirror.as_ref().filter(|_| !self.mirror_failed) {
            mirror.note_latency(started.elapsed());
        }
        Ok(())
    }

    fn wait_to_forward(&mut self, started: Instant) -> io::Result<()> {
        if !self.mode.acks {
            return Ok(());
        }
        self.hear_mirror();
        self.relay_older()?;
        self.send_acks()?;
        let asked = self.pending.oldest().map_or(started, |pending| pending.since);
        self.lose_mirror_after(asked);
        Ok(())
    }

    /// How long the node below may still be silent.
    pub(super) fn mirror_patience(&self) -> Duration {
        let asked = self.pending.oldest().map(|pending| pending.since);
        let left = self.mirror.as_ref().zip(asked).map(|(mirror, at)| mirror.patience_left(at));
        left.unwrap_or(Duration::MAX)
    }

    /// Gives the node below up if it is silent for too long; true when that is so.
    pub(super) fn check_mirror(&mut self) -> io::Result<bool> {
        let Some(asked) = self.pending.oldest().map(|pending| pending.since) else {
            return Ok(false);
        };
        let is_lost = !self.mirror_failed && self.mode.acks && self.lose_mirror_after(asked);
        if is_lost {
            self.send_acks()?;
        }
        Ok(is_lost)
    }

    fn lose_mirror_after(&mut self, asked: Instant) -> bool {
        let Some(mirror) = self.mirror.as_ref().filter(|_| !self.mirror_failed) else {
            return false;
        };
        if !mirror.patience_left(asked).is_zero() {
            return false;
        }
        let text = format!("it acknowledged nothing for {} ms", mirror.patience.as_millis());
        self.mirror_lost(&io::Error::new(io::ErrorKind::TimedOut, text));
        true
    }

    /// Receives what the node below has sent.
    pub(super) fn hear_mirror(&mut self) {
        let Some(mirror) = self.mirror.as_mut().filter(|_| !self.mirror_failed) else { return };
        mirror.conn.reserve(4096);
        match mirror.conn.fill_ready() {
            Ok(0) => {}
            Ok(_) => mirror.heard = Instant::now(),
            Err(error) => self.mirror_lost(&error),
        }
    }

    pub(super) fn mirror_lost(&mut self, error: &io::Error) {
        if let Some(mirror) = &self.mirror {
            tracing::info!(
                "blk_{}: the node below, {}, is lost: {error}",
                self.target.replica.id,
                mirror.name
            );
        }
        self.mirror_failed = true;
        if self.mode.acks {
            let mut ack = PipelineAck::own(UNKNOWN_SEQNO, Status::Success);
            ack.flags.push(Status::Error as u32);
            self.acks.extend_from_slice(&ack.encode());
        }
    }
}
