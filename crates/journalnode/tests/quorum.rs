//! Three JournalNodes of ours on loopback, and writers that come and go.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use zerohop_conf::Conf;
use zerohop_journal::JournalError;
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::log::{Batch, EditCursor, Journal, OpenSegment};
use zerohop_journal::op::{self, EditOp, SetGenstampV2};
use zerohop_journalnode::JournalNode;
use zerohop_quorum::{NamespaceInfo, QuorumAddress, QuorumJournal, QuorumOptions};
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::{GenerationStamp, RpcIds, TxId};

/// Three JournalNodes.
struct Nodes {
    runtime: Runtime,
    directory: TempDir,
    nodes: Vec<Option<JournalNode>>,
    addresses: Vec<SocketAddr>,
}

impl Nodes {
    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let mut nodes = Self { runtime, directory, nodes: Vec::new(), addresses: Vec::new() };
        for number in 0..3 {
            nodes.nodes.push(None);
            nodes.addresses.push(SocketAddr::from(([127, 0, 0, 1], 0)));
            nodes.up(number);
        }
        nodes
    }

    fn up(&mut self, number: usize) {
        let mut conf = Conf::new();
        let directory = self.directory.path().join(number.to_string());
        conf.set("dfs.journalnode.edits.dir", directory.to_str().unwrap());
        conf.set("dfs.journalnode.rpc-address", self.addresses[number].to_string());
        conf.set("dfs.journalnode.http-address", "127.0.0.1:0");
        let node = self.runtime.block_on(JournalNode::start(Arc::new(conf))).unwrap();
        self.addresses[number] = node.rpc_addr();
        self.nodes[number] = Some(node);
    }

    fn down(&mut self, number: usize) {
        let node = self.nodes[number].take().unwrap();
        self.runtime.block_on(node.stop());
    }

    fn writer(&self) -> QuorumJournal {
        let nodes = self.addresses.iter().map(ToString::to_string).collect();
        let address = QuorumAddress { nodes, journal: "ns".to_owned() };
        let info = NamespaceInfo {
            namespace_id: 7,
            cluster_id: "CID-x".to_owned(),
            block_pool_id: "BP-1".to_owned(),
            c_time_ms: 5,
            layout: LayoutVersion::CURRENT.0,
        };
        let options = QuorumOptions { write: Duration::from_secs(60), ..QuorumOptions::default() };
        // One that is down is not waited for.
        let client = ClientOptions { connect_retries: 0, ..ClientOptions::default() };
        QuorumJournal::new(address, info, options, &client, self.runtime.handle()).unwrap()
    }

    /// A writer that has taken over, and the last transaction it found.
    fn takeover(&self) -> (QuorumJournal, i64) {
        let writer = self.writer();
        let recovery = writer.recover_unfinalized_segments();
        recovery.outcome.unwrap();
        (writer, recovery.reached.0)
    }
}

/// An edit that tells who wrote it.
fn record(txid: i64, mark: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let op = EditOp::SetGenstampV2(SetGenstampV2 { stamp: GenerationStamp(mark) });
    op::encode(&op, TxId(txid), &RpcIds::NONE, LayoutVersion::CURRENT, &mut bytes);
    bytes
}

fn append(segment: &mut dyn OpenSegment, first: i64, marks: &[i64]) -> Result<(), JournalError> {
    let records: Vec<u8> =
        (first..).zip(marks).flat_map(|(txid, mark)| record(txid, *mark)).collect();
    let batch = Batch { first: TxId(first), count: marks.len() as u32, records: &records };
    segment.append(&batch)?.wait()
}

/// The marks of all edits from transaction 1 on.
fn marks(journal: &QuorumJournal, in_progress: bool) -> Vec<i64> {
    let mut cursor = EditCursor::new(journal, TxId(1), in_progress);
    let mut marks = Vec::new();
    while let Some(record) = cursor.next().unwrap() {
        assert_eq!(record.txid.0, marks.len() as i64 + 1);
        match record.op {
            EditOp::SetGenstampV2(SetGenstampV2 { stamp }) => {
                marks.push(stamp.0);
            }
            other => panic!("{other:?}"),
        }
    }
    marks
}

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
