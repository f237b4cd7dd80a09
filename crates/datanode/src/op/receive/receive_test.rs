//! A pipeline's receiving end between a client and a DataNode downstream that are both the test's.

use super::*;
use crate::store::replica::Replica;
use crate::store::store_test::{ROOM, new_target};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use zerohop_wire::transfer::packet::{HEARTBEAT_SEQNO, PacketHeader};

const PATIENCE: Duration = Duration::from_millis(300);
/// Longer than any test takes; no test waits for it.
const LONG: Duration = Duration::from_secs(20);

#[derive(Default)]
struct RecordingSink(Arc<AtomicBool>);

impl Sink for RecordingSink {
    fn finalize(&mut self, _: &Writable, _: bool) -> io::Result<()> {
        self.0.store(true, Ordering::Release);
        Ok(())
    }
}

struct Pipeline {
    client: TcpStream,
    received: Vec<u8>,
    downstream: Option<TcpStream>,
    finalized: Arc<AtomicBool>,
    replica: Arc<Replica>,
    control: Arc<Writer>,
    receiver: JoinHandle<io::Result<()>>,
}

fn pair() -> (Conn, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    there.set_read_timeout(Some(LONG)).unwrap();
    there.set_write_timeout(Some(LONG)).unwrap();
    let mut conn = Conn::new(listener.accept().unwrap().0.into());
    conn.set_read_timeout(LONG).unwrap();
    conn.set_write_timeout(LONG).unwrap();
    (conn, there)
}

/// `patience`: how long the downstream DataNode may say nothing.
fn pipeline(has_downstream: bool, patience: Duration) -> Pipeline {
    let (mut conn, client) = pair();
    let (conn_downstream, downstream) = has_downstream.then(pair).unzip();
    let to_downstream =
        conn_downstream.map(|conn| Downstream::new(conn, "downstream:1".to_owned(), patience));
    let sink = RecordingSink::default();
    let finalized = Arc::clone(&sink.0);
    let control = Writer::new(Arc::clone(conn.stream()));
    let (store, target) = new_target(&control);
    let replica = Arc::clone(&target.replica);
    let writer = Arc::clone(&control);
    let receiver = std::thread::spawn(move || {
        let _kept = store;
        let mode = Mode { acks: true, verify: false, sync_on_close: false, timeout: LONG };
        let sums = target.live.checksum();
        Receiver::new(&mut conn, to_downstream, target, sums, writer, sink, mode).run()
    });
    Pipeline { client, received: Vec::new(), downstream, finalized, replica, control, receiver }
}

fn packet(seqno: i64, offset: i64, data_len: u32, last: bool) -> Vec<u8> {
    let header = PacketHeader { offset_in_block: offset, seqno, last, data_len, sync: false };
    let (prefix, len) = header.encode(0);
    let mut bytes = prefix.get(..len).unwrap().to_vec();
    bytes.resize(len + data_len as usize, 7);
    bytes
}

impl Pipeline {
    fn send(&mut self, seqno: i64, offset: i64, data_len: u32, last: bool) {
        self.client.write_all(&packet(seqno, offset, data_len, last)).unwrap();
    }

    /// The next ack that is not one of a heartbeat.
    fn ack(&mut self) -> (i64, Vec<Status>) {
        loop {
            while let Some((ack, len)) = PipelineAck::take(&self.received).unwrap() {
                self.received.drain(..len);
                if ack.seqno != HEARTBEAT_SEQNO {
                    return (ack.seqno, ack.statuses().collect());
                }
            }
            let mut bytes = [0; 4096];
            let len = self.client.read(&mut bytes).expect("an ack");
            assert!(len > 0, "no ack came");
            self.received.extend_from_slice(&bytes[..len]);
        }
    }

    /// Lets the downstream DataNode read all and answer nothing.
    fn read_downstream(&mut self) -> JoinHandle<()> {
        let mut downstream = self.downstream.take().unwrap();
        std::thread::spawn(
            move || while downstream.read(&mut [0; 65536]).is_ok_and(|len| len > 0) {},
        )
    }

