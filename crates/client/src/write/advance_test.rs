//! Writers that say nothing for a while, and pipelines that are set up again; NameNode and DataNodes are played by
//! the tests.

use super::*;
use crate::client::Client;
use crate::error::Error;
use crate::fixture::replica;
use crate::types::{DatanodeInfo, FileStatus, LocatedBlock};
use crate::write::call::WrittenFile;
use crate::write::packet::Chunks;
use crate::write::pipeline::Pipeline;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_proto::hdfs::{
    BlockOpResponseProto, DatanodeIdProto, DatanodeInfoProto, HdfsFileStatusProto, Status,
};
use zerohop_transport::login::User;
use zerohop_transport::rpc::RpcError;
use zerohop_wire::checksum_type::DataChecksum;
use zerohop_wire::transfer::ack::PipelineAck;
use zerohop_wire::transfer::packet::HEARTBEAT_SEQNO;
use zerohop_wire::transfer::pipeline_fault::PipelineFault;
use zerohop_wire::transfer::{frame, op};
use zerohop_wire::{Block, BlockId, ExtendedBlock, GenerationStamp, JavaException};

/// A stream in the middle of a block, with a NameNode that is not there; and the first DataNode's end.
pub(in crate::write) fn stream() -> (Stream, TcpStream) {
    let mut conf = Conf::new();
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:1");
    conf.set("ipc.client.connect.max.retries", "0");
    let user = User::new("test");
    let client = Client::new(&conf, None, user, crate::runtime::background().unwrap()).unwrap();
    let status = FileStatus::from_proto(HdfsFileStatusProto::default(), "/f");
    let file = WrittenFile {
        client,
        src: "/f".to_owned(),
        file_id: 7,
        favored: Vec::new(),
        block_flags: Vec::new(),
        span: tracing::Span::none(),
    };
    let mut stream = Stream::new(Arc::new(file), &status, DataChecksum::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.pipeline = Some(Pipeline::over(here.into()));
    stream.stage = Stage::Streaming;
    stream.nodes = (1..=3).map(replica).collect();
    let block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 0 };
    stream.block = Some(ExtendedBlock { pool: "BP-1-127.0.0.1-1".into(), block });
    (stream, listener.accept().unwrap().0)
}

/// The uuids of the DataNodes in `Stream::failed`.
fn failed(stream: &Stream) -> Vec<&str> {
    stream.failed.iter().map(|failed| failed.node.uuid()).collect()
}

/// The downstream DataNode dies while the writer is idle: only the answer to a heartbeat names it. The next write must
/// not blame the first DataNode, whose connection has ended by then.
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
            assert_eq!(stream.fault, Some(PipelineFault::Restarting { index: 1 }));
            continue;
        }
        let chunks = Chunks::whole(stream.checksum);
        let mut packet = stream.buffers.packet(chunks, 512, 0);
        packet.fill(&[7; 100]);
        stream.queue(packet);
        let need = stream.advance(Until::Sent).unwrap();
        assert!(matches!(need, Some(Need::Stamp(_))), "{need:?}");
        assert_eq!(failed(&stream), ["uuid-2"]);
    }
}

/// The first DataNode closes the connection without an answer.
#[test]
fn a_heartbeat_that_cannot_be_sent_blames_the_first_one() {
    let (mut stream, datanode) = stream();
    drop(datanode);
    while stream.is_quiet() {
        stream.heartbeat();
    }
    assert!(matches!(stream.fault, Some(PipelineFault::Failed { index: 0, .. })));
}

/// A port of this machine at which no process listens.
fn closed_port() -> u32 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().into()
}

/// A DataNode that accepts one pipeline with this status.
fn accepting(status: Status) -> u32 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().into();
    // Until the client leaves.
    std::thread::spawn(move || accept(&listener, status).read(&mut [0; 4096]));
    port
}

