//! The packets of a pipeline that were sent and are not acknowledged yet, and what an acknowledgement says about them.
//! The writing client and each DataNode but the last keep them.
//!
//! ```text
//! sent:  | oldest | ... | newest |      an ack always answers the oldest
//! ```
//! Acks of heartbeats and out-of-band messages answer none of them.

use super::ack::UNKNOWN_SEQNO;
use super::packet::HEARTBEAT_SEQNO;
use std::collections::VecDeque;
use std::fmt;

/// A packet with its number.
pub trait Numbered {
    /// Its sequence number.
    fn seqno(&self) -> i64;
}

/// An ack that answers another packet than the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnexpectedAck {
    /// The oldest packet, if there is one.
    pub expected: Option<i64>,
    /// The packet that the ack names.
    pub found: i64,
}

impl fmt::Display for UnexpectedAck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expected {
            Some(expected) => write!(f, "Expecting seqno {expected} but received {}", self.found),
            None => write!(f, "Expecting no ack but received seqno {}", self.found),
        }
    }
}

impl std::error::Error for UnexpectedAck {}

/// Packets in the order in which they were sent.
#[derive(Debug)]
pub struct Unacknowledged<P>(VecDeque<P>);

impl<P> Default for Unacknowledged<P> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<P: Numbered> Unacknowledged<P> {
    /// Adds a packet that was sent.
    pub fn push(&mut self, packet: P) {
        self.0.push_back(packet);
    }

    /// Takes the packet that an ack answers; `None` if it answers a heartbeat or is out of band.
    ///
    /// # Errors
    /// It answers another packet than the oldest. Nothing is taken.
    pub fn take(&mut self, seqno: i64) -> Result<Option<P>, UnexpectedAck> {
        if let Some(packet) = self.0.pop_front_if(|packet| packet.seqno() == seqno) {
            return Ok(Some(packet));
        }
        match seqno {
            HEARTBEAT_SEQNO | UNKNOWN_SEQNO => Ok(None),
            found => Err(UnexpectedAck { expected: self.0.front().map(Numbered::seqno), found }),
        }
    }

    /// Takes the oldest packet if `is_done`, without waiting for an ack from downstream.
    pub fn take_if(&mut self, is_done: impl FnOnce(&P) -> bool) -> Option<P> {
        self.0.pop_front_if(|packet| is_done(packet))
    }

    /// Takes the newest packet, to be sent again.
    pub fn take_newest(&mut self) -> Option<P> {
        self.0.pop_back()
    }

    /// The packet that was sent last.
    pub fn newest_mut(&mut self) -> Option<&mut P> {
        self.0.back_mut()
    }

    /// The packet that the next ack answers.
    pub fn oldest(&self) -> Option<&P> {
        self.0.front()
    }

    /// The number of packets.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all packets are acknowledged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::ack::PipelineAck;
    use zerohop_proto::hdfs::Status;

    impl Numbered for i64 {
        fn seqno(&self) -> i64 {
            *self
        }
    }

    fn sent(packets: &[i64]) -> Unacknowledged<i64> {
        let mut sent = Unacknowledged::default();
        packets.iter().for_each(|packet| sent.push(*packet));
        sent
    }

    /// However the bytes of acks are split on arrival, each packet is answered once and in order.
    #[test]
    fn acks_cut_at_any_byte_answer_packets_in_order() {
        let seqnos = [0, HEARTBEAT_SEQNO, 1, UNKNOWN_SEQNO, 2];
        let acks = seqnos.map(|seqno| PipelineAck::own(seqno, Status::Success).encode());
        let bytes = acks.concat();
        for cut in 0..=bytes.len() {
            let (mut sent, mut answered, mut from) = (sent(&[0, 1, 2]), Vec::new(), 0);
            for arrived in [cut, bytes.len()] {
                while let Some((ack, len)) = PipelineAck::take(&bytes[from..arrived]).unwrap() {
                    answered.extend(sent.take(ack.seqno).unwrap());
                    from += len;
                }
            }
            assert_eq!(answered, [0, 1, 2], "{cut}");
            assert!(sent.is_empty() && from == bytes.len());
        }
    }

    #[test]
    fn an_ack_of_another_packet_takes_none() {
        let mut sent = sent(&[4, 5]);
        assert_eq!(sent.take(5), Err(UnexpectedAck { expected: Some(4), found: 5 }));
        assert_eq!((sent.take(4), sent.take(5)), (Ok(Some(4)), Ok(Some(5))));
        assert_eq!(sent.take(6), Err(UnexpectedAck { expected: None, found: 6 }));
    }

    /// A client may send a heartbeat as the last packet waits; DataNodes acknowledge it like any other.
    #[test]
    fn a_heartbeat_that_is_waited_for_is_taken() {
        let mut sent = sent(&[7, HEARTBEAT_SEQNO]);
        assert_eq!(sent.take(HEARTBEAT_SEQNO), Ok(None), "not its turn");
        assert_eq!((sent.take(7), sent.take(HEARTBEAT_SEQNO)), (Ok(Some(7)), Ok(Some(-1))));
    }
}
