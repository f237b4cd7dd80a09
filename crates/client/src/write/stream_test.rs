//! A writer that says nothing for a while, its pipeline played by the test.

use super::*;
use crate::fixture::replica;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use zerohop_conf::Conf;
use zerohop_proto::hdfs::HdfsFileStatusProto;
use zerohop_proto::hdfs::Status;
use zerohop_transport::login::User;
use zerohop_wire::transfer::packet::HEARTBEAT_SEQNO;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// A stream in the middle of a block, with a NameNode that is not there; and the first DataNode's end.
pub(in crate::write) fn stream() -> (Stream, TcpStream) {
    let mut conf = Conf::new();
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:1");
    conf.set("ipc.client.connect.max.retries", "0");
    let user = User::new("test");
    let client = Client::new(&conf, None, user, crate::runtime::background().unwrap()).unwrap();
    let status = FileStatus::from_proto(HdfsFileStatusProto::default(), "/f");
    let mut stream = Stream::new(&client, "/f", &status, DataChecksum::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.pipeline = Some(Pipeline::over(here));
    stream.stage = Stage::Streaming;
    stream.nodes = (1..=3).map(replica).collect();
    let block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 0 };
    stream.block = Some(ExtendedBlock { pool: "BP-1-127.0.0.1-1".into(), block });
    (stream, listener.accept().unwrap().0)
}

/// The mirror dies while the writer is idle: only the answer to a heartbeat says which node it was. The next write must
/// not blame the first one, whose connection is gone by then.
#[test]
fn what_a_heartbeat_hears_of_the_pipeline_is_not_forgotten() {
    for (status, is_restart) in [(Status::Error, false), (Status::OobRestart, true)] {
        let (mut stream, mut datanode) = stream();
        assert!(stream.is_quiet());
        stream.heartbeat();
        let mut heard = [0; 4];
        datanode.read_exact(&mut heard).unwrap();
        let below = PipelineAck::own(HEARTBEAT_SEQNO, status);
        let ack = PipelineAck::with_downstream(HEARTBEAT_SEQNO, Status::Success, &below, 0);
        datanode.write_all(&ack.encode()).unwrap();
        while stream.is_quiet() {
            stream.heartbeat();
        }
        drop(datanode);
        if is_restart {
            assert!(matches!(stream.fault, Some(Fault::Restarting { index: 1 })));
            continue;
        }
        let chunks = Chunks::whole(stream.checksum);
        let mut packet = stream.packet(chunks, 512, 0);
        packet.fill(&[7; 100]);
        // Nobody is there to give a new generation stamp.
        stream.send(packet).unwrap_err();
        let failed: Vec<&str> = stream.failed.iter().map(DatanodeInfo::uuid).collect();
        assert_eq!(failed, ["uuid-2"]);
    }
}

/// The first DataNode is gone without a word.
#[test]
fn a_heartbeat_that_cannot_be_sent_blames_the_first_one() {
    let (mut stream, datanode) = stream();
    drop(datanode);
    while stream.is_quiet() {
        stream.heartbeat();
    }
    assert!(matches!(stream.fault, Some(Fault::Node { index: 0, .. })));
}