/// Answers the request for one pipeline.
pub(in crate::write) fn accept(listener: &TcpListener, status: Status) -> TcpStream {
    let (mut conn, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    while op::take(&request).unwrap().is_none() {
        let mut bytes = [0; 1024];
        let len = conn.read(&mut bytes).unwrap();
        request.extend_from_slice(&bytes[..len]);
    }
    let answer = BlockOpResponseProto { status: status.into(), ..Default::default() };
    conn.write_all(&frame::encode(&answer)).unwrap();
    conn
}

fn block(id: i64, ports: &[u32]) -> LocatedBlock {
    let mut located = crate::fixture::located(id, 0, 0);
    located.replicas = ports.iter().map(|port| replica(*port)).collect();
    located
}

fn queue_packet(stream: &mut Stream) {
    let mut packet = stream.buffers.packet(Chunks::whole(stream.checksum), 512, 0);
    packet.fill(&[7; 100]);
    stream.queue(packet);
}

/// The next need, after the last one was met with `answer`.
fn next_need(stream: &mut Stream, answer: Option<LocatedBlock>) -> Option<Need> {
    stream.answered(Ok(answer));
    stream.advance(Until::Sent).unwrap()
}

#[test]
fn a_block_that_cannot_be_connected_is_abandoned_before_another_one_is_asked_for() {
    let (mut stream, _) = stream();
    stream.end_block();
    let before = stream.block.clone();
    queue_packet(&mut stream);
    let first = stream.advance(Until::Sent).unwrap();
    let Some(Need::Block { previous, excluded }) = first else { panic!("{first:?}") };
    assert!(previous == before && excluded.is_empty());
    let bad = closed_port();
    let second = next_need(&mut stream, Some(block(5, &[bad])));
    assert!(matches!(&second, Some(Need::Abandon(block)) if block.block.id == BlockId(5)));
    let third = next_need(&mut stream, None);
    let Some(Need::Block { previous, excluded }) = third else { panic!("{third:?}") };
    assert!(previous == before && excluded == [replica(bad).node]);
    let good = accepting(Status::Success);
    assert!(next_need(&mut stream, Some(block(6, &[good]))).is_none());
    assert_eq!((stream.stage, stream.nodes.len()), (Stage::Streaming, 1));
}

/// The NameNode only counts the DataNodes that a client excluded: "as with a full disk" was guessed of stopped ones.
#[test]
fn a_refusal_for_lack_of_datanodes_says_what_is_wrong_with_those_that_were_excluded() {
    let (mut stream, _) = stream();
    stream.end_block();
    queue_packet(&mut stream);
    assert!(matches!(stream.advance(Until::Sent).unwrap(), Some(Need::Block { .. })));
    let bad = closed_port();
    assert!(matches!(next_need(&mut stream, Some(block(5, &[bad]))), Some(Need::Abandon(_))));
    assert!(matches!(next_need(&mut stream, None), Some(Need::Block { .. })));
    let refusal = JavaException::Io.with("File /f could only be written to 0 of the 1");
    stream.answered(Err(Error::from(RpcError::Remote(refusal))));
    let error = stream.advance(Until::Sent).unwrap_err();
    assert_eq!(error.java_class(), Some("java.io.IOException"));
    let text = error.to_string();
    let (first, second) = text.split_once('\n').unwrap();
    assert_eq!(first, "File /f could only be written to 0 of the 1");
    let address = replica(bad).node.transfer_addr(false);
    assert!(second.contains(&format!("{address}: ")) && second.contains("refused"), "{second}");
}

#[test]
fn a_writer_gives_up_after_its_tries_and_has_abandoned_every_block() {
    let (mut stream, _) = stream();
    stream.end_block();
    queue_packet(&mut stream);
    let tries = stream.file.client.settings.block_write_retries as i64 + 1;
    for id in 0..tries {
        let need = next_need(&mut stream, None);
        assert!(matches!(need, Some(Need::Block { .. })), "{need:?}");
        let abandoned = next_need(&mut stream, Some(block(id, &[closed_port()])));
        assert!(matches!(abandoned, Some(Need::Abandon(_))), "{abandoned:?}");
    }
    stream.answered(Ok(None));
    let error = stream.advance(Until::Sent).unwrap_err();
    let text = error.to_string();
    assert_eq!(text.lines().next(), Some("Unable to create new block."));
    assert_eq!(text.matches("refused").count() as i64, tries, "{text}");
}

/// A pipeline of one that restarts is waited for, refuses, and is there at last; the packet goes down it.
#[test]
fn a_restart_is_waited_for_and_the_pipeline_gets_a_new_generation_stamp() {
    let (mut stream, _datanode) = stream();
    stream.nodes.truncate(1);
    queue_packet(&mut stream);
    stream.fault = Some(PipelineFault::Restarting { index: 0 });
    let old = stream.block.clone().unwrap();
    let waits = stream.advance(Until::Sent).unwrap();
    assert!(matches!(waits, Some(Need::Wait(_))), "{waits:?}");
    let stamp = next_need(&mut stream, None);
    assert!(matches!(&stamp, Some(Need::Stamp(block)) if *block == old), "{stamp:?}");
    // It is still away.
    stream.nodes = vec![replica(closed_port())];
    let waits = next_need(&mut stream, Some(block(1, &[])));
    assert!(matches!(waits, Some(Need::Wait(_))), "{waits:?}");
    assert!(matches!(next_need(&mut stream, None), Some(Need::Stamp(_))));
    stream.nodes = vec![replica(accepting(Status::Success))];
    let mut located = block(1, &[]);
    located.block.block.stamp = GenerationStamp(1002);
    let update = next_need(&mut stream, Some(located));
    let Some(Need::Update { old: told, new, nodes }) = update else { panic!("{update:?}") };
    assert_eq!((told, new.block.stamp, nodes.len()), (old, GenerationStamp(1002), 1));
    assert!(next_need(&mut stream, None).is_none());
    assert_eq!(stream.block, Some(new));
    assert_eq!(stream.packets.next(Until::Sent), Next::Done);
}

/// The replica could not be copied to any DataNode that the NameNode gave.
#[test]
fn a_replacement_is_looked_for_three_times_on_other_datanodes() {
    let (mut stream, _datanode) = stream();
    stream.replication = 3;
    stream.is_flushed = true;
    stream.nodes = (0..3).map(|_| replica(closed_port())).collect();
    queue_packet(&mut stream);
    stream.fault = Some(PipelineFault::lost("gone"));
    let mut need = stream.advance(Until::Sent).unwrap();
    for tried in 0..3 {
        let Some(Need::Replacement { nodes, exclude, .. }) = &need else { panic!("{need:?}") };
        assert_eq!((nodes.len(), exclude.len()), (2, tried + 1));
        let mut located = block(1, &[]);
        located.replicas = nodes.iter().cloned().chain([replica(closed_port())]).collect();
        stream.answered(Ok(Some(located)));
        match stream.advance(Until::Sent) {
            Ok(next) => need = next,
            Err(error) => {
                assert_eq!(tried, 2, "{error}");
                assert!(error.to_string().contains("Error transferring data"), "{error}");
                return;
            }
        }
    }
    panic!("{need:?}");
}

/// The acknowledgement and the failure of another DataNode arrive together.
#[test]
fn what_is_acknowledged_in_front_of_a_failure_counts() {
    let (mut stream, mut datanode) = stream();
    stream.recoveries = stream.file.client.settings.recovery_retries;
    queue_packet(&mut stream);
    queue_packet(&mut stream);
    assert!(stream.advance(Until::Sent).unwrap().is_none());
    let good = PipelineAck::own(0, Status::Success).encode();
    let below = PipelineAck::own(1, Status::Error);
    let bad = PipelineAck::with_downstream(1, Status::Success, &below, 0).encode();
    datanode.write_all(&[good, bad].concat()).unwrap();
    let need = stream.advance(Until::Acknowledged(1)).unwrap();
    let Some(Need::Stamp(block)) = need else { panic!("{need:?}") };
    assert_eq!((block.block.len, stream.recoveries), (100, 1));
    assert_eq!(failed(&stream), ["uuid-2"]);
}

/// Close used to complete a file with one replica of three.
#[test]
fn datanodes_that_are_lost_at_the_end_of_a_block_are_replaced_if_there_are_others() {
    let (mut stream, datanode) = stream();
    stream.replication = 3;
    stream.is_flushed = true;
    let mut last = stream.buffers.packet(Chunks::whole(stream.checksum), 0, 0);
    last.is_last = true;
    stream.queue(last);
    assert_eq!(stream.packets.next(Until::Sent), Next::Send);
    stream.send_next().unwrap();
    drop(datanode);
    let need = stream.advance(Until::Sent).unwrap();
    let Some(Need::Replacement { nodes, .. }) = need else { panic!("{need:?}") };
    // There are none: the block is ended on those that are left.
    let mut located = block(1, &[]);
    located.replicas = nodes;
    let need = next_need(&mut stream, Some(located));
    assert!(matches!(need, Some(Need::Stamp(_))), "{need:?}");
}

/// The end of a block used to clear both flags, so that the pipelines of later blocks got no replacements.
#[test]
fn a_flush_and_an_append_count_for_later_blocks() {
    let (mut stream, _datanode) = stream();
    (stream.is_append, stream.is_flushed) = (true, true);
    stream.end_block();
    queue_packet(&mut stream);
    assert!(matches!(stream.advance(Until::Sent).unwrap(), Some(Need::Block { .. })));
    let good = accepting(Status::Success);
    assert!(next_need(&mut stream, Some(block(6, &[good]))).is_none());
    assert!(stream.is_append && stream.is_flushed);
}

/// A DataNode with this address.
fn restarting_at(ip: &str) -> DatanodeInfo {
    let id = DatanodeIdProto {
        ip_addr: ip.to_owned(),
        datanode_uuid: "restarts".to_owned(),
        ..DatanodeIdProto::default()
    };
    DatanodeInfoProto { id, ..DatanodeInfoProto::default() }.into()
}

/// The writer used to wait only for a DataNode at a loopback address.
#[test]
fn a_restart_of_this_machine_s_datanode_is_waited_for_at_any_of_its_addresses() {
    // 0.0.0.0 is an address of every machine, and no loopback one.
    for (ip, waits) in [("127.0.0.1", true), ("0.0.0.0", true), ("203.0.113.9", false)] {
        let (mut stream, _datanode) = stream();
        stream.nodes[1].node = restarting_at(ip);
        queue_packet(&mut stream);
        stream.fault = Some(PipelineFault::Restarting { index: 1 });
        let need = stream.advance(Until::Sent).unwrap();
        assert_eq!(matches!(need, Some(Need::Wait(_))), waits, "{ip}: {need:?}");
        assert_eq!(failed(&stream), if waits { vec![] } else { vec!["restarts"] });
    }
}

/// While a restart was waited for, failures of other DataNodes used to be ignored.
#[test]
fn a_datanode_that_fails_while_another_one_restarts_is_taken_out() {
    let (mut stream, _datanode) = stream();
    queue_packet(&mut stream);
    stream.fault = Some(PipelineFault::Restarting { index: 1 });
    assert!(matches!(stream.advance(Until::Sent).unwrap(), Some(Need::Wait(_))));
    assert!(matches!(next_need(&mut stream, None), Some(Need::Stamp(_))));
    stream.nodes[0] = replica(closed_port());
    let first = stream.nodes[0].node.uuid().to_owned();
    let need = next_need(&mut stream, Some(block(1, &[])));
    assert!(matches!(need, Some(Need::Stamp(_))), "{need:?}");
    assert_eq!(failed(&stream), [first]);
    assert!(stream.restart.is_some());
}

/// A restarted DataNode used to stay excluded: after several restarts the writer found no replacement.
#[test]
fn a_datanode_that_restarts_may_be_chosen_again_when_the_pipeline_stands() {
    let (mut stream, _datanode) = stream();
    queue_packet(&mut stream);
    stream.nodes[0] = replica(accepting(Status::Success));
    stream.nodes[1].node = restarting_at("203.0.113.9");
    stream.fault = Some(PipelineFault::Restarting { index: 1 });
    assert!(matches!(stream.advance(Until::Sent).unwrap(), Some(Need::Stamp(_))));
    assert_eq!(failed(&stream), ["restarts"]);
    let need = next_need(&mut stream, Some(block(1, &[])));
    assert!(matches!(need, Some(Need::Update { .. })), "{need:?}");
    assert!(failed(&stream).is_empty());
}

/// The limit is for a packet that no pipeline takes; it used to end an idle writer, too.
#[test]
fn recoveries_of_an_idle_writer_are_not_counted() {
    let (mut stream, _datanode) = stream();
    stream.recoveries = stream.file.client.settings.recovery_retries;
    stream.fault = Some(PipelineFault::lost("gone"));
    stream.begin_repair().unwrap();
    assert!(matches!(stream.advance(Until::Sent).unwrap(), Some(Need::Stamp(_))));
}
