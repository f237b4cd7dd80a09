//! What an RPC connection carries: frames, their headers, a request.
#![no_main]
use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use zerohop_proto::common::{RequestHeaderProto, RpcRequestHeaderProto};
use zerohop_proto::hdfs::CreateRequestProto;
use zerohop_transport::rpc::frame;

fuzz_target!(|bytes: &[u8]| {
    let mut buffer = BytesMut::from(bytes);
    while let Ok(Some(mut frame)) = frame::take(&mut buffer, 64 << 20) {
        let _ = zerohop_proto::decode_delimited::<RpcRequestHeaderProto>(&mut frame);
        let _ = zerohop_proto::decode_delimited::<RequestHeaderProto>(&mut frame);
        let _ = zerohop_proto::decode::<CreateRequestProto>(frame);
    }
});
