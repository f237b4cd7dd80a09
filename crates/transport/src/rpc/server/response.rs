//! Answers as frames.

use super::activity::RunningCall;
use super::budget::CallMemory;
use crate::rpc::{frame, preamble};
use bytes::{BufMut, Bytes, BytesMut};
use std::borrow::Cow;
use std::sync::Arc;
use zerohop_proto::common::RpcResponseHeaderProto;
use zerohop_proto::common::rpc_response_header_proto::{RpcErrorCodeProto, RpcStatusProto};
use zerohop_wire::{JavaException, RemoteException};

/// Which call an answer belongs to.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) call_id: i32,
    pub(super) client_id: Bytes,
    pub(super) retry_count: i32,
    /// The last transaction of the state that the answer comes from.
    pub(super) state_id: Option<i64>,
    /// Runs until this is dropped, when the answer is made.
    pub(super) running: Option<Arc<RunningCall>>,
    /// The charge for its decoded request.
    #[expect(dead_code, reason = "it is charged until the call is answered")]
    pub(super) memory: CallMemory,
}

impl Answered {
    /// What could not be read far enough to know.
    pub(super) fn unknown() -> Self {
        Self {
            call_id: -1,
            client_id: Bytes::new(),
            retry_count: -1,
            state_id: None,
            running: None,
            memory: CallMemory::default(),
        }
    }

    fn header(self, status: RpcStatusProto) -> RpcResponseHeaderProto {
        RpcResponseHeaderProto {
            call_id: self.call_id as u32,
            status: status.into(),
            server_ipc_version_num: Some(preamble::VERSION.into()),
            client_id: Some(self.client_id),
            retry_count: Some(self.retry_count),
            state_id: self.state_id,
            ..Default::default()
        }
    }
}

/// A failure of the RPC layer itself; a fatal one ends the connection.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) fatal: bool,
    pub(super) detail: RpcErrorCodeProto,
    pub(super) exception: RemoteException,
}

impl Failure {
    /// A fatal failure without a cause of its own.
    pub(super) fn fatal(detail: RpcErrorCodeProto, message: impl Into<String>) -> Self {
        const CLASS: &str = "org.apache.hadoop.ipc.Server$FatalRpcServerException";
        let exception = RemoteException { class: Cow::Borrowed(CLASS), message: message.into() };
        Self { fatal: true, detail, exception }
    }

    /// A fatal failure with a cause that clients know by its class.
    pub(super) fn fatal_because(detail: RpcErrorCodeProto, exception: RemoteException) -> Self {
        Self { fatal: true, detail, exception }
    }

    /// A refusal that leaves the connection open.
    pub(super) fn busy() -> Self {
        Self {
            fatal: false,
            detail: RpcErrorCodeProto::ErrorRpcServer,
            exception: JavaException::Retriable.with("Server too busy"),
        }
    }

    /// A refusal of a user who calls more than all others; it ends the connection.
    pub(super) fn busy_and_closing() -> Self {
        let exception = JavaException::Retriable.with("Server too busy - disconnecting");
        Self { fatal: true, ..Self { exception, ..Self::busy() } }
    }

    /// A refusal that sends the client to another server.
    pub(super) fn fails_over() -> Self {
        let text = "Server too busy - disconnect and failover";
        Self { fatal: true, exception: JavaException::Standby.with(text), ..Self::busy() }
    }
}

/// Appends what a service answered.
pub(super) fn put_result(
    out: &mut BytesMut,
    call: Answered,
    result: Result<Bytes, RemoteException>,
) {
    match result {
        Ok(body) => frame::put(out, &call.header(RpcStatusProto::Success), Some(&body)),
        Err(exception) => {
            let detail = detail_of(&exception);
            put_error(out, call, RpcStatusProto::Error, detail, &exception);
        }
    }
}

