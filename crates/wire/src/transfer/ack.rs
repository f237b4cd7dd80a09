//! An acknowledgement of a packet, on its way up the pipeline.
//!
//! A `PipelineAckProto` behind its length. Reply 0 is the DataNode that sends it, the next ones are
//! those below it. Each reply has a flag word that repeats its status:
//! ```text
//! bit  0..3   4         5..6   7..8
//!      status reserved  ECN    SLOW
//! ```
//! (`protocol/datatransfer/PipelineAck`)

use super::frame::{self, FrameError};
use zerohop_proto::hdfs::{PipelineAckProto, Status};

/// The sequence number of an ack that answers no packet: an out-of-band message.
pub const UNKNOWN_SEQNO: i64 = -2;

/// Congestion, as a DataNode sees itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// It does not say.
    #[default]
    Disabled,
    /// Not congested.
    Supported,
    /// Not congested either.
    Supported2,
    /// Congested: clients back off.
    Congested,
}

/// Whether a DataNode sees itself as a slow one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slow {
    /// It does not say.
    #[default]
    Disabled,
    /// Not slow.
    Normal,
    /// Slow: clients may replace it.
    Slow,
    /// Unused.
    Reserved,
}

/// One DataNode's flag word.
pub const fn flag(status: Status, ecn: Ecn, slow: Slow) -> u32 {
    status as u32 | (ecn as u32) << 5 | (slow as u32) << 7
}

/// The congestion in a flag word.
pub const fn ecn(flag: u32) -> Ecn {
    match flag >> 5 & 3 {
        0 => Ecn::Disabled,
        1 => Ecn::Supported,
        2 => Ecn::Supported2,
        _ => Ecn::Congested,
    }
}

/// The slowness in a flag word.
pub const fn slow(flag: u32) -> Slow {
    match flag >> 7 & 3 {
        0 => Slow::Disabled,
        1 => Slow::Normal,
        2 => Slow::Slow,
        _ => Slow::Reserved,
    }
}

/// The status in a flag word.
pub fn status(flag: u32) -> Option<Status> {
    Status::try_from((flag & 0xf) as i32).ok()
}

/// An acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineAck {
    /// The packet it answers, or [`UNKNOWN_SEQNO`].
    pub seqno: i64,
    /// One word a DataNode, the sender first; see [`flag`].
    pub flags: Vec<u32>,
    /// How long the sender waited for the DataNode below it, 0 if there is none.
    pub downstream_ns: u64,
}

impl PipelineAck {
    /// An ack of the last DataNode of a pipeline.
    pub fn own(seqno: i64, status: Status) -> Self {
        let flags = vec![flag(status, Ecn::Disabled, Slow::Disabled)];
        Self { seqno, flags, downstream_ns: 0 }
    }

    /// An ack that passes on those of the DataNodes below.
    pub fn with_downstream(
        seqno: i64,
        status: Status,
        below: &PipelineAck,
        waited_ns: u64,
    ) -> Self {
        let mut ack = Self::own(seqno, status);
        ack.flags.extend_from_slice(&below.flags);
        ack.downstream_ns = waited_ns;
        ack
    }

    /// The status of each DataNode; an unknown code counts as an error.
    pub fn statuses(&self) -> impl Iterator<Item = Status> + '_ {
        self.flags.iter().map(|flag| status(*flag).unwrap_or(Status::Error))
    }

    /// Whether every DataNode has the packet.
    pub fn is_success(&self) -> bool {
        self.statuses().all(|status| status == Status::Success)
    }

    /// The place in the pipeline of the first DataNode that failed.
    pub fn first_bad(&self) -> Option<usize> {
        self.statuses().position(|status| status != Status::Success)
    }

    /// The out-of-band message in this ack, if it is one (a DataNode is about to restart).
    pub fn out_of_band(&self) -> Option<Status> {
        let is_oob = |s: &Status| (Status::OobRestart..=Status::OobReserved3).contains(s);
        if self.seqno == UNKNOWN_SEQNO { self.statuses().find(is_oob) } else { None }
    }

    /// The ack with its length in front.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode_to(&mut bytes);
        bytes
    }

    /// Appends the ack with its length in front.
    pub fn encode_to(&self, bytes: &mut Vec<u8>) {
        let message = PipelineAckProto {
            seqno: self.seqno,
            reply: self.statuses().map(i32::from).collect(),
            downstream_ack_time_nanos: Some(self.downstream_ns),
            flag: self.flags.clone(),
        };
        frame::encode_to(&message, bytes);
    }

    /// Takes one ack from the front of `bytes`, and its length; `None` if it is not all there yet.
    pub fn take(bytes: &[u8]) -> Result<Option<(Self, usize)>, FrameError> {
        let taken = frame::take::<PipelineAckProto>(bytes)?;
        Ok(taken.map(|(proto, len)| (Self::from(proto), len)))
    }
}

impl From<PipelineAckProto> for PipelineAck {
    /// Old DataNodes send no flag words: their replies become flag words without flags.
    fn from(proto: PipelineAckProto) -> Self {
        let bare = |reply: &i32| match Status::try_from(*reply) {
            Ok(status) => flag(status, Ecn::Disabled, Slow::Disabled),
            Err(_) => Status::Error as u32,
        };
        let flags = match proto.flag.len() == proto.reply.len() {
            true => proto.flag,
            false => proto.reply.iter().map(bare).collect(),
        };
        let downstream_ns = proto.downstream_ack_time_nanos.unwrap_or(0);
        Self { seqno: proto.seqno, flags, downstream_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn acks_add_up_along_the_pipeline() {
        let last = PipelineAck::own(7, Status::ErrorChecksum);
        let first = PipelineAck::with_downstream(7, Status::Success, &last, 12_000);
        assert_eq!(first.first_bad(), Some(1));
        let bytes = first.encode();
        assert_eq!(PipelineAck::take(&bytes), Ok(Some((first, bytes.len()))));
    }

    #[test]
    fn a_restart_is_announced_out_of_band() {
        let ack = PipelineAck::own(UNKNOWN_SEQNO, Status::OobRestart);
        assert_eq!(ack.out_of_band(), Some(Status::OobRestart));
        assert_eq!(PipelineAck::own(3, Status::OobRestart).out_of_band(), None);
    }

    #[test]
    fn a_flag_word_holds_three_things() {
        let word = flag(Status::ErrorBlockPinned, Ecn::Congested, Slow::Slow);
        assert_eq!(status(word), Some(Status::ErrorBlockPinned));
        assert_eq!((ecn(word), slow(word)), (Ecn::Congested, Slow::Slow));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            if let Ok(Some((ack, _))) = PipelineAck::take(&bytes) {
                let _ = (ack.first_bad(), ack.out_of_band(), ack.encode());
            }
        }
    }
}
