//! Blocks written to DataNodes that the tests play: acks in every order of arrival, and pipelines that end at
//! every point.

use super::*;
use crate::transfer::ack::{Ecn, UNKNOWN_SEQNO, flag};
use crate::transfer::unacknowledged::UnexpectedAck;
use proptest::prelude::*;
use zerohop_proto::hdfs::Status;

const OPTIONS: WriteOptions = WriteOptions { window: 4, slow_threshold: 3 };
const PACKET_LEN: u64 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Packet {
    seqno: i64,
    is_last: bool,
}

impl Numbered for Packet {
    fn seqno(&self) -> i64 {
        self.seqno
    }
}

impl BlockPacket for Packet {
    fn end(&self) -> u64 {
        (self.seqno as u64 + u64::from(!self.is_last)) * PACKET_LEN
    }

    fn is_last(&self) -> bool {
        self.is_last
    }
}

/// A block of `count` packets and the last one, all queued.
fn block(count: i64) -> BlockWrite<Packet> {
    let mut write = BlockWrite::new(OPTIONS);
    write.begin_block(0);
    (0..=count).for_each(|seqno| write.queue(Packet { seqno, is_last: seqno == count }));
    write
}

fn ack(seqno: i64, statuses: &[Status]) -> Vec<u8> {
    let flags = statuses.iter().map(|status| *status as u32).collect();
    PipelineAck { seqno, flags, downstream_ns: 0 }.encode()
}

fn good(seqno: i64) -> Vec<u8> {
    ack(seqno, &[Status::Success; 3])
}

/// Sends what may be sent now; the numbers of these packets.
fn send_all(write: &mut BlockWrite<Packet>) -> Vec<i64> {
    let mut sent = Vec::new();
    while write.next(Until::Sent) == Next::Send {
        sent.extend(write.send().map(|packet| packet.seqno));
    }
    sent
}

/// Receives bytes; the numbers of the packets that they acknowledge.
fn receive(write: &mut BlockWrite<Packet>, bytes: &[u8]) -> Result<Vec<i64>, PipelineFault> {
    let mut acked = Vec::new();
    write.receive(bytes, |packet| acked.push(packet.seqno)).map(|()| acked)
}

#[test]
fn acks_cut_at_every_byte_acknowledge_packets_in_order() {
    let seqnos = [0, HEARTBEAT_SEQNO, 1, UNKNOWN_SEQNO, 2];
    let bytes = seqnos.map(good).concat();
    for cut in 0..=bytes.len() {
        let mut write = block(3);
        assert_eq!(send_all(&mut write), [0, 1, 2]);
        let mut acked = receive(&mut write, &bytes[..cut]).unwrap();
        assert_eq!(write.acked_len(), acked.len() as u64 * PACKET_LEN);
        acked.extend(receive(&mut write, &bytes[cut..]).unwrap());
        assert_eq!(acked, [0, 1, 2], "{cut}");
        assert_eq!(send_all(&mut write), [3], "the last packet, behind all others");
        assert_eq!(write.next(Until::Sent), Next::Wait, "the block is not closed");
        assert_eq!(receive(&mut write, &good(3)).unwrap(), [3]);
        assert_eq!(write.next(Until::Sent), Next::EndBlock);
        write.end_block();
        assert_eq!(write.next(Until::Acknowledged(3)), Next::Done);
    }
}

#[test]
fn a_full_window_waits_and_an_ack_makes_room_for_one() {
    let mut write = block(9);
    assert_eq!(send_all(&mut write), [0, 1, 2, 3]);
    assert_eq!(write.next(Until::Sent), Next::Wait);
    receive(&mut write, &good(0)).unwrap();
    assert_eq!(send_all(&mut write), [4]);
    assert_eq!((write.acked_len(), write.sent_len()), (PACKET_LEN, 5 * PACKET_LEN));
}

