//! A NameNode in this process: calls without a connection.

use crate::error::Result;
use bytes::Bytes;
use prost::Message;
use std::future::Future;
use std::pin::Pin;
use std::result;
use zerohop_proto::Checked;
use zerohop_transport::rpc::RpcError;
use zerohop_wire::RemoteException;

/// The answer of a call to a NameNode in this process.
pub type LocalAnswer = Pin<Box<dyn Future<Output = result::Result<Bytes, RemoteException>> + Send>>;

/// Answers one user's calls of ClientProtocol within this process.
pub trait LocalNameNode: Send + Sync + 'static {
    /// Answers a call: `request` and the answer are encoded messages.
    fn call(&self, method: &'static str, request: Bytes) -> LocalAnswer;
}

/// Calls a NameNode in this process.
pub(super) async fn call<Q: Message, R: Checked>(
    namenode: &dyn LocalNameNode,
    method: &'static str,
    request: &Q,
) -> Result<R> {
    let answer = namenode.call(method, request.encode_to_vec().into()).await;
    let answer = answer.map_err(RpcError::Remote)?;
    let decoded = zerohop_proto::decode(answer).map_err(|problem| RpcError::Protocol {
        addr: "the NameNode in this process".to_owned(),
        reason: problem.to_string(),
    });
    Ok(decoded?)
}
