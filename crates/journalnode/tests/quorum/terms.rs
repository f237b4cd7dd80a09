//! One writer object over several terms: what it queued in one must not run in the next.

use crate::nodes::{Nodes, append, info, marks, options};
use bytes::Bytes;
use prost::Message;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use zerohop_journal::log::{Journal, OpenSegment};
use zerohop_proto::hdfs::qjournal::*;
use zerohop_quorum::{Connection, QuorumJournal, RpcConnection};
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::TxId;

/// What hangs while it is shut, and the calls that went through: their methods and epochs.
#[derive(Default)]
struct Gate {
    state: Mutex<(bool, Vec<(&'static str, u64)>)>,
    opened: Condvar,
}

impl Gate {
    fn set_shut(&self, is_shut: bool) {
        self.state.lock().unwrap().0 = is_shut;
        self.opened.notify_all();
    }

    fn calls(&self) -> Vec<(&'static str, u64)> {
        self.state.lock().unwrap().1.clone()
    }
}

/// A connection that hangs while its gate is shut.
struct Hanging {
    rpc: RpcConnection,
    gate: Arc<Gate>,
}

impl Connection for Hanging {
    fn address(&self) -> &str {
        self.rpc.address()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        let limit = Duration::from_secs(60);
        let state = self.gate.state.lock().unwrap();
        let (mut state, waited) =
            self.gate.opened.wait_timeout_while(state, limit, |state| state.0).unwrap();
        assert!(!waited.timed_out(), "nobody opens the gate");
        if let Some(epoch) = epoch_of(method, request) {
            state.1.push((method, epoch));
        }
        drop(state);
        self.rpc.call(method, request)
    }
}

/// The epoch of a call that changes a journal.
fn epoch_of(method: &str, request: &[u8]) -> Option<u64> {
    let info = match method {
        "journal" => JournalRequestProto::decode(request).unwrap().req_info,
        "startLogSegment" => StartLogSegmentRequestProto::decode(request).unwrap().req_info,
        "finalizeLogSegment" => FinalizeLogSegmentRequestProto::decode(request).unwrap().req_info,
        "purgeLogs" => PurgeLogsRequestProto::decode(request).unwrap().req_info,
        "prepareRecovery" => PrepareRecoveryRequestProto::decode(request).unwrap().req_info,
        "acceptRecovery" => AcceptRecoveryRequestProto::decode(request).unwrap().req_info,
        "heartbeat" => HeartbeatRequestProto::decode(request).unwrap().req_info,
        "newEpoch" => return Some(NewEpochRequestProto::decode(request).unwrap().epoch),
        "discardSegments" => {
            return Some(DiscardSegmentsRequestProto::decode(request).unwrap().req_info?.epoch);
        }
        _ => return None,
    };
    Some(info.epoch)
}

/// A writer whose calls to the third JournalNode pass a gate.
fn writer(nodes: &Nodes, gate: &Arc<Gate>) -> QuorumJournal {
    let connect = |(number, address): (usize, &std::net::SocketAddr)| -> Arc<dyn Connection> {
        let rpc = RpcConnection::new(&address.to_string(), ClientOptions::default()).unwrap();
        match number {
            2 => Arc::new(Hanging { rpc, gate: Arc::clone(gate) }),
            _ => Arc::new(rpc),
        }
    };
    let connections = nodes.addresses.iter().enumerate().map(connect).collect();
    QuorumJournal::over(nodes.address("ns"), info(), options(), connections).unwrap()
}

fn begin(writer: &QuorumJournal, first: i64, marks: &[i64]) -> Box<dyn OpenSegment> {
    let mut segment = writer.start_segment(TxId(first)).unwrap();
    append(&mut *segment, first, marks).unwrap();
    segment
}

/// A NameNode was active, standby and active again while a JournalNode hung. What had waited in its queue ran under the epoch of the
/// second term: it ended and purged segments there in the name of a writer that had not asked for it.
#[test]
fn calls_queued_in_one_term_ran_under_the_epoch_of_the_next() {
    let nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let gate = Arc::<Gate>::default();
    let writer = writer(&nodes, &gate);
    writer.recover_unfinalized_segments().outcome.unwrap();
    let mut segment = begin(&writer, 1, &[10]);
    assert!(writer.has_data().unwrap(), "all have it");
    gate.set_shut(true);
    append(&mut *segment, 2, &[11]).unwrap();
    segment.finalize(TxId(2)).unwrap();
    let segment = begin(&writer, 3, &[12]);
    segment.finalize(TxId(3)).unwrap();
    writer.purge(TxId(1), None);
    let mut left = begin(&writer, 4, &[13]);

    // The second term of the same object.
    let recovery = writer.recover_unfinalized_segments();
    recovery.outcome.unwrap();
    assert_eq!((writer.epoch(), recovery.reached), (2, TxId(4)));
    let mut segment = begin(&writer, 5, &[14]);
    append(&mut *left, 5, &[99]).unwrap_err();
    left.finalize(TxId(4)).unwrap_err();
    let before = gate.calls().len();
    gate.set_shut(false);
    append(&mut *segment, 6, &[15]).unwrap();
    assert!(writer.has_data().unwrap(), "the queue is empty");
    segment.finalize(TxId(6)).unwrap();
    let _ = writer.has_data();

    let calls = gate.calls().split_off(before);
    let promised = calls.iter().position(|call| *call == ("newEpoch", 2)).unwrap();
    let (old, new) = calls.split_at(promised);
    assert!(old.iter().all(|(_, epoch)| *epoch == 1), "before the promise: {old:?}");
    assert!(new.iter().all(|(_, epoch)| *epoch == 2), "after the promise: {new:?}");
    let ended = |calls: &[(&str, u64)]| calls.iter().filter(|call| call.0 == "purgeLogs").count();
    assert_eq!((ended(old), ended(new)), (0, 0), "{calls:?}");
    assert_eq!(marks(&nodes.writer(), false), [10, 11, 12, 13, 14, 15]);
}

/// `discardSegments` had no epoch at all: a JournalNode that a rollback had not reached lost what the next writer wrote.
#[test]
fn a_late_discard_is_refused_by_the_journal_nodes() {
    let nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let (first, _) = nodes.takeover();
    begin(&first, 1, &[10, 11]).finalize(TxId(2)).unwrap();
    begin(&first, 3, &[12]).finalize(TxId(3)).unwrap();
    let (second, reached) = nodes.takeover();
    assert_eq!(reached, 3);
    let refused = first.discard_segments(TxId(3)).unwrap_err().to_string();
    assert!(refused.contains("epoch 1 is less than the last promised epoch 2"), "{refused}");
    assert_eq!(marks(&second, false), [10, 11, 12]);
    second.discard_segments(TxId(3)).unwrap();
    assert_eq!(marks(&second, false), [10, 11]);
    nodes.writer().discard_segments(TxId(1)).unwrap_err();
}

/// Two of five may be away at any time.
#[test]
fn five_journal_nodes_survive_the_loss_of_two() {
    let mut nodes = Nodes::start_many(5, &[]);
    nodes.writer().format().unwrap();
    let (mut known, mut next) = (Vec::new(), 1);
    for term in 0..10 {
        let away = [term % 5, (term + 1 + term / 5) % 5];
        away.iter().for_each(|node| nodes.down(*node));
        let (writer, reached) = nodes.takeover();
        assert_eq!((reached, marks(&writer, false)), (next - 1, known.clone()), "term {term}");
        let mut segment = begin(&writer, next, &[next, next + 1]);
        // One more is lost: no majority is left.
        let third = (0..5).find(|node| !away.contains(node)).unwrap();
        known.extend([next, next + 1]);
        next += 2;
        if term % 3 == 2 {
            nodes.down(third);
            append(&mut *segment, next, &[-1]).unwrap_err();
            nodes.up(third);
        } else if term % 3 == 1 {
            segment.finalize(TxId(next - 1)).unwrap();
        }
        drop(writer);
        away.iter().for_each(|node| nodes.up(*node));
        let (writer, reached) = nodes.takeover();
        let found = marks(&writer, false);
        assert_eq!(found[..known.len()], known[..], "term {term}");
        (known, next) = (found, reached + 1);
    }
}
