//! Messages from and to the bytes of a call.

use bytes::Bytes;
use zerohop_proto::Checked;
use zerohop_transport::rpc::server::CallContext;
use zerohop_wire::{JavaException, RemoteException};

/// Decodes a part of a request. Fails with Java's exception if it is malformed or lacks a required field.
pub(crate) fn decode<Q: Checked>(param: Bytes) -> Result<Q, RemoteException> {
    zerohop_proto::decode(param).map_err(|e| JavaException::RpcServer.with(e.to_string()))
}

/// Like [`decode`], for the request of a call: the memory that it takes is charged.
pub(crate) fn decode_request<Q: Checked>(
    context: &CallContext,
    param: Bytes,
) -> Result<Q, RemoteException> {
    context.memory.decode(param, |e| JavaException::RpcServer.with(e.to_string()))
}

/// An answer as it goes on the wire and into the retry cache.
pub(crate) fn encode(message: &impl prost::Message) -> Bytes {
    message.encode_to_vec().into()
}
