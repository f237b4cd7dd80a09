//! Writers that come and go, one after the other.

use crate::nodes::{Nodes, append, info, marks, options};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_journal::log::Journal;
use zerohop_quorum::{Connection, QuorumJournal, RpcConnection};
use zerohop_transport::rpc::ClientOptions;
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

/// Ends a JournalNode when a call to `node` is about to leave.
struct Ending {
    node: usize,
    call: &'static str,
    end: Box<dyn Fn() + Send + Sync>,
}

/// A writer's connection that breaks.
struct Breaking {
    rpc: RpcConnection,
    /// The call that does not arrive, nor does any after it.
    before: Option<&'static str>,
    is_broken: AtomicBool,
    ending: Option<Ending>,
}

impl Connection for Breaking {
    fn address(&self) -> &str {
        self.rpc.address()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        // With this one the test waits for all queues.
        if method == "isFormatted" {
            return self.rpc.call(method, request);
        }
        if self.before == Some(method) {
            self.is_broken.store(true, Ordering::Release);
        }
        if self.is_broken.load(Ordering::Acquire) {
            return Err("it was not sent".to_owned());
        }
        if let Some(ending) = self.ending.as_ref().filter(|ending| ending.call == method) {
            (ending.end)();
        }
        self.rpc.call(method, request)
    }
}

/// A writer whose connection to each JournalNode breaks before a call.
fn breaking_writer(
    nodes: &Nodes,
    before: [Option<&'static str>; 3],
    mut ending: Option<Ending>,
) -> QuorumJournal {
    let connect = |(number, before): (usize, Option<&'static str>)| -> Arc<dyn Connection> {
        let client = ClientOptions { connect_retries: 0, ..ClientOptions::default() };
        let address = nodes.addresses[number].to_string();
        let rpc = RpcConnection::new(&address, client).unwrap();
        let ending = ending.take_if(|ending| ending.node == number);
        Arc::new(Breaking { rpc, before, is_broken: AtomicBool::new(false), ending })
    };
    let connections = before.into_iter().enumerate().map(connect).collect();
    QuorumJournal::over(nodes.address("ns"), info(), options(), connections).unwrap()
}

/// The first JournalNode was made to discard its copy, which was as good as the chosen one, and the one with the chosen copy
/// ended before that was fetched: then acknowledged edits were on one JournalNode only, of which one may be away.
#[test]
fn a_copy_was_discarded_before_its_replacement_was_fetched() {
    let nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let first = breaking_writer(&nodes, [None, None, Some("startLogSegment")], None);
    first.recover_unfinalized_segments().outcome.unwrap();
    let mut segment = first.start_segment(TxId(1)).unwrap();
    append(&mut *segment, 1, &[10, 11, 12, 13]).unwrap();
    // The next writer dies after its recovery was accepted by the second alone.
    let accept = Some("acceptRecovery");
    let second = breaking_writer(&nodes, [accept, Some("finalizeLogSegment"), accept], None);
    second.recover_unfinalized_segments().outcome.unwrap_err();
    assert!(second.has_data().unwrap(), "its calls are answered");
    // The second ends when the third writer has its copy accepted.
    let nodes = Arc::new(std::sync::Mutex::new(nodes));
    let ending = Arc::clone(&nodes);
    let end = move || {
        let mut nodes = ending.lock().unwrap();
        if nodes.nodes[1].is_some() {
            nodes.down(1);
        }
    };
    let third = {
        let nodes = nodes.lock().unwrap();
        let ending = Ending { node: 0, call: "acceptRecovery", end: Box::new(end) };
        breaking_writer(&nodes, [None, accept, accept], Some(ending))
    };
    third.recover_unfinalized_segments().outcome.unwrap_err();
    let _ = third.has_data();
    let mut nodes = nodes.lock().unwrap();
    assert!(nodes.nodes[1].is_none(), "it has not ended");
    let (fourth, reached) = nodes.takeover();
    assert_eq!((reached, marks(&fourth, false)), (4, vec![10, 11, 12, 13]));
    nodes.up(1);
    nodes.down(2);
    assert_eq!(nodes.takeover().1, 4);
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
