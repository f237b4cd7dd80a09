//! What a DataNode of a pipeline acknowledges, without a socket: the packets that it has written, once the
//! DataNodes downstream have them too. (`PacketResponder`)
//!
//! ```text
//! received:   | oldest ...            newest |
//! written:    | ... up to here |
//! downstream: acks, the oldest packet's first
//! upstream:   own status, then those of the downstream ack
//! ```
//! A DataNode without one downstream acknowledges what it has written. Any other passes acks on, each when its packet is
//! written here too; it gives up a downstream DataNode that owes an ack and is silent for too long. The client would
//! otherwise take this one for the silent one.

use super::ack::{PipelineAck, UNKNOWN_SEQNO};
use super::frame::FrameError;
use super::packet::PacketHeader;
use super::unacknowledged::{Numbered, Unacknowledged, UnexpectedAck};
use std::fmt;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::Status;

/// A packet that was received and is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Pending {
    seqno: i64,
    last: bool,
    end: u64,
    since: Instant,
}

impl Numbered for Pending {
    fn seqno(&self) -> i64 {
        self.seqno
    }
}

/// The DataNode downstream.
#[derive(Clone, Copy, Debug)]
enum Downstream {
    None,
    Connected { silence_max: Duration, heard: Instant },
    Lost,
}

/// A packet whose ack may be sent: [`Responder::acknowledge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    ack: PipelineAck,
    /// In the block, where its data ends.
    pub end: u64,
    /// It is the block's last packet.
    pub last: bool,
}

impl Answered {
    /// Whether all DataNodes from here on have it.
    pub fn is_success(&self) -> bool {
        self.ack.is_success()
    }

    /// How long the DataNodes downstream took, in nanoseconds.
    pub fn downstream_ns(&self) -> u64 {
        self.ack.downstream_ns
    }
}

/// What bytes from downstream were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The ack of the oldest packet.
    Answer(Answered),
    /// An out-of-band message, which goes upstream.
    OutOfBand,
    /// An ack that was not expected: the downstream DataNode counts as lost.
    Unexpected(UnexpectedAck),
}

/// Why a DataNode gives a pipeline up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponderFailure {
    /// What came from downstream is not an ack.
    NotAnAck(FrameError),
    /// The downstream DataNode found the data corrupt that this one sent.
    CorruptDownstream,
}

impl fmt::Display for ResponderFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnAck(error) => error.fmt(f),
            Self::CorruptDownstream => f.write_str(
                "the downstream DataNode reported that the data sent by this one is corrupt",
            ),
        }
    }
}

impl std::error::Error for ResponderFailure {}

/// The acks of one block.
#[derive(Debug)]
pub struct Responder {
    pending: Unacknowledged<Pending>,
    downstream: Downstream,
    /// Bytes of the block that are written here.
    written: u64,
    /// Encoded, to be sent upstream.
    acks: Vec<u8>,
}

impl Responder {
    /// The last DataNode of a pipeline, which has `written` bytes of the block.
    pub fn new(written: u64) -> Self {
        Self {
            pending: Unacknowledged::default(),
            downstream: Downstream::None,
            written,
            acks: Vec::new(),
        }
    }

    /// A DataNode in front of one that may owe an ack for `silence_max`, connected to at `now`.
    pub fn with_downstream(self, silence_max: Duration, now: Instant) -> Self {
        Self { downstream: Downstream::Connected { silence_max, heard: now }, ..self }
    }

    /// A packet was received, and sent downstream.
    pub fn received(&mut self, header: &PacketHeader, now: Instant) {
        let start = header.offset_in_block.unsigned_abs();
        self.pending.push(Pending {
            seqno: header.seqno,
            last: header.last,
            end: start + u64::from(header.data_len),
            since: now,
        });
    }

    /// Bytes of the block up to `end` are written here.
    pub fn written(&mut self, end: u64) {
        self.written = end;
    }

    /// The oldest packet, if it is written here and no DataNode is downstream.
    pub fn next_own(&mut self) -> Option<Answered> {
        if !matches!(self.downstream, Downstream::None) {
            return None;
        }
        let written = self.written;
        let pending = self.pending.take_if(|pending| pending.end <= written)?;
        let ack = PipelineAck::own(pending.seqno, Status::Success);
        Some(Answered { ack, end: pending.end, last: pending.last })
    }