#[test]
fn a_flush_waits_for_its_packet_and_no_other() {
    let mut write = BlockWrite::new(OPTIONS);
    (0..3).for_each(|seqno| write.queue(Packet { seqno, is_last: false }));
    assert_eq!(send_all(&mut write), [0, 1, 2]);
    assert_eq!(write.next(Until::Sent), Next::Done);
    receive(&mut write, &good(0)).unwrap();
    assert_eq!(write.next(Until::Acknowledged(1)), Next::Wait);
    receive(&mut write, &good(1)).unwrap();
    assert_eq!(write.next(Until::Acknowledged(1)), Next::Done);
    assert_eq!(write.next(Until::Acknowledged(2)), Next::Wait);
}

/// Acks that come twice, too early or of nothing acknowledge no packet.
#[test]
fn acks_out_of_order_break_the_pipeline_and_acknowledge_nothing() {
    for (before, wrong, expected) in
        [(&[][..], 1, Some(0)), (&[0][..], 0, Some(1)), (&[0, 1, 2][..], 3, None)]
    {
        let mut write = BlockWrite::new(OPTIONS);
        (0..3).for_each(|seqno| write.queue(Packet { seqno, is_last: false }));
        send_all(&mut write);
        let acked = receive(&mut write, &before.iter().copied().flat_map(good).collect::<Vec<_>>());
        assert_eq!(acked.unwrap(), before);
        let unexpected = UnexpectedAck { expected, found: wrong };
        let fault = PipelineFault::first(FaultCause::UnexpectedAck(unexpected));
        assert_eq!(receive(&mut write, &good(wrong)), Err(fault));
        write.recover();
        assert_eq!(send_all(&mut write), (before.len() as i64..3).collect::<Vec<_>>());
    }
}

#[test]
fn what_an_ack_says_of_a_datanode_ends_the_pipeline() {
    use Status::{Error, OobRestart, Success};
    let failed =
        |index, status| PipelineFault::Failed { index, cause: FaultCause::Reported(Some(status)) };
    for (seqno, statuses, fault) in [
        (0, [Success, Error, Success], failed(1, Error)),
        (UNKNOWN_SEQNO, [Success, Success, Error], failed(2, Error)),
        (UNKNOWN_SEQNO, [Success, OobRestart, Success], PipelineFault::Restarting { index: 1 }),
        (HEARTBEAT_SEQNO, [OobRestart, Success, Success], PipelineFault::Restarting { index: 0 }),
    ] {
        let mut write = block(2);
        send_all(&mut write);
        assert_eq!(receive(&mut write, &ack(seqno, &statuses)), Err(fault));
        assert_eq!(write.acked_len(), 0);
    }
}

/// The pipeline ends with any byte of any ack; the next one gets all packets that were not acknowledged, and the block
/// is closed with each of them acknowledged once.
#[test]
fn a_pipeline_that_ends_at_every_byte_of_its_acks_loses_no_packet() {
    let count = 6;
    let acks: Vec<u8> = (0..=count).flat_map(good).collect();
    let ack_len = acks.len() / (count as usize + 1);
    for end in 0..acks.len() {
        let mut write = block(count);
        let (mut acked, mut received) = (Vec::new(), 0);
        send_all(&mut write);
        while received < end && write.next(Until::Sent) == Next::Wait {
            // The acks of packets that were not sent do not come.
            let until = (received + 1).min(end);
            acked.extend(receive(&mut write, &acks[received..until]).unwrap());
            received = until;
            send_all(&mut write);
        }
        assert_eq!(acked.len(), received / ack_len);
        write.recover();
        let mut next = acked.len() as i64;
        while write.next(Until::Sent) != Next::EndBlock {
            send_all(&mut write);
            acked.extend(receive(&mut write, &good(next)).unwrap());
            next += 1;
        }
        assert_eq!(acked, (0..=count).collect::<Vec<_>>(), "{end}");
    }
}

/// The DataNodes have closed the block while the pipeline was set up again: its last packet is not sent again.
#[test]
fn a_block_that_is_closed_in_recovery_has_its_last_packet_acknowledged() {
    let mut write = block(1);
    send_all(&mut write);
    receive(&mut write, &good(0)).unwrap();
    assert_eq!(send_all(&mut write), [1]);
    write.recover();
    assert_eq!(write.close_recovered(), Some(Packet { seqno: 1, is_last: true }));
    write.end_block();
    assert_eq!(write.next(Until::Acknowledged(1)), Next::Done);
}

