//! Transfers of segments that stall in mid-body.

use crate::nodes::{Nodes, append, info, marks, options};
use bytes::Bytes;
use prost::Message;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use zerohop_journal::log::Journal;
use zerohop_proto::hdfs::qjournal::*;
use zerohop_quorum::{Connection, QuorumJournal, RpcConnection};
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::TxId;

/// The call that has a JournalNode fetch a segment.
pub const FETCHING: &str = "acceptRecovery";

/// Far longer than a takeover takes, far shorter than a stalled transfer did.
const LIMIT: Duration = Duration::from_secs(60);

/// A web server that promises a segment and stalls in its middle. `asked` gets a message for each request.
struct Stalling {
    address: SocketAddr,
    asked: Receiver<()>,
}

impl Stalling {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, asked) = channel();
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
                _ = stream.write_all(&[head.as_bytes(), &[0xff; 20]].concat());
                held.push(stream);
                _ = tell.send(());
            }
        });
        Self { address, asked }
    }
}

/// Returns the address of a server whose segments never arrive whole.
pub fn stalling_address() -> SocketAddr {
    static SERVER: OnceLock<SocketAddr> = OnceLock::new();
    *SERVER.get_or_init(|| {
        let Stalling { address, asked } = Stalling::start();
        std::thread::spawn(move || while asked.recv().is_ok() {});
        address
    })
}

/// Returns the request with a source whose segment never arrives whole.
pub fn from_stalling(method: &str, request: &[u8]) -> Vec<u8> {
    if method != FETCHING {
        return request.to_vec();
    }
    let mut request = AcceptRecoveryRequestProto::decode(request).unwrap();
    request.from_url = format!("http://{}/", stalling_address());
    request.encode_to_vec()
}

/// A connection whose JournalNode is told to fetch from a server that stalls, if another one's segments are at `stalled`.
struct Redirected {
    rpc: RpcConnection,
    /// A call that does not arrive, nor does any after it.
    breaks_at: Option<&'static str>,
    is_broken: std::sync::atomic::AtomicBool,
    stalled: Option<SocketAddr>,
    /// Answers [`PREPARE`] after the others.
    is_slow: bool,
}

/// The call that tells what a JournalNode has of a segment.
const PREPARE: &str = "prepareRecovery";

impl Connection for Redirected {
    fn address(&self) -> &str {
        self.rpc.address()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        use std::sync::atomic::Ordering;
        if self.breaks_at == Some(method) {
            self.is_broken.store(true, Ordering::Release);
        }
        if self.is_broken.load(Ordering::Acquire) {
            return Err("it was not sent".to_owned());
        }
        if self.is_slow && method == PREPARE {
            std::thread::sleep(Duration::from_millis(500));
        }
        let stalls = self.stalled.is_some_and(|stalled| {
            method == FETCHING
                && AcceptRecoveryRequestProto::decode(request)
                    .is_ok_and(|call| call.from_url.contains(&stalled.to_string()))
        });
        match stalls {
            true => self.rpc.call(method, &from_stalling(method, request)),
            false => self.rpc.call(method, request),
        }
    }
}

fn writer(
    nodes: &Nodes,
    breaks_at: [Option<&'static str>; 3],
    stalled: Option<SocketAddr>,
) -> QuorumJournal {
    let connect = |(number, breaks_at): (usize, Option<&'static str>)| -> Arc<dyn Connection> {
        let address = nodes.addresses[number].to_string();
        let rpc = RpcConnection::new(&address, ClientOptions::default()).unwrap();
        Arc::new(Redirected {
            rpc,
            breaks_at,
            is_broken: false.into(),
            stalled,
            is_slow: number == 2,
        })
    };
    let connections = breaks_at.into_iter().enumerate().map(connect).collect();
    QuorumJournal::over(nodes.address("ns"), info(), options(), connections).unwrap()
}

/// The longest copy was on one JournalNode whose transfers stalled: the others waited for it for minutes, on the threads of their
/// journals, and no NameNode could become active.
#[test]
fn a_takeover_waited_for_a_segment_that_stalled() {
    let nodes = Nodes::start_with(&[("zerohop.journal.transfer.stall.timeout.ms", "300")]);
    nodes.writer().format().unwrap();
    let first = writer(&nodes, [None; 3], None);
    first.recover_unfinalized_segments().outcome.unwrap();
    let mut segment = first.start_segment(TxId(1)).unwrap();
    append(&mut *segment, 1, &[10, 11]).unwrap();
    assert!(first.has_data().unwrap(), "all have it");
    drop((segment, first));
    // The next writer's batch reaches the first JournalNode alone.
    let journal = Some("journal");
    let second = writer(&nodes, [None, journal, journal], None);
    assert_eq!(second.recover_unfinalized_segments().reached, TxId(2));
    let mut segment = second.start_segment(TxId(3)).unwrap();
    append(&mut *segment, 3, &[12]).unwrap_err();
    let _ = second.has_data();
    drop((segment, second));

    let stalled = nodes.nodes[0].as_ref().unwrap().http_addr();
    let third = writer(&nodes, [None; 3], Some(stalled));
    let begun = Instant::now();
    let recovery = third.recover_unfinalized_segments();
    recovery.outcome.unwrap();
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    // What a single JournalNode has was never acknowledged.
    assert_eq!((recovery.reached, marks(&third, false)), (TxId(2), vec![10, 11]));
    let mut segment = third.start_segment(TxId(3)).unwrap();
    append(&mut *segment, 3, &[13]).unwrap();
    segment.finalize(TxId(3)).unwrap();
    assert_eq!(marks(&nodes.writer(), false), [10, 11, 13]);
}

fn request_info(epoch: u64, serial: u64) -> RequestInfoProto {
    RequestInfoProto {
        journal_id: JournalIdProto { identifier: "ns".to_owned() },
        epoch,
        ipc_serial_number: serial,
        committed_tx_id: None,
        name_service_id: None,
    }
}

fn new_epoch(rpc: &RpcConnection, epoch: u64) {
    let request = NewEpochRequestProto {
        jid: JournalIdProto { identifier: "ns".to_owned() },
        ns_info: (&info()).into(),
        epoch,
        name_service_id: None,
    };
    rpc.call("newEpoch", &request.encode_to_vec()).unwrap();
}

/// The thread of the journal fetched the segment: nothing else was answered meanwhile, least of all the next writer.
#[test]
fn a_journal_was_deaf_while_it_fetched_a_segment() {
    let nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let connect = || {
        let address = nodes.addresses[0].to_string();
        RpcConnection::new(&address, ClientOptions::default()).unwrap()
    };
    let (slow, other) = (connect(), connect());
    new_epoch(&slow, 1);
    let server = Stalling::start();
    let accept = AcceptRecoveryRequestProto {
        req_info: request_info(1, 1),
        state_to_accept: SegmentStateProto { start_tx_id: 1, end_tx_id: 3, is_in_progress: true },
        from_url: format!("http://{}/", server.address),
    };
    std::thread::scope(|scope| {
        let fetching = scope.spawn(|| slow.call(FETCHING, &accept.encode_to_vec()));
        server.asked.recv_timeout(LIMIT).unwrap();
        new_epoch(&other, 2);
        assert!(!fetching.is_finished(), "the next writer waited for the download");
        let refused = fetching.join().unwrap().unwrap_err();
        assert!(refused.contains("it stopped after 20 bytes"), "{refused}");
    });
}
