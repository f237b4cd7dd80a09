//! JournalNodes on loopback, and edits that tell who wrote them.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
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
use zerohop_system::ports;
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::{GenerationStamp, RpcIds, TxId};

/// JournalNodes of one journal.
pub struct Nodes {
    directory: TempDir,
    pub nodes: Vec<Option<JournalNode>>,
    pub addresses: Vec<SocketAddr>,
    settings: Vec<(&'static str, &'static str)>,
}

impl Nodes {
    /// Starts three JournalNodes.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Like [`start`](Self::start), with settings of each.
    pub fn start_with(settings: &[(&'static str, &'static str)]) -> Self {
        Self::start_many(3, settings)
    }

    /// Like [`start_with`](Self::start_with), with `count` JournalNodes.
    pub fn start_many(count: usize, settings: &[(&'static str, &'static str)]) -> Self {
        // In memory where that can be: what is tested here is not the disk.
        let memory = std::path::Path::new("/dev/shm");
        let directory = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap();
        let (nodes, addresses, settings) = (Vec::new(), Vec::new(), settings.to_vec());
        let mut nodes = Self { directory, nodes, addresses, settings };
        for number in 0..count {
            nodes.nodes.push(None);
            // The same after `down` and `up`.
            nodes.addresses.push(SocketAddr::from(([127, 0, 0, 1], ports::free().unwrap())));
            nodes.up(number);
        }
        nodes
    }

    pub fn up(&mut self, number: usize) {
        let mut conf = Conf::new();
        let directory = self.directory.path().join(number.to_string());
        conf.set("dfs.journalnode.edits.dir", directory.to_str().unwrap());
        conf.set("dfs.journalnode.rpc-address", self.addresses[number].to_string());
        conf.set("dfs.journalnode.http-address", "127.0.0.1:0");
        conf.set("dfs.ha.tail-edits.in-progress", "true");
        // The NameNode that may call.
        conf.set("dfs.namenode.rpc-address", "127.0.0.1:8020");
        self.settings.iter().for_each(|(key, value)| conf.set(key, *value));
        let node = runtime().block_on(JournalNode::start(Arc::new(conf))).unwrap();
        self.nodes[number] = Some(node);
    }

    pub fn down(&mut self, number: usize) {
        let node = self.nodes[number].take().unwrap();
        runtime().block_on(node.stop());
    }

    /// Where a journal is.
    pub fn address(&self, journal: &str) -> QuorumAddress {
        let nodes = self.addresses.iter().map(ToString::to_string).collect();
        QuorumAddress { nodes, journal: journal.to_owned() }
    }

    pub fn writer(&self) -> QuorumJournal {
        let (address, info, options) = (self.address("ns"), info(), options());
        // One that is down is not waited for.
        let client = ClientOptions { connect_retries: 0, ..ClientOptions::default() };
        QuorumJournal::new(address, info, options, &client).unwrap()
    }

    /// A writer that has taken over, and the last transaction it found.
    pub fn takeover(&self) -> (QuorumJournal, i64) {
        let writer = self.writer();
        let recovery = writer.recover_unfinalized_segments();
        recovery.outcome.unwrap();
        (writer, recovery.reached.0)
    }
}

/// The runtime of all JournalNodes.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

/// The name space that writes.
pub fn info() -> NamespaceInfo {
    NamespaceInfo {
        namespace_id: 7,
        cluster_id: "CID-x".to_owned(),
        block_pool_id: "BP-1".to_owned(),
        c_time_ms: 5,
        layout: LayoutVersion::CURRENT.0,
    }
}

/// Patient ones.
pub fn options() -> QuorumOptions {
    QuorumOptions { write: Duration::from_secs(60), ..QuorumOptions::default() }
}

/// An edit that tells who wrote it.
pub fn record(txid: i64, mark: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let op = EditOp::SetGenstampV2(SetGenstampV2 { stamp: GenerationStamp(mark) });
    op::encode(&op, TxId(txid), &RpcIds::NONE, LayoutVersion::CURRENT, &mut bytes);
    bytes
}

pub fn append(
    segment: &mut dyn OpenSegment,
    first: i64,
    marks: &[i64],
) -> Result<(), JournalError> {
    let records: Vec<u8> =
        (first..).zip(marks).flat_map(|(txid, mark)| record(txid, *mark)).collect();
    let batch = Batch { first: TxId(first), count: marks.len() as u32, records: &records };
    segment.append(&batch)?.wait()
}

/// The marks of all edits from transaction 1 on.
pub fn marks(journal: &QuorumJournal, in_progress: bool) -> Vec<i64> {
    read_marks(journal, in_progress).unwrap()
}

/// The same where a journal may be unreadable.
pub fn read_marks(journal: &QuorumJournal, in_progress: bool) -> Result<Vec<i64>, JournalError> {
    let mut cursor = EditCursor::new(journal, TxId(1), in_progress);
    let mut marks = Vec::new();
    while let Some(record) = cursor.next()? {
        assert_eq!(record.txid.0, marks.len() as i64 + 1);
        match record.op {
            EditOp::SetGenstampV2(SetGenstampV2 { stamp }) => {
                marks.push(stamp.0);
            }
            other => panic!("{other:?}"),
        }
    }
    Ok(marks)
}
