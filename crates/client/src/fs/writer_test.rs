//! Writes on tasks, with a NameNode and a DataNode that the test plays: given up, with tokio's trait,
//! ended by close and by nothing.

use super::*;
use crate::fixture::{Cluster, located, replica};
use crate::fs::FileSystem;
use bytes::BytesMut;
use parking_lot::Condvar;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use tokio::io::AsyncWriteExt;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::Reply;
use zerohop_wire::transfer::ack::PipelineAck;
use zerohop_wire::transfer::packet::{LENGTHS_LEN, PACKET_LEN_MAX, PacketHeader, PacketLengths};
use zerohop_wire::transfer::{frame, op};

/// The requests that the cluster got.
#[derive(Default)]
struct Told {
    data: Vec<u8>,
    calls: Vec<String>,
    /// No packet is acknowledged.
    holds_acks: bool,
}

#[derive(Default)]
struct World {
    told: Mutex<Told>,
    changed: Condvar,
}

impl World {
    fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.told.lock());
        self.changed.notify_all();
    }

    fn calls(&self, method: &str) -> usize {
        self.told.lock().calls.iter().filter(|call| *call == method).count()
    }

    /// Receives blocks, one connection after another.
    fn serve(&self, listener: &TcpListener) {
        for stream in listener.incoming().map_while(io::Result::ok) {
            // Ends with the connection.
            _ = self.receive(stream);
        }
    }

    fn receive(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut input = BytesMut::new();
        while op::take(&input).unwrap().is_none() {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            input.extend_from_slice(&byte);
        }
        let ready = BlockOpResponseProto { status: Status::Success.into(), ..Default::default() };
        stream.write_all(&frame::encode(&ready))?;
        loop {
            let mut lengths = [0; LENGTHS_LEN];
            stream.read_exact(&mut lengths)?;
            let lengths = PacketLengths::decode(lengths, PACKET_LEN_MAX).unwrap();
            let mut rest = vec![0; lengths.rest_len()];
            stream.read_exact(&mut rest)?;
            let header = PacketHeader::decode(&rest[..lengths.header_len]).unwrap();
            let data = &rest[rest.len() - header.data_len as usize..];
            let mut told = self.told.lock();
            // A chunk that a flush sent before it was full comes again.
            told.data.truncate(header.offset_in_block as usize);
            told.data.extend_from_slice(data);
            self.changed.notify_all();
            self.changed.wait_while(&mut told, |told| told.holds_acks);
            drop(told);
            stream.write_all(&PipelineAck::own(header.seqno, Status::Success).encode())?;
        }
    }

    fn answer(&self, method: &str, port: u16) -> Reply {
        self.tell(|told| told.calls.push(method.to_owned()));
        let status = HdfsFileStatusProto {
            blocksize: Some(128 << 20),
            block_replication: Some(1),
            file_id: Some(7),
            ..Default::default()
        };
        match method {
            "create" => Reply::message(&CreateResponseProto { fs: Some(status) }),
            "addBlock" => {
                let mut block = located(1, 0, 0);
                block.replicas = vec![replica(u32::from(port))];
                Reply::message(&AddBlockResponseProto { block: block.to_proto() })
            }
            "fsync" => Reply::message(&FsyncResponseProto::default()),
            "complete" => Reply::message(&CompleteResponseProto { result: true }),
            "renewLease" => Reply::message(&RenewLeaseResponseProto::default()),
            other => panic!("{other}"),
        }
    }
}

