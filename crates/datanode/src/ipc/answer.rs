//! From a result to a reply.

use crate::store::Failure;
use bytes::Bytes;
use prost::Message;
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{JavaException, RemoteException};

/// Runs `work`, which may wait for disks and writers, on a thread.
pub(super) fn on_thread<M: Message + 'static>(
    work: impl FnOnce() -> Result<M, Failure> + Send + 'static,
) -> Reply {
    Reply::later(async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(message)) => Ok(Bytes::from(message.encode_to_vec())),
            Ok(Err(failure)) => Err(failure.to_exception()),
            Err(error) => Err(JavaException::Io.with(error.to_string())),
        }
    })
}

pub(super) fn reply<M: Message>(result: Result<M, RemoteException>) -> Reply {
    match result {
        Ok(message) => Reply::message(&message),
        Err(exception) => Reply::exception(exception),
    }
}
