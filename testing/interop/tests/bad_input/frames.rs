//! Requests byte by byte.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use prost::Message;
use zerohop_interop::Outcome;
use zerohop_interop::harm::Explain;
use zerohop_proto::common::{
    IpcConnectionContextProto, RequestHeaderProto, RpcKindProto, RpcRequestHeaderProto,
    UserInformationProto, rpc_request_header_proto::OperationProto,
};
use zerohop_proto::hdfs::{
    BaseHeaderProto, ChecksumProto, ChecksumTypeProto, ClientOperationHeaderProto,
    ExtendedBlockProto, OpBlockChecksumProto, OpReadBlockProto, OpTransferBlockProto,
    OpWriteBlockProto,
};
use zerohop_wire::transfer::op::{self, OpCode};

/// How long a daemon may take to close a connection that has nothing more to say.
const LIMIT: Duration = Duration::from_secs(20);

/// A port and what it is called in messages.
pub struct Port(pub &'static str, pub u16);

impl Port {
    /// Connects and sends some bytes.
    pub fn open(&self, bytes: &[u8]) -> Outcome<TcpStream> {
        let addr = SocketAddr::from(([127, 0, 0, 1], self.1));
        let mut stream = TcpStream::connect_timeout(&addr, LIMIT).at(self.0)?;
        stream.write_all(bytes).at(self.0)?;
        Ok(stream)
    }

    /// Sends a good request; something must come back.
    pub fn must_answer(&self, bytes: &[u8], what: &str) -> Outcome {
        let mut stream = self.open(bytes)?;
        stream.set_read_timeout(Some(LIMIT)).at(self.0)?;
        let got = stream.read(&mut [0]).at(&format!("{}: {what}", self.0))?;
        if got == 1 { Ok(()) } else { Err(format!("{}: {what}: no answer", self.0)) }
    }

    /// Sends bytes and no more; the daemon must close the connection. What it answered.
    pub fn must_close(&self, bytes: &[u8], what: &str) -> Outcome<Vec<u8>> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).at(self.0)?;
        stream.set_read_timeout(Some(LIMIT)).at(self.0)?;
        stream.set_write_timeout(Some(LIMIT)).at(self.0)?;
        // It may have closed the connection in the midst of them.
        let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => Ok(answer),
            Err(e) if matches!(e.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => {
                Ok(answer)
            }
            Err(e) => Err(format!("{}: {what}: not closed: {e}", self.0)),
        }
    }
}

fn frame(parts: &[Vec<u8>]) -> Vec<u8> {
    let body = parts.concat();
    [&(body.len() as u32).to_be_bytes()[..], &body].concat()
}

fn header(call_id: i32) -> Vec<u8> {
    RpcRequestHeaderProto {
        rpc_kind: Some(RpcKindProto::RpcProtocolBuffer.into()),
        rpc_op: Some(OperationProto::RpcFinalPacket.into()),
        call_id,
        client_id: vec![7; 16].into(),
        retry_count: Some(-1),
        ..Default::default()
    }
    .encode_length_delimited_to_vec()
}

/// The beginning of an RPC connection: preamble and context.
pub fn hello() -> Vec<u8> {
    let context = IpcConnectionContextProto {
        user_info: Some(UserInformationProto {
            effective_user: Some("root".to_owned()),
            real_user: None,
        }),
        protocol: Some("org.apache.hadoop.hdfs.protocol.ClientProtocol".to_owned()),
    };
    let context = frame(&[header(-3), context.encode_length_delimited_to_vec()]);
    [&b"hrpc\x09\x00\x00"[..], &context].concat()
}

/// A call with these bytes as its argument.
pub fn call(protocol: &str, method: &str, param: &[u8]) -> Vec<u8> {
    let request = RequestHeaderProto {
        method_name: method.to_owned(),
        declaring_class_protocol_name: protocol.to_owned(),
        client_protocol_version: 1,
    };
    // A delimited message's length is a varint; the arguments here are shorter than 128 bytes.
    let param = [&[param.len() as u8][..], param].concat();
    frame(&[header(5), request.encode_length_delimited_to_vec(), param])
}

/// A good request of each kind for a block that nobody has.
pub fn data_requests(pool: &str) -> Vec<Vec<u8>> {
    let block = ExtendedBlockProto {
        pool_id: pool.to_owned(),
        block_id: 77,
        generation_stamp: 1001,
        num_bytes: Some(5),
    };
    let base = BaseHeaderProto { block, ..Default::default() };
    let header =
        ClientOperationHeaderProto { base_header: base.clone(), client_name: "x".to_owned() };
    let read = OpReadBlockProto {
        header: header.clone(),
        offset: 3,
        len: u64::MAX - 1,
        send_checksums: Some(true),
        caching_strategy: None,
    };
    let checksum =
        ChecksumProto { r#type: ChecksumTypeProto::ChecksumCrc32c.into(), bytes_per_checksum: 512 };
    let write = OpWriteBlockProto {
        header: header.clone(),
        requested_checksum: checksum,
        pipeline_size: 1,
        latest_generation_stamp: 1002,
        ..Default::default()
    };
    let absurd = OpWriteBlockProto {
        requested_checksum: ChecksumProto { bytes_per_checksum: u32::MAX, ..checksum },
        pipeline_size: u32::MAX,
        min_bytes_rcvd: u64::MAX,
        max_bytes_rcvd: 1,
        stage: 99,
        ..write.clone()
    };
    vec![
        op::encode(OpCode::ReadBlock, &read),
        op::encode(OpCode::WriteBlock, &write),
        op::encode(OpCode::WriteBlock, &absurd),
        op::encode(OpCode::TransferBlock, &OpTransferBlockProto { header, ..Default::default() }),
        op::encode(
            OpCode::BlockChecksum,
            &OpBlockChecksumProto { header: base, ..Default::default() },
        ),
    ]
}