    /// Whether the receiver gives the client up within this time.
    fn client_is_closed_within(&mut self, time: Duration) -> bool {
        self.client.set_read_timeout(Some(time)).unwrap();
        let closed = self.client.read(&mut [0]).is_ok();
        self.client.set_read_timeout(Some(LONG)).unwrap();
        closed
    }

    fn blames_the_downstream_node(mut self) {
        assert_eq!(self.ack(), (UNKNOWN_SEQNO, vec![Status::Success, Status::Error]));
        self.client.shutdown(std::net::Shutdown::Both).unwrap();
        assert!(self.receiver.join().unwrap().is_err());
    }
}

#[test]
fn packets_are_acknowledged_from_downstream_to_upstream() {
    let mut pipeline = pipeline(true, LONG);
    for seqno in 0..3 {
        pipeline.send(seqno, seqno * 1024, 1024, false);
    }
    pipeline.send(3, 3072, 0, true);
    for seqno in 0..4 {
        let data_len = if seqno < 3 { 1024 } else { 0 };
        let mut passed_on = packet(seqno, seqno * 1024, data_len, seqno == 3);
        let sent = passed_on.clone();
        pipeline.downstream.as_ref().unwrap().read_exact(&mut passed_on).unwrap();
        assert!(passed_on == sent);
        let ack = PipelineAck::own(seqno, Status::Success).encode();
        pipeline.downstream.as_ref().unwrap().write_all(&ack).unwrap();
        assert_eq!(pipeline.ack(), (seqno, vec![Status::Success; 2]));
    }
    pipeline.receiver.join().unwrap().unwrap();
    let status = pipeline.replica.lock();
    assert_eq!((status.block().len, status.reserved()), (3072, ROOM - 3072));
    assert_eq!(pipeline.replica.volume.promised(), status.reserved());
    drop(status);
    pipeline.replica.expect_no_more();
    assert_eq!(pipeline.replica.volume.promised(), 0);
    assert!(pipeline.finalized.load(Ordering::Acquire));
}

