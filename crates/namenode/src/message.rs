//! Messages from and to the bytes of a call.

use bytes::Bytes;
use zerohop_proto::Checked;
use zerohop_wire::{JavaException, RemoteException};

/// A request; one that cannot be read, or that lacks a required field, is refused as Java refuses it.
pub(crate) fn decode<Q: Checked>(param: Bytes) -> Result<Q, RemoteException> {
    zerohop_proto::decode(param).map_err(|e| JavaException::RpcServer.with(e.to_string()))
}

/// An answer as it goes on the wire and into the retry cache.
pub(crate) fn encode(message: &impl prost::Message) -> Bytes {
    message.encode_to_vec().into()
}
