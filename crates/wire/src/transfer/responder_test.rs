//! The acks of a DataNode between a client and a downstream DataNode that the tests play.

use super::*;
use crate::transfer::packet::HEARTBEAT_SEQNO;
use proptest::prelude::*;

const PACKET_LEN: u32 = 100;
const SILENCE_MAX: Duration = Duration::from_secs(60);

fn header(seqno: i64, count: i64) -> PacketHeader {
    PacketHeader {
        offset_in_block: seqno * i64::from(PACKET_LEN),
        seqno,
        last: seqno == count,
        data_len: if seqno == count { 0 } else { PACKET_LEN },
        sync: false,
    }
}

/// A DataNode that has received `count` packets and the last one.
fn received(count: i64, has_downstream: bool) -> Responder {
    let now = Instant::now();
    let mut responder = Responder::new(0);
    if has_downstream {
        responder = responder.with_downstream(SILENCE_MAX, now);
    }
    (0..=count).for_each(|seqno| responder.received(&header(seqno, count), now));
    responder
}

fn own(seqno: i64, status: Status) -> Vec<u8> {
    PipelineAck::own(seqno, status).encode()
}

/// The acks that the client gets.
fn upstream(responder: &Responder) -> Vec<(i64, Vec<Status>)> {
    let (mut acks, mut at) = (Vec::new(), 0);
    while let Some((ack, len)) = PipelineAck::take(&responder.acks()[at..]).unwrap() {
        acks.push((ack.seqno, ack.statuses().collect()));
        at += len;
    }
    assert_eq!(at, responder.acks().len());
    acks
}

/// Takes what may be taken of the bytes that have arrived; how many they are.
fn hear_all(responder: &mut Responder, bytes: &[u8]) -> Result<usize, ResponderFailure> {
    let mut at = 0;
    while let Some((heard, len)) = responder.hear(&bytes[at..], Instant::now())? {
        at += len;
        if let Heard::Answer(answered) = heard {
            responder.acknowledge(&answered);
        }
    }
    Ok(at)
}

#[test]
fn the_last_datanode_acknowledges_what_it_has_written() {
    let mut responder = received(3, false);
    let mut answered = Vec::new();
    for written in [0, 99, 100, 250, 300] {
        responder.written(written);
        while let Some(answer) = responder.next_own() {
            assert!(answer.end <= written && answer.is_success());
            responder.acknowledge(&answer);
            answered.push((written, answer.last));
        }
    }
    assert_eq!(answered, [(100, false), (250, false), (300, false), (300, true)]);
    assert_eq!(upstream(&responder).len(), 4);
    assert!(responder.is_idle());
}

/// An ack from downstream waits until the packet is written here, however its bytes are split.
#[test]
fn acks_cut_at_every_byte_are_passed_on_when_their_packets_are_written() {
    let bytes: Vec<u8> = (0..=3).flat_map(|seqno| own(seqno, Status::Success)).collect();
    for cut in 0..=bytes.len() {
        let mut responder = received(3, true);
        assert_eq!(hear_all(&mut responder, &bytes[..cut]), Ok(0), "nothing is written");
        responder.written(200);
        let taken = hear_all(&mut responder, &bytes[..cut]).unwrap();
        assert!(taken <= cut && upstream(&responder).len() <= 2, "two packets are written");
        assert!(responder.next_own().is_none());
        responder.written(300);
        let rest = hear_all(&mut responder, &bytes[taken..]).unwrap();
        assert_eq!(taken + rest, bytes.len());
        let expected: Vec<_> = (0..=3).map(|seqno| (seqno, vec![Status::Success; 2])).collect();
        assert_eq!(upstream(&responder), expected);
        assert!(responder.is_idle());
    }
}

/// Duplicates, acks of later packets and those of heartbeats that were not sent.
#[test]
fn an_ack_that_is_not_expected_is_blamed_on_the_datanode_downstream_once() {
    for (before, wrong) in [(0, 1), (1, 0), (1, HEARTBEAT_SEQNO), (4, 4)] {
        let mut responder = received(3, true);
        responder.written(300);
        for seqno in 0..before {
            hear_all(&mut responder, &own(seqno, Status::Success)).unwrap();
        }
        let taken = hear_all(&mut responder, &own(wrong, Status::Success)).unwrap();
        assert!(taken > 0 && responder.is_downstream_lost());
        responder.downstream_lost();
        let acks = upstream(&responder);
        assert_eq!(acks.len() as i64, before + 1);
        let blamed = (UNKNOWN_SEQNO, vec![Status::Success, Status::Error]);
        assert_eq!(acks.last(), Some(&blamed), "{before} {wrong}");
        assert_eq!(responder.hear(&own(before, Status::Success), Instant::now()), Ok(None));
    }
}

