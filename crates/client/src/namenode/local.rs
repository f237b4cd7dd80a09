//! A NameNode in this process: calls without a connection.

use crate::error::Result;
use bytes::Bytes;
use prost::Message;
use std::future::Future;
use std::pin::Pin;
use std::result;
use std::time::Duration;
use zerohop_proto::Checked;
use zerohop_system::clock;
use zerohop_transport::rpc::RpcError;
use zerohop_wire::{JavaException, RemoteException};

/// The answer of a call to a NameNode in this process.
pub type LocalAnswer = Pin<Box<dyn Future<Output = result::Result<Bytes, RemoteException>> + Send>>;

/// Answers one user's calls of ClientProtocol within this process.
pub trait LocalNameNode: Send + Sync + 'static {
    /// Answers a call: `request` and the answer are encoded messages.
    fn call(&self, method: &'static str, request: Bytes) -> LocalAnswer;
}

/// A call that was not carried out is repeated so often, with pauses that double.
const TRIES_MAX: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Calls a NameNode in this process. One that asks for it is called again a few times.
pub(super) async fn call<Q: Message, R: Checked>(
    namenode: &dyn LocalNameNode,
    method: &'static str,
    request: &Q,
) -> Result<R> {
    let request = Bytes::from(request.encode_to_vec());
    let mut tries = 0;
    let answer = loop {
        tries += 1;
        match namenode.call(method, request.clone()).await {
            Err(refusal)
                if refusal.kind() == Some(JavaException::Retriable) && tries < TRIES_MAX =>
            {
                clock::sleep(FIRST_PAUSE * (1 << (tries - 1))).await;
            }
            answer => break answer.map_err(RpcError::Remote)?,
        }
    };
    let decoded = zerohop_proto::decode(answer).map_err(|problem| RpcError::Protocol {
        addr: "the NameNode in this process".to_owned(),
        reason: problem.to_string(),
    });
    Ok(decoded?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use zerohop_proto::hdfs::{RenewLeaseRequestProto, RenewLeaseResponseProto};

    /// Refuses so many calls before it answers.
    struct Busy(AtomicU32, JavaException);

    impl LocalNameNode for Busy {
        fn call(&self, _: &'static str, _: Bytes) -> LocalAnswer {
            let left = self.0.load(Ordering::Relaxed);
            self.0.store(left.saturating_sub(1), Ordering::Relaxed);
            let refusal = self.1.with("busy");
            Box::pin(async move { if left == 0 { Ok(Bytes::new()) } else { Err(refusal) } })
        }
    }

    #[tokio::test]
    async fn a_namenode_that_is_busy_is_called_again() {
        for (refusals, exception, is_answered, left) in [
            (0, JavaException::Retriable, true, 0),
            (2, JavaException::Retriable, true, 0),
            (100, JavaException::Retriable, false, 100 - TRIES_MAX),
            (2, JavaException::Io, false, 1),
        ] {
            let busy = Busy(AtomicU32::new(refusals), exception);
            let request = RenewLeaseRequestProto::default();
            let answer: Result<RenewLeaseResponseProto> = call(&busy, "renewLease", &request).await;
            assert_eq!(answer.is_ok(), is_answered, "{refusals} {exception:?}: {answer:?}");
            assert_eq!(busy.0.load(Ordering::Relaxed), left, "{refusals} {exception:?}");
        }
    }
}