    /// Takes one ack from the front of the bytes that have arrived from downstream, and returns how many bytes it is;
    /// `None` while it is not all there, while its packet is not written here, and after the downstream
    /// DataNode was lost.
    ///
    /// # Errors
    /// The pipeline is to be given up.
    pub fn hear(
        &mut self,
        bytes: &[u8],
        now: Instant,
    ) -> Result<Option<(Heard, usize)>, ResponderFailure> {
        let is_ahead = self.pending.oldest().is_some_and(|oldest| oldest.end > self.written);
        if is_ahead || !self.has_downstream() {
            return Ok(None);
        }
        let taken = PipelineAck::take(bytes).map_err(ResponderFailure::NotAnAck)?;
        let Some((ack, len)) = taken else { return Ok(None) };
        self.take_ack(&ack, now).map(|heard| Some((heard, len)))
    }

    fn take_ack(&mut self, ack: &PipelineAck, now: Instant) -> Result<Heard, ResponderFailure> {
        if ack.statuses().next() == Some(Status::ErrorChecksum) {
            return Err(ResponderFailure::CorruptDownstream);
        }
        if ack.seqno == UNKNOWN_SEQNO {
            let ack = PipelineAck::with_downstream(UNKNOWN_SEQNO, Status::Success, ack, 0);
            ack.encode_to(&mut self.acks);
            return Ok(Heard::OutOfBand);
        }
        let unexpected = match self.pending.take(ack.seqno) {
            Ok(Some(pending)) => return Ok(Heard::Answer(answered(&pending, ack, now))),
            // Of a heartbeat that was not sent.
            Ok(None) => UnexpectedAck {
                expected: self.pending.oldest().map(Numbered::seqno),
                found: ack.seqno,
            },
            Err(unexpected) => unexpected,
        };
        self.downstream_lost();
        Ok(Heard::Unexpected(unexpected))
    }

    /// The answered packet is acknowledged upstream.
    pub fn acknowledge(&mut self, answered: &Answered) {
        answered.ack.encode_to(&mut self.acks);
    }

    /// This DataNode cannot take a packet.
    pub fn refuse(&mut self, seqno: i64, status: Status) {
        PipelineAck::own(seqno, status).encode_to(&mut self.acks);
    }

    /// Whether a DataNode is downstream that is not lost.
    pub fn has_downstream(&self) -> bool {
        matches!(self.downstream, Downstream::Connected { .. })
    }

    /// Whether the DataNode downstream is lost.
    pub fn is_downstream_lost(&self) -> bool {
        matches!(self.downstream, Downstream::Lost)
    }

    /// Something arrived from downstream.
    pub fn downstream_spoke(&mut self, now: Instant) {
        if let Downstream::Connected { heard, .. } = &mut self.downstream {
            *heard = now;
        }
    }

    /// The connection downstream failed. The client is told, once.
    pub fn downstream_lost(&mut self) {
        if self.has_downstream() {
            self.downstream = Downstream::Lost;
            let flags = vec![Status::Success as u32, Status::Error as u32];
            PipelineAck { seqno: UNKNOWN_SEQNO, flags, downstream_ns: 0 }.encode_to(&mut self.acks);
        }
    }

    /// How long the DataNode downstream may still be silent; [`Duration::MAX`] if it owes no ack. `sending_since` is when
    /// a packet began to be sent that was not received in full yet.
    pub fn silence_left(&self, sending_since: Option<Instant>, now: Instant) -> Duration {
        let Downstream::Connected { silence_max, heard } = self.downstream else {
            return Duration::MAX;
        };
        let owed_since = self.pending.oldest().map(|oldest| oldest.since).or(sending_since);
        let Some(owed_since) = owed_since else { return Duration::MAX };
        silence_max.saturating_sub(now.saturating_duration_since(owed_since.max(heard)))
    }

    /// Whether no packet waits for its ack.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// The acks that are to be sent upstream.
    pub fn acks(&self) -> &[u8] {
        &self.acks
    }

    /// They were sent.
    pub fn acks_sent(&mut self) {
        self.acks.clear();
    }
}

fn answered(pending: &Pending, downstream: &PipelineAck, now: Instant) -> Answered {
    let waited = now.saturating_duration_since(pending.since).as_nanos();
    let waited = u64::try_from(waited).unwrap_or(u64::MAX);
    let ack = PipelineAck::with_downstream(pending.seqno, Status::Success, downstream, waited);
    Answered { ack, end: pending.end, last: pending.last }
}

#[cfg(test)]
#[path = "responder_test.rs"]
mod tests;