/// A cluster, and the requests that it got.
fn start() -> (Cluster, Arc<World>) {
    let world = Arc::new(World::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answering = Arc::clone(&world);
    let cluster = Cluster::answering(move |method, _| answering.answer(method, port));
    let serving = Arc::clone(&world);
    std::thread::spawn(move || serving.serve(&listener));
    (cluster, world)
}

async fn create(cluster: &Cluster) -> FileWriter {
    let fs = FileSystem { client: Arc::clone(&cluster.client) };
    fs.create("/f", CreateOptions::default()).await.unwrap()
}

/// Polls until `is_true`.
async fn until(is_true: impl Fn() -> bool) {
    while !is_true() {
        tokio::task::yield_now().await;
    }
}

fn numbers(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

#[tokio::test]
async fn tokio_s_writes_arrive_in_their_order_and_shutdown_completes_the_file() {
    let (cluster, world) = start();
    let (mut writer, data) = (create(&cluster).await, numbers(3_000_000));
    // Some wait for nothing, some are sent.
    for piece in data.chunks(77_777) {
        writer.write_all(piece).await.unwrap();
    }
    writer.flush().await.unwrap();
    assert_eq!(writer.pos(), data.len() as u64);
    assert_eq!(world.calls("complete"), 0);
    writer.shutdown().await.unwrap();
    assert_eq!(world.calls("complete"), 1);
    assert!(world.told.lock().data == data);
    // A second one does nothing; what is written after it is refused.
    writer.close().await.unwrap();
    assert_eq!(world.calls("complete"), 1);
    let error = async {
        writer.write_all(b"more").await?;
        AsyncWriteExt::flush(&mut writer).await
    };
    assert_eq!(error.await.unwrap_err().to_string(), "stream is closed");
}

/// `flush` of tokio's trait is no `hflush`: `tokio::io::copy` calls it whenever its input pauses.
#[tokio::test]
async fn hflush_shows_bytes_and_flush_does_not() {
    let (cluster, world) = start();
    let mut writer = create(&cluster).await;
    writer.write_all(&numbers(1000)).await.unwrap();
    AsyncWriteExt::flush(&mut writer).await.unwrap();
    assert!(world.told.lock().data.is_empty());
    writer.hflush().await.unwrap();
    assert!(world.told.lock().data == numbers(1000));
    AsyncWriteExt::write_all(&mut writer, b"and").await.unwrap();
    writer.hsync().await.unwrap();
    assert_eq!(world.told.lock().data[1000..], *b"and");
}

/// Each byte that was taken is written once, though the call was given up; and the next call waits for
/// it.
#[tokio::test]
async fn a_write_that_is_given_up_is_written_once() {
    let (cluster, world) = start();
    let (mut writer, data) = (create(&cluster).await, numbers(100));
    world.tell(|told| told.holds_acks = true);
    writer.write_bytes(data.clone().into()).await.unwrap();
    let given_up = async {
        writer.hflush().await.unwrap();
        unreachable!("nothing is acknowledged");
    };
    tokio::select! {
        () = given_up => {}
        () = until(|| !world.told.lock().data.is_empty()) => {}
    }
    {
        let mut waiting = std::pin::pin!(writer.write_bytes(b"next".as_slice().into()));
        assert!(futures_util::poll!(waiting.as_mut()).is_pending(), "the flush continues");
        world.tell(|told| told.holds_acks = false);
        waiting.await.unwrap();
    }
    assert_eq!(writer.pos(), 104);
    writer.close().await.unwrap();
    assert!(world.told.lock().data == [data, b"next".to_vec()].concat());
}

#[tokio::test]
async fn a_close_that_is_given_up_completes_the_file() {
    let (cluster, world) = start();
    let mut writer = create(&cluster).await;
    writer.write(&numbers(100)).await.unwrap();
    world.tell(|told| told.holds_acks = true);
    tokio::select! {
        closed = writer.close() => panic!("{closed:?}"),
        () = until(|| !world.told.lock().data.is_empty()) => {}
    }
    world.tell(|told| told.holds_acks = false);
    until(|| world.calls("complete") == 1).await;
    writer.close().await.unwrap();
    assert_eq!(world.calls("complete"), 1);
}

/// The file stays open until its lease runs out: what was written may be half of it.
#[tokio::test]
async fn a_writer_that_is_dropped_does_not_complete_its_file() {
    let (cluster, world) = start();
    let mut writer = create(&cluster).await;
    writer.write_all(&numbers(100)).await.unwrap();
    writer.hflush().await.unwrap();
    let inner = Arc::downgrade(&writer.inner);
    drop(writer);
    until(|| inner.strong_count() == 0).await;
    assert_eq!(world.calls("complete"), 0);
    assert!(world.told.lock().data == numbers(100));
}

/// Writes that only fill a packet never wait: other tasks of the thread would not run.
#[tokio::test]
async fn a_task_that_writes_little_lets_others_run() {
    let (cluster, _world) = start();
    let mut writer = create(&cluster).await;
    writer.write(b"the first goes to a thread").await.unwrap();
    let other = tokio::spawn(async {});
    for _ in 0..10_000 {
        writer.write(b"x").await.unwrap();
    }
    assert!(other.is_finished());
}

/// A writer's thread waited for the NameNode: as many writers as there are threads stopped all others.
#[tokio::test]
async fn a_task_that_waits_for_the_namenode_holds_no_thread() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).max_blocking_threads(1).enable_all().build().unwrap();
    let world = Arc::new(World::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (answer, answers) = tokio::sync::watch::channel(false);
    let answering = Arc::clone(&world);
    let cluster = Cluster::answering(move |method, _| {
        let reply = answering.answer(method, port);
        let mut answers = answers.clone();
        match reply {
            Reply::Now(reply) if method == "addBlock" => Reply::later(async move {
                answers.wait_for(|answers| *answers).await.unwrap();
                reply
            }),
            other => other,
        }
    });
    let serving = Arc::clone(&world);
    std::thread::spawn(move || serving.serve(&listener));
    let mut conf = zerohop_conf::Conf::new();
    conf.set("fs.defaultFS", cluster.client.target.uri.clone());
    let user = zerohop_transport::login::User::new("test");
    let client = Client::new(&conf, None, user, runtime.handle().clone()).unwrap();
    let mut writer = FileSystem { client }.create("/f", CreateOptions::default()).await.unwrap();
    writer.write(&numbers(100)).await.unwrap();
    {
        let mut flush = std::pin::pin!(writer.hflush());
        assert!(futures_util::poll!(flush.as_mut()).is_pending());
        until(|| world.calls("addBlock") == 1).await;
        runtime.handle().spawn_blocking(|| ()).await.unwrap();
        answer.send(true).unwrap();
        flush.await.unwrap();
    }
    assert!(world.told.lock().data == numbers(100));
    writer.close().await.unwrap();
    runtime.shutdown_background();
}
