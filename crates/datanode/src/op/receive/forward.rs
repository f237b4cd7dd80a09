//! What goes to the node below, and how long that may be silent.
//!
//! A node below that owes an acknowledgement and says nothing for its patience is lost, whatever the
//! client says meanwhile: the client would else take this node for the silent one.

use super::{Receiver, Sink, part};
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};
use zerohop_system::clock;

impl<S: Sink> Receiver<'_, S> {
    /// Passes received bytes to the node below. Acks of earlier packets are relayed while it takes
    /// its time.
    pub(super) fn forward(&mut self, range: Range<usize>) -> io::Result<()> {
        let started = clock::now();
        let mut at = range.start;
        while at < range.end {
            let Some(mirror) = self.mirror.as_ref().filter(|_| !self.mirror_failed()) else {
                break;
            };
            match mirror.conn.write_some(part(self.conn.buffered(), &(at..range.end))) {
                Ok(0) if !self.mode.acks => {
                    self.mirror_lost(&io::Error::new(io::ErrorKind::TimedOut, "it takes nothing"));
                }
                Ok(sent) => at += sent,
                Err(error) => self.mirror_lost(&error),
            }
            if at < range.end && !self.mirror_failed() {
                self.wait_to_forward(started)?;
            }
        }
        if let Some(mirror) = self.mirror.as_ref().filter(|_| !self.mirror_failed()) {
            mirror.note_latency(clock::since(started));
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
        self.lose_mirror_after(Some(started));
        Ok(())
    }

    /// How long the node below may still be silent.
    pub(super) fn mirror_patience(&self) -> Duration {
        self.responder.silence_left(None, clock::now())
    }

    /// Gives the node below up if it is silent for too long; true when that is so.
    pub(super) fn check_mirror(&mut self) -> io::Result<bool> {
        let is_lost = self.mode.acks && self.lose_mirror_after(None);
        if is_lost {
            self.send_acks()?;
        }
        Ok(is_lost)
    }

    fn lose_mirror_after(&mut self, sending_since: Option<Instant>) -> bool {
        let Some(mirror) = self.mirror.as_ref().filter(|_| !self.mirror_failed()) else {
            return false;
        };
        if !self.responder.silence_left(sending_since, clock::now()).is_zero() {
            return false;
        }
        let text = format!("it acknowledged nothing for {} ms", mirror.patience.as_millis());
        self.mirror_lost(&io::Error::new(io::ErrorKind::TimedOut, text));
        true
    }

    /// Receives what the node below has sent.
    pub(super) fn hear_mirror(&mut self) {
        let Some(mirror) = self.mirror.as_mut().filter(|_| self.responder.has_downstream()) else {
            return;
        };
        mirror.conn.reserve(4096);
        match mirror.conn.fill_ready() {
            Ok(0) => {}
            Ok(_) => self.responder.downstream_spoke(clock::now()),
            Err(error) => self.mirror_lost(&error),
        }
    }

    pub(super) fn mirror_lost(&mut self, error: &io::Error) {
        if let Some(mirror) = &self.mirror {
            mirror.log_lost(&self.target.replica, error);
        }
        self.responder.downstream_lost();
    }

    /// Whether the node below is lost.
    pub(super) fn mirror_failed(&self) -> bool {
        self.responder.is_downstream_lost()
    }
}