/// Appends a failure.
pub(super) fn put_failure(out: &mut BytesMut, call: Answered, failure: &Failure) {
    let status = if failure.fatal { RpcStatusProto::Fatal } else { RpcStatusProto::Error };
    put_error(out, call, status, failure.detail, &failure.exception);
}

fn put_error(
    out: &mut BytesMut,
    call: Answered,
    status: RpcStatusProto,
    detail: RpcErrorCodeProto,
    exception: &RemoteException,
) {
    let header = RpcResponseHeaderProto {
        exception_class_name: Some(exception.class.to_string()),
        error_msg: Some(exception.message.clone()),
        error_detail: Some(detail.into()),
        ..call.header(status)
    };
    frame::put(out, &header, None);
}

fn detail_of(exception: &RemoteException) -> RpcErrorCodeProto {
    match exception.kind() {
        Some(JavaException::RpcNoSuchMethod) => RpcErrorCodeProto::ErrorNoSuchMethod,
        Some(JavaException::RpcNoSuchProtocol) => RpcErrorCodeProto::ErrorNoSuchProtocol,
        Some(JavaException::RpcServer) => RpcErrorCodeProto::ErrorRpcServer,
        Some(JavaException::RpcVersionMismatch) => RpcErrorCodeProto::ErrorRpcVersionMismatch,
        _ => RpcErrorCodeProto::ErrorApplication,
    }
}

/// Appends what a client of another version can read: versions from 9 on get a frame, 3 to 8 the
/// older layout with status -1, 2 the oldest one.
pub(super) fn put_version_mismatch(out: &mut BytesMut, client: u8) {
    let message = format!(
        "Server IPC version {} cannot communicate with client version {client}",
        preamble::VERSION
    );
    let exception = JavaException::RpcVersionMismatch.with(message);
    // Java compares the version as a signed byte.
    match client as i8 {
        9.. => {
            let detail = RpcErrorCodeProto::FatalVersionMismatch;
            let failure = Failure::fatal_because(detail, exception);
            put_failure(out, Answered::unknown(), &failure);
        }
        3..=8 => {
            let length = 8 + 8 + exception.class.len() + exception.message.len();
            out.put_u32(length as u32);
            out.put_i32(-1);
            out.put_i32(-1);
            put_old_string(out, &exception.class);
            put_old_string(out, &exception.message);
        }
        2 => {
            out.put_i32(0);
            out.put_u8(1);
            put_old_string(out, &exception.class);
            put_old_string(out, &exception.message);
        }
        _ => {}
    }
}

/// `WritableUtils.writeString`
fn put_old_string(out: &mut BytesMut, text: &str) {
    out.put_u32(text.len() as u32);
    out.put_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_proto::decode_delimited;

    fn header_of(mut out: BytesMut) -> RpcResponseHeaderProto {
        let mut frame = frame::take(&mut out, 10_000).unwrap().unwrap();
        decode_delimited(&mut frame).unwrap()
    }

    #[test]
    fn a_missing_method_has_its_own_detail() {
        let mut out = BytesMut::new();
        let exception = crate::rpc::server::no_such_method("p", "m");
        put_result(&mut out, Answered::unknown(), Err(exception));
        let header = header_of(out);
        assert_eq!(header.error_detail(), RpcErrorCodeProto::ErrorNoSuchMethod);
        assert_eq!(header.error_msg(), "Unknown method m called on p protocol.");
        assert_eq!(header.status(), RpcStatusProto::Error);
    }

    #[test]
    fn old_clients_are_told_in_their_own_layout() {
        let mut out = BytesMut::new();
        put_version_mismatch(&mut out, 4);
        let length = u32::from_be_bytes(out[..4].try_into().unwrap()) as usize;
        assert_eq!(length, out.len() - 4);
        assert!(out.ends_with(b"cannot communicate with client version 4"));
        let mut out = BytesMut::new();
        put_version_mismatch(&mut out, 12);
        assert_eq!(header_of(out).error_detail(), RpcErrorCodeProto::FatalVersionMismatch);
    }
}
