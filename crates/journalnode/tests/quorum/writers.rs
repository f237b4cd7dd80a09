//! Writers that come and go, one after the other.

use crate::nodes::{Nodes, append, marks};
use zerohop_journal::log::Journal;
use zerohop_wire::TxId;

#[test]
fn what_a_majority_has_is_there_for_the_next_writer() {
    let mut nodes = Nodes::start();
    let first = nodes.writer();
    assert!(!first.has_data().unwrap());
    first.format().unwrap();
    assert!(first.has_data().unwrap());
    let (first, reached) = nodes.takeover();
    assert_eq!((first.epoch(), reached), (1, 0));
    let mut segment = first.start_segment(TxId(1)).unwrap();
    append(&mut *segment, 1, &[10, 11]).unwrap();
    nodes.down(2);
    append(&mut *segment, 3, &[12]).unwrap();
    segment.finalize(TxId(3)).unwrap();
    let mut segment = first.start_segment(TxId(4)).unwrap();
    append(&mut *segment, 4, &[13]).unwrap();
    nodes.up(2);
    nodes.down(0);
    // One alone has the last one now, with a JournalNode that has missed everything since 2.
    let (second, reached) = nodes.takeover();
    assert_eq!((second.epoch(), reached), (2, 4));
    assert_eq!(marks(&second, false), [10, 11, 12, 13]);
    let mut next = second.start_segment(TxId(5)).unwrap();
    append(&mut *next, 5, &[14]).unwrap();
    append(&mut *next, 6, &[15]).unwrap();
    assert_eq!(marks(&second, true)[..5], [10, 11, 12, 13, 14]);
}

#[test]
fn a_writer_that_was_replaced_is_told_by_whom() {
    let nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let (first, _) = nodes.takeover();
    let mut segment = first.start_segment(TxId(1)).unwrap();
    append(&mut *segment, 1, &[10]).unwrap();
    let (second, reached) = nodes.takeover();
    assert_eq!(reached, 1);
    let refused = append(&mut *segment, 2, &[99]).unwrap_err().to_string();
    assert!(refused.contains("epoch 1 is less than the last promised epoch 2"), "{refused}");
    let refused = first.start_segment(TxId(2)).err().unwrap().to_string();
    assert!(refused.contains("startLogSegment: 2 of 3 JournalNodes are needed"), "{refused}");
    assert_eq!(marks(&second, false), [10]);
}

#[test]
fn without_a_majority_nothing_is_written() {
    let mut nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let (writer, _) = nodes.takeover();
    let mut segment = writer.start_segment(TxId(1)).unwrap();
    nodes.down(0);
    nodes.down(1);
    append(&mut *segment, 1, &[10]).unwrap_err();
    nodes.writer().recover_unfinalized_segments().outcome.unwrap_err();
    assert!(nodes.writer().start_segment(TxId(1)).is_err(), "no epoch");
}

/// Writers that end anywhere, with a JournalNode less than a majority away at any time: what was acknowledged is there, in its
/// place, and once.
#[test]
fn acknowledged_edits_survive_random_histories() {
    for seed in 0..4 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut nodes = Nodes::start();
        nodes.writer().format().unwrap();
        let mut acknowledged: Vec<i64> = Vec::new();
        let mut mark = 0;
        for _ in 0..12 {
            let away = random.usize(..4);
            if away < 3 {
                nodes.down(away);
            }
            let (writer, reached) = nodes.takeover();
            let known = marks(&writer, false);
            assert_eq!(known.len() as i64, reached.max(known.len() as i64), "seed {seed}");
            assert_eq!(known[..acknowledged.len()], acknowledged[..], "seed {seed}");
            acknowledged = known;
            if away < 3 && random.bool() {
                nodes.up(away);
            }
            let mut next = acknowledged.len() as i64 + 1;
            for _ in 0..random.usize(..3) {
                let mut segment = writer.start_segment(TxId(next)).unwrap();
                let begun = next;
                for _ in 0..random.usize(1..5) {
                    let batch: Vec<i64> = (0..random.i64(1..4)).map(|n| mark + n).collect();
                    mark += 10;
                    append(&mut *segment, next, &batch).unwrap();
                    next += batch.len() as i64;
                    acknowledged.extend(batch);
                }
                if random.bool() && next > begun {
                    segment.finalize(TxId(next - 1)).unwrap();
                } else {
                    break;
                }
            }
            drop(writer);
            if away < 3 && nodes.nodes[away].is_none() {
                nodes.up(away);
            }
        }
    }
}
