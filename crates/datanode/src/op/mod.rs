//! The operations of the transfer port, one file each.

mod block_checksum;
mod copy_block;
mod outcome;
mod peer;
mod read_block;
mod receive;
mod replace_block;
mod send;
mod short_circuit;
mod spans;
pub(crate) mod transfer_block;
mod write_block;

use crate::node::Node;
use crate::transfer::conn::{Conn, invalid};
use crate::transfer::server::Handler;
use outcome::{AfterOperation, OpFailure, answer};
use std::ffi::CStr;
use std::io;
use std::sync::Arc;
use zerohop_proto::hdfs::Status;
use zerohop_transport::trace;
use zerohop_wire::transfer::op::{OpCode, PREFIX_LEN, Request, decode_prefix, wanted};

/// Serves the operations that arrive on connections.
pub(crate) struct Operations {
    pub(crate) node: Arc<Node>,
}

impl Handler for Operations {
    fn wanted(&self, buffered: &[u8]) -> usize {
        wanted(buffered)
    }

    fn serve(&self, conn: &mut Conn, first: bool) -> AfterOperation {
        let request = match read_request(conn, &self.node) {
            Ok(request) => request,
            Err(error) if is_hang_up(&error) => {
                if first {
                    tracing::debug!("{}: left before an operation", conn.peer);
                }
                return AfterOperation::Close;
            }
            Err(error) => {
                tracing::warn!("{}: connection closed: {error}", conn.peer);
                return AfterOperation::Close;
            }
        };
        let code = request.code();
        let span = spans::of_operation(&request, &conn.peer);
        let _within = span.enter();
        let _role = ThreadRole::of(&request);
        let _running = self.node.operations.begin(&request, &conn.peer);
        match run(&self.node, conn, request) {
            Ok(after) => after,
            Err(OpFailure::Io(error)) if is_hang_up(&error) => {
                trace::record_failure(&span, &error);
                tracing::info!("{}: left during {code}: {error}", conn.peer);
                AfterOperation::Close
            }
            Err(failure) => {
                trace::record_failure(&span, &failure);
                if matches!(failure, OpFailure::Io(_)) {
                    self.node.activity.network_errors.increment();
                }
                tracing::warn!("{} from {} failed: {failure}", code, conn.peer);
                AfterOperation::Close
            }
        }
    }
}

fn read_request(conn: &mut Conn, node: &Node) -> io::Result<Request> {
    conn.set_read_timeout(node.settings.socket_timeout)?;
    conn.set_write_timeout(node.settings.write_timeout)?;
    conn.need(PREFIX_LEN)?;
    let prefix = conn.buffered().first_chunk().copied().unwrap_or_default();
    let code: OpCode = decode_prefix(prefix).map_err(invalid)?;
    conn.consume(PREFIX_LEN);
    let message = conn.read_delimited()?;
    Request::decode_message(code, message).map_err(invalid)
}

/// Names the thread after the operation that it serves, for pictures of what the process does (`zerohop profile`).
struct ThreadRole;

impl ThreadRole {
    fn of(request: &Request) -> Self {
        set_name(match request {
            Request::WriteBlock(_) => c"block receiver",
            Request::ReadBlock(_) => c"block sender",
            Request::ReplaceBlock(_) | Request::CopyBlock(_) | Request::TransferBlock(_) => {
                c"block transfer"
            }
            Request::BlockChecksum(_) | Request::BlockGroupChecksum(_) => c"block checksum",
            Request::RequestShortCircuitFds(_)
            | Request::ReleaseShortCircuitFds(_)
            | Request::RequestShortCircuitShm(_) => c"short-circuit",
        });
        Self
    }
}

impl Drop for ThreadRole {
    fn drop(&mut self) {
        set_name(c"transfer");
    }
}

fn set_name(name: &CStr) {
    // A thread without a name works as well.
    _ = rustix::thread::set_name(name);
}

fn run(node: &Arc<Node>, conn: &mut Conn, request: Request) -> Result<AfterOperation, OpFailure> {
    match request {
        Request::WriteBlock(message) => write_block::run(node, conn, *message),
        Request::ReadBlock(message) => read_block::run(node, conn, &message),
        Request::ReplaceBlock(message) => replace_block::run(node, conn, &message),
        Request::CopyBlock(message) => copy_block::run(node, conn, &message),
        Request::BlockChecksum(message) => block_checksum::run(node, conn, &message),
        Request::TransferBlock(message) => transfer_block::run(node, conn, &message),
        Request::RequestShortCircuitFds(message) => short_circuit::fds(node, conn, &message),
        Request::ReleaseShortCircuitFds(message) => short_circuit::release(node, conn, &message),
        Request::RequestShortCircuitShm(message) => short_circuit::shm(node, conn, &message),
        Request::BlockGroupChecksum(_) => {
            answer(conn, Status::ErrorUnsupported, "erasure-coded files are not supported")?;
            Ok(AfterOperation::Close)
        }
    }
}

/// The peer is gone, or keeps silent, which needs no warning.
fn is_hang_up(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
    )
}

#[cfg(test)]
#[path = "trace_test.rs"]
mod tests;