#[test]
fn what_the_datanode_downstream_says_goes_upstream_behind_the_own_status() {
    let mut responder = received(2, true);
    responder.written(200);
    hear_all(&mut responder, &own(UNKNOWN_SEQNO, Status::OobRestart)).unwrap();
    let heard = responder.hear(&own(0, Status::Error), Instant::now()).unwrap();
    let Some((Heard::Answer(failed), _)) = heard else { panic!("{heard:?}") };
    assert!(!failed.is_success());
    responder.acknowledge(&failed);
    let acks = upstream(&responder);
    assert_eq!(acks[0], (UNKNOWN_SEQNO, vec![Status::Success, Status::OobRestart]));
    assert_eq!(acks[1], (0, vec![Status::Success, Status::Error]));
}

/// It cannot know who damaged the data: it leaves the pipeline, and the client recovers it.
#[test]
fn data_that_is_corrupt_downstream_ends_the_pipeline_here() {
    let mut responder = received(2, true);
    responder.written(200);
    let corrupt = own(0, Status::ErrorChecksum);
    assert_eq!(hear_all(&mut responder, &corrupt), Err(ResponderFailure::CorruptDownstream));
    assert!(responder.acks().is_empty());
}

#[test]
fn a_datanode_downstream_that_owes_an_ack_may_be_silent_for_a_while() {
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    let mut responder = Responder::new(0).with_downstream(SILENCE_MAX, start);
    assert_eq!(responder.silence_left(None, after(100)), Duration::MAX, "it owes nothing");
    assert_eq!(responder.silence_left(Some(after(70)), after(100)), Duration::from_secs(30));
    responder.received(&header(0, 1), after(100));
    assert_eq!(responder.silence_left(None, after(110)), Duration::from_secs(50));
    responder.downstream_spoke(after(150));
    assert_eq!(responder.silence_left(None, after(160)), Duration::from_secs(50));
    assert_eq!(responder.silence_left(None, after(300)), Duration::ZERO);
    responder.downstream_lost();
    assert_eq!(responder.silence_left(None, after(300)), Duration::MAX);
}

proptest! {
    /// The client gets an ack for each packet that is written and acknowledged downstream, in order, in whatever
    /// order writing and acks go on; and after the connection downstream ended, that it did.
    #[test]
    fn acks_and_writes_in_any_order_and_a_connection_that_ends_anywhere(
        count in 0i64..10,
        steps in prop::collection::vec((prop::bool::ANY, 1usize..60), 0..60),
    ) {
        let mut responder = received(count, true);
        let bytes: Vec<u8> = (0..=count).flat_map(|seqno| own(seqno, Status::Success)).collect();
        let (mut written, mut arrived, mut taken) = (0, 0, 0);
        for (is_write, len) in steps {
            if is_write {
                written = (written + len as u64).min(count as u64 * u64::from(PACKET_LEN));
                responder.written(written);
            } else {
                arrived = (arrived + len).min(bytes.len());
            }
            taken += hear_all(&mut responder, &bytes[taken..arrived]).unwrap();
        }
        let acks = upstream(&responder);
        prop_assert!(acks.iter().map(|ack| ack.0).eq(0..acks.len() as i64));
        let on_disk = written / u64::from(PACKET_LEN);
        prop_assert!(acks.len() as u64 <= on_disk + u64::from(on_disk == count as u64));
        responder.downstream_lost();
        prop_assert_eq!(upstream(&responder).len(), acks.len() + 1);
    }

    #[test]
    fn garbage_from_downstream_never_panics(pieces: Vec<Vec<u8>>) {
        let mut responder = received(3, true);
        responder.written(300);
        for bytes in &pieces {
            if hear_all(&mut responder, bytes).is_err() {
                responder.downstream_lost();
            }
        }
    }
}
