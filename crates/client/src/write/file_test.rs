//! Writers whose work ends in the middle, that have no room, and that are idle; NameNode and DataNodes are played by the tests.

use super::*;
use crate::fixture::{Cluster, located, replica};
use crate::write::advance::tests::accept;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::Reply;
use zerohop_wire::GenerationStamp;
use zerohop_wire::transfer::ack::PipelineAck;

/// The methods of the calls that the NameNode received.
type Calls = Arc<Mutex<Vec<String>>>;

fn count(calls: &Calls, method: &str) -> usize {
    calls.lock().iter().filter(|call| *call == method).count()
}

/// Starts a NameNode. `answer` comes first; files have two replicas.
fn cluster(answer: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static) -> (Cluster, Calls) {
    let calls = Calls::default();
    let counted = Arc::clone(&calls);
    let cluster = Cluster::answering(move |method, _| {
        counted.lock().push(method.to_owned());
        if let Some(reply) = answer(method) {
            return reply;
        }
        match method {
            "create" => {
                let status = HdfsFileStatusProto {
                    blocksize: Some(128 << 20),
                    block_replication: Some(2),
                    file_id: Some(7),
                    ..Default::default()
                };
                Reply::message(&CreateResponseProto { fs: Some(status) })
            }
            "fsync" => Reply::message(&FsyncResponseProto::default()),
            "updatePipeline" => Reply::message(&UpdatePipelineResponseProto::default()),
            "complete" => Reply::message(&CompleteResponseProto { result: true }),
            "renewLease" => Reply::message(&RenewLeaseResponseProto::default()),
            other => panic!("{other}"),
        }
    });
    (cluster, calls)
}

fn create(cluster: &Cluster) -> Arc<Writer> {
    let client = &cluster.client;
    client.wait(Writer::create(client, "/f".to_owned(), &CreateOptions::default())).unwrap()
}

/// Bytes that cannot be had.
struct Unreadable;

impl AsRef<[u8]> for Unreadable {
    fn as_ref(&self) -> &[u8] {
        panic!("a test's panic")
    }
}

/// After a panic `close` used to complete the file, with bytes missing.
#[test]
fn a_panic_in_the_middle_of_a_write_is_a_lasting_failure() {
    let panics: [&dyn Fn(&Writer); 2] =
        [&|writer| drop(writer.run(Work::write(Unreadable))), &|writer| {
            drop(writer.write_with(|_| panic!("a test's panic")))
        }];
    for panics in panics {
        let (cluster, calls) = cluster(|_| None);
        let writer = create(&cluster);
        catch_unwind(AssertUnwindSafe(|| panics(&writer))).unwrap_err();
        let error = writer.try_write(b"x").unwrap_err().to_string();
        assert!(error.contains("/f: an earlier call was not finished"), "{error}");
        assert_eq!(writer.run(Work::write(b"more")).unwrap_err().to_string(), error);
        assert_eq!(writer.close().unwrap_err().to_string(), error);
        assert_eq!(count(&calls, "complete"), 0);
    }
}

/// The runtime of a task is shut down while a call waits for the NameNode: the rest of its bytes is lost.
#[test]
fn work_that_is_dropped_in_the_middle_is_a_lasting_failure() {
    let (cluster, calls) =
        cluster(|method| (method == "addBlock").then(|| Reply::later(std::future::pending())));
    let writer = create(&cluster);
    let task = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let work = task.spawn(Arc::clone(&writer).run_on_task(Work::write(vec![7; 1 << 20].into())));
    task.block_on(async {
        while count(&calls, "addBlock") == 0 {
            tokio::task::yield_now().await;
        }
    });
    drop(task);
    drop(work);
    let error = writer.run(Work::<&[u8]>::hflush()).unwrap_err().to_string();
    assert!(error.contains("an earlier call was not finished"), "{error}");
    assert_eq!(writer.close().unwrap_err().to_string(), error);
    assert_eq!(count(&calls, "complete"), 0);
}

/// The file used to stay open for as long as the client lived.
#[test]
fn a_file_is_completed_without_what_its_quota_has_no_room_for() {
    for (refusal, completes) in [
        (JavaException::DSQuotaExceeded, 1),
        (JavaException::QuotaByStorageTypeExceeded, 1),
        (JavaException::Io, 0),
    ] {
        let (cluster, calls) = cluster(move |method| {
            (method == "addBlock").then(|| Reply::exception(refusal.with("no room")))
        });
        let writer = create(&cluster);
        writer.run(Work::write(b"too much")).unwrap();
        let error = writer.close().unwrap_err();
        assert_eq!(error.remote_kind(), Some(refusal), "{error}");
        assert_eq!(count(&calls, "complete"), completes);
        assert!(!writer.is_open());
    }
}

/// A DataNode's port.
fn datanode() -> (TcpListener, u32) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().into();
    (listener, port)
}

/// The first of two DataNodes acknowledges a packet.
fn acknowledge(conn: &mut TcpStream, seqno: i64) {
    assert!(conn.read(&mut [0; 1024]).unwrap() > 0);
    let below = PipelineAck::own(seqno, Status::Success);
    let ack = PipelineAck::with_downstream(seqno, Status::Success, &below, 0);
    conn.write_all(&ack.encode()).unwrap();
}

/// The repair used to wait for the next call, by which time the other DataNodes may be gone, too.
#[test]
fn the_pipeline_of_an_idle_writer_is_repaired_without_a_call() {
    let (first, first_port) = datanode();
    let (second, second_port) = datanode();
    let (cluster, calls) = cluster(move |method| {
        let mut block = located(1, 0, 0);
        Some(match method {
            "addBlock" => {
                block.replicas = vec![replica(first_port), replica(second_port)];
                Reply::message(&AddBlockResponseProto { block: block.to_proto() })
            }
            "updateBlockForPipeline" => {
                block.block.block.stamp = GenerationStamp(1002);
                let block = block.to_proto();
                Reply::message(&UpdateBlockForPipelineResponseProto { block })
            }
            _ => return None,
        })
    });
    let writer = create(&cluster);
    let flushing = Arc::clone(&writer);
    let flush = std::thread::spawn(move || {
        flushing.run(Work::write(b"some"))?;
        flushing.run(Work::<&[u8]>::hflush())
    });
    let mut conn = accept(&first, Status::Success);
    acknowledge(&mut conn, 0);
    flush.join().unwrap().unwrap();
    // From here on the program makes no call.
    drop((conn, first));
    let (repaired, repairs) = std::sync::mpsc::channel();
    std::thread::spawn(move || repaired.send(accept(&second, Status::Success)));
    let _standing = repairs.recv_timeout(Duration::from_secs(60)).expect("a repair");
    while count(&calls, "updatePipeline") == 0 {
        std::thread::yield_now();
    }
    while writer.turns.try_take().map(Turn::end).is_none() {
        std::thread::yield_now();
    }
    let state = writer.state.lock();
    let stream = &state.packets.stream;
    assert_eq!(
        stream.nodes.iter().map(|r| r.node.uuid()).collect::<Vec<_>>(),
        [replica(second_port).node.uuid()]
    );
    assert_eq!(stream.block.as_ref().map(|b| (b.block.stamp.0, b.block.len)), Some((1002, 4)));
    assert!(state.failure.is_none() && stream.pipeline.is_some());
}