/// A thousand writers that had sent long packets, and were silent since, held 2 GiB.
#[test]
fn an_idle_writer_holds_no_buffers() {
    for has_downstream in [false, true] {
        let (mut conn, mut client) = pair();
        let (conn_downstream, downstream) = has_downstream.then(pair).unzip();
        let to_downstream =
            conn_downstream.map(|conn| Downstream::new(conn, "downstream:1".to_owned(), LONG));
        let control = Writer::new(Arc::clone(conn.stream()));
        let (_kept, target) = new_target(&control);
        let (live, sums) = (Arc::clone(&target.live), target.live.checksum());
        let timeout = IDLE_AFTER + 2 * PATIENCE;
        let mode = Mode { acks: true, verify: false, sync_on_close: false, timeout };
        let len = 1 << 20;
        let sends = std::thread::spawn(move || {
            let sent = packet(0, 0, len, false);
            client.write_all(&sent).unwrap();
            if let Some(mut downstream) = downstream {
                downstream.read_exact(&mut vec![0; sent.len()]).unwrap();
                let ack = PipelineAck::own(0, Status::Success).encode();
                downstream.write_all(&ack).unwrap();
                return (client, Some(downstream));
            }
            (client, None)
        });
        let sink = RecordingSink::default();
        let received =
            Receiver::new(&mut conn, to_downstream, target, sums, control, sink, mode).run();
        assert_eq!(received.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(live.received(), u64::from(len));
        assert!(conn.buffer_len() <= crate::transfer::conn::SMALL_BUFFER, "{has_downstream}");
        drop(sends.join());
    }
}

/// It goes on as if it had never been idle.
#[test]
fn a_writer_goes_on_after_it_was_idle() {
    let mut pipeline = pipeline(false, LONG);
    pipeline.send(0, 0, 1 << 20, false);
    assert_eq!(pipeline.ack(), (0, vec![Status::Success]));
    assert!(!pipeline.client_is_closed_within(IDLE_AFTER + PATIENCE));
    pipeline.send(1, 1 << 20, 1 << 20, false);
    pipeline.send(2, 2 << 20, 0, true);
    assert_eq!([pipeline.ack().0, pipeline.ack().0], [1, 2]);
    pipeline.receiver.join().unwrap().unwrap();
    assert_eq!(pipeline.replica.block().len, 2 << 20);
}

/// hdfs-native shuts its sending side down after the last packet; it was taken for gone, and the
/// files of a pipeline with a downstream DataNode stayed open.
#[test]
fn a_client_that_shut_its_sending_side_down_gets_the_last_acks() {
    let mut pipeline = pipeline(true, LONG);
    pipeline.send(0, 0, 1000, false);
    pipeline.send(1, 1000, 0, true);
    pipeline.client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut downstream = pipeline.downstream.take().unwrap();
    let sent = packet(0, 0, 1000, false).len() + packet(1, 1000, 0, true).len();
    downstream.read_exact(&mut vec![0; sent]).unwrap();
    // Time enough for the end of the stream to be seen.
    assert!(!pipeline.client_is_closed_within(PATIENCE));
    for seqno in 0..2 {
        downstream.write_all(&PipelineAck::own(seqno, Status::Success).encode()).unwrap();
        assert_eq!(pipeline.ack(), (seqno, vec![Status::Success; 2]));
    }
    pipeline.receiver.join().unwrap().unwrap();
    assert!(pipeline.finalized.load(Ordering::Acquire));
}

/// A client that only listens cannot be heard to leave while this node says nothing; the writer must
/// still end when the DataNode wants it to.
#[test]
fn a_writer_whose_client_only_listens_can_be_stopped() {
    let mut pipeline = pipeline(true, LONG);
    let downstream = pipeline.read_downstream();
    pipeline.send(0, 0, 1000, false);
    pipeline.send(1, 1000, 0, true);
    pipeline.client.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(!pipeline.client_is_closed_within(PATIENCE));
    pipeline.control.stop_receiving();
    let error = pipeline.receiver.join().unwrap().unwrap_err();
    assert!(error.to_string().contains("stopped"), "{error}");
    downstream.join().unwrap();
}

/// A DataNode downstream that froze was waited for as long as the client sent heartbeats, and the client took
/// the healthy node upstream of it for the bad one.
#[test]
fn a_frozen_downstream_node_is_blamed_though_the_client_speaks() {
    let mut pipeline = pipeline(true, PATIENCE);
    pipeline.read_downstream();
    pipeline.send(0, 0, 1000, false);
    let mut client = pipeline.client.try_clone().unwrap();
    let heartbeats = std::thread::spawn(move || {
        let heartbeat = packet(HEARTBEAT_SEQNO, 0, 0, false);
        while client.write_all(&heartbeat).is_ok() {
            std::thread::sleep(PATIENCE / 10);
        }
    });
    pipeline.blames_the_downstream_node();
    heartbeats.join().unwrap();
}

#[test]
fn a_downstream_node_that_freezes_at_the_end_is_blamed() {
    let mut pipeline = pipeline(true, PATIENCE);
    pipeline.read_downstream();
    pipeline.send(0, 0, 1000, false);
    pipeline.send(1, 1000, 0, true);
    pipeline.blames_the_downstream_node();
}

/// The client sends more than the buffers between the nodes take.
#[test]
fn a_downstream_node_that_takes_no_more_bytes_is_blamed() {
    let pipeline = pipeline(true, PATIENCE);
    let mut client = pipeline.client.try_clone().unwrap();
    let sends = std::thread::spawn(move || {
        for seqno in 0..4096 {
            if client.write_all(&packet(seqno, seqno * 65536, 65536, false)).is_err() {
                return;
            }
        }
    });
    pipeline.blames_the_downstream_node();
    sends.join().unwrap();
}

/// An end that lies beyond what came kept a thread busy for ever.
#[test]
fn an_end_beyond_what_came_is_refused() {
    for has_downstream in [false, true] {
        let mut pipeline = pipeline(has_downstream, LONG);
        pipeline.send(0, 0, 1000, false);
        pipeline.send(1, 1001, 0, true);
        let refusal = loop {
            match pipeline.ack() {
                (0, _) => {}
                other => break other,
            }
        };
        assert_eq!(refusal, (1, vec![Status::Error]));
        let error = pipeline.receiver.join().unwrap().unwrap_err().to_string();
        assert!(
            error.contains("out-of-sequence") && error.ends_with("starting at 1000"),
            "{error}"
        );
        assert!(!pipeline.finalized.load(Ordering::Acquire));
    }
}