#[test]
fn only_a_datanode_that_calls_itself_slow_in_a_row_is_given_up() {
    let said = |seqno, slow: Slow| {
        let flags =
            [Slow::Disabled, slow].map(|slow| flag(Status::Success, Ecn::Disabled, slow)).to_vec();
        PipelineAck { seqno, flags, downstream_ns: 0 }.encode()
    };
    let mut write = BlockWrite::new(WriteOptions { window: 16, ..OPTIONS });
    (0..8).for_each(|seqno| write.queue(Packet { seqno, is_last: false }));
    send_all(&mut write);
    for (seqno, slow) in
        [Slow::Slow, Slow::Slow, Slow::Normal, Slow::Slow, Slow::Slow].into_iter().enumerate()
    {
        receive(&mut write, &said(seqno as i64, slow)).unwrap();
    }
    let fault = receive(&mut write, &said(5, Slow::Slow)).unwrap_err();
    assert_eq!(fault, PipelineFault::Failed { index: 1, cause: FaultCause::Slow });
}

#[test]
fn a_silent_pipeline_gets_heartbeats_until_it_is_given_up() {
    let seconds = Duration::from_secs;
    let limits = SilenceLimits { heartbeat_after: seconds(30), silence_max: seconds(70) };
    assert_eq!(limits.after(seconds(69)), Silence::Heartbeat);
    assert_eq!(limits.after(seconds(70)), Silence::GiveUp);
    assert!(limits.is_heartbeat_due(seconds(30)) && !limits.is_heartbeat_due(seconds(29)));
    let never = SilenceLimits { heartbeat_after: Duration::ZERO, ..limits };
    assert!(!never.is_heartbeat_due(seconds(1000)));
    let (bytes, start) = heartbeat();
    let header = PacketHeader::decode(&bytes[start + super::super::packet::LENGTHS_LEN..]).unwrap();
    assert!(header.is_heartbeat() && header.data_len == 0 && !header.last);
}

proptest! {
    #[test]
    fn garbage_never_panics_and_acknowledges_nothing_that_was_not_sent(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
        real in 0i64..4,
    ) {
        let mut write = block(3);
        send_all(&mut write);
        let mut acked = Vec::new();
        for bytes in pieces.iter().chain([&good(real)]) {
            match receive(&mut write, bytes) {
                Ok(more) => acked.extend(more),
                Err(_) => write.recover(),
            }
        }
        prop_assert!(acked.iter().copied().eq(0..acked.len() as i64));
        prop_assert!(acked.len() <= 3);
    }

    /// Acks in pieces of any size, and pipelines that fail after any of them.
    #[test]
    fn every_packet_is_acknowledged_once_whatever_fails(
        count in 0i64..20,
        pieces in prop::collection::vec((1usize..40, prop::bool::weighted(0.2)), 1..60),
        window in 1usize..6,
    ) {
        let mut write = BlockWrite::new(WriteOptions { window, ..OPTIONS });
        (0..=count).for_each(|seqno| write.queue(Packet { seqno, is_last: seqno == count }));
        let (mut acked, mut on_way) = (Vec::new(), Vec::new());
        let mut pieces = pieces.into_iter().chain(std::iter::repeat((1000, false)));
        loop {
            for seqno in send_all(&mut write) {
                on_way.extend(good(seqno));
            }
            prop_assert!(write.sent.len() <= window);
            if write.next(Until::Sent) == Next::EndBlock {
                break;
            }
            let (len, fails) = pieces.next().unwrap_or_default();
            let piece: Vec<u8> = on_way.drain(..len.min(on_way.len())).collect();
            acked.extend(receive(&mut write, &piece).unwrap());
            if fails && write.next(Until::Sent) != Next::EndBlock {
                on_way.clear();
                write.recover();
            }
        }
        prop_assert!(acked.into_iter().eq(0..=count));
    }
}
