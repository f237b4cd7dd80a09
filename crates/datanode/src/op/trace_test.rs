//! A DataNode in the middle of a pipeline: the client in front and the DataNode downstream are the test's.

use super::*;
use crate::test_node::{TestNode, block};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use tracing::Span;
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, ClientOperationHeaderProto, DatanodeInfoProto,
    OpWriteBlockProto,
};
use zerohop_transport::trace::Propagator;
use zerohop_wire::transfer::{frame, op};
use zerohop_wire::{DataChecksum, TraceContext};

const LONG: Duration = Duration::from_secs(20);

thread_local! {
    static CURRENT: Cell<Option<TraceContext>> = const { Cell::new(None) };
}

/// The span of a request becomes the thread's current one.
struct Fake;

impl Propagator for Fake {
    fn current(&self) -> Option<TraceContext> {
        CURRENT.get()
    }

    fn set_parent(&self, _: &Span, parent: TraceContext) {
        CURRENT.set(TraceContext::new(parent.trace_id(), [9; 8], parent.flags));
    }

    fn finish(&self) {}
}

fn write_request(client: TraceContext, downstream: DatanodeInfoProto) -> Vec<u8> {
    let message = OpWriteBlockProto {
        header: ClientOperationHeaderProto {
            base_header: BaseHeaderProto {
                block: (&block(1, 0)).into(),
                token: Some(Default::default()),
                trace_info: Some(client.into()),
            },
            client_name: "DFSClient_1".to_owned(),
        },
        targets: vec![downstream],
        stage: Stage::PipelineSetupCreate.into(),
        pipeline_size: 2,
        requested_checksum: DataChecksum::default().into(),
        ..Default::default()
    };
    op::encode(OpCode::WriteBlock, &message)
}

/// The request that a DataNode sends, as the one downstream reads it.
fn downstream_request(mut stream: &TcpStream) -> Request {
    let mut bytes = Vec::new();
    loop {
        if let Some((request, _)) = op::take(&bytes).unwrap() {
            return request;
        }
        let mut room = [0; 4096];
        let read = stream.read(&mut room).unwrap();
        assert!(read > 0, "the connection ended after {} bytes", bytes.len());
        bytes.extend_from_slice(&room[..read]);
    }
}

#[test]
fn a_pipeline_s_datanodes_are_one_below_the_other_in_a_trace() {
    trace::install(Box::new(Fake));
    let node = TestNode::start(&["d"], &[]);
    let below = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut target = DatanodeInfoProto::default();
    target.id.ip_addr = "127.0.0.1".to_owned();
    target.id.xfer_port = below.local_addr().unwrap().port().into();

    let front = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(front.local_addr().unwrap()).unwrap();
    client.set_read_timeout(Some(LONG)).unwrap();
    let from_client = TraceContext::new([5; 16], [6; 8], 1).unwrap();
    (&client).write_all(&write_request(from_client, target)).unwrap();
    let mut conn = Conn::new(front.accept().unwrap().0.into());
    let operations = Operations { node: Arc::clone(&node.node) };
    let serving = std::thread::spawn(move || {
        operations.serve(&mut conn, true);
    });

    let (downstream, _) = below.accept().unwrap();
    downstream.set_read_timeout(Some(LONG)).unwrap();
    let request = downstream_request(&downstream);
    let sent = request.base_header().and_then(|header| header.trace_info.as_ref()).unwrap();
    assert_eq!(TraceContext::of_transfer(sent), TraceContext::new([5; 16], [9; 8], 1));

    // The client gives up when the pipeline stands.
    let ready = BlockOpResponseProto { status: Status::Success as i32, ..Default::default() };
    (&downstream).write_all(&frame::encode(&ready)).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    serving.join().unwrap();
}
