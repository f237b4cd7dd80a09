//! The operations of the transfer port, one file each.

mod block_checksum;
mod copy_block;
pub(crate) mod packets;
mod read_block;
mod receive;
mod replace_block;
mod send;
mod short_circuit;
pub(crate) mod transfer_block;
mod write_block;

use crate::node::Node;
use crate::store::Failure;
use crate::transfer::conn::{Conn, invalid};
use crate::transfer::server::{Handler, Next as After};
use std::fmt;
use std::io;
use std::sync::Arc;
use zerohop_proto::hdfs::{
    BlockOpResponseProto, DatanodeIdProto, DatanodeInfoProto, ReadOpChecksumInfoProto, Status,
    StorageTypeProto,
};
use zerohop_wire::ExtendedBlock;
use zerohop_wire::transfer::frame;
use zerohop_wire::transfer::op::{OpCode, PREFIX_LEN, Request, decode_prefix, wanted};

/// Why an operation ended early; the connection is closed.
#[derive(Debug)]
pub(crate) enum OpFailure {
    /// The request cannot be served.
    Failed(Failure),
    /// The connection, or what came over it.
    Io(io::Error),
}

impl fmt::Display for OpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for OpFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Failure> for OpFailure {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Serves the operations that arrive on connections.
pub(crate) struct Operations {
    pub(crate) node: Arc<Node>,
}

impl Handler for Operations {
    fn wanted(&self, buffered: &[u8]) -> usize {
        wanted(buffered)
    }

    fn serve(&self, conn: &mut Conn, first: bool) -> After {
        let request = match read_request(conn, &self.node) {
            Ok(request) => request,
            Err(error) if is_hang_up(&error) => {
                if first {
                    tracing::debug!("{}: left before an operation", conn.peer);
                }
                return After::Close;
            }
            Err(error) => {
                tracing::warn!("{}: connection closed: {error}", conn.peer);
                return After::Close;
            }
        };
        let code = request.code();
        match run(&self.node, conn, request) {
            Ok(after) => after,
            Err(OpFailure::Io(error)) if is_hang_up(&error) => {
                tracing::info!("{}: left during {code}: {error}", conn.peer);
                After::Close
            }
            Err(failure) => {
                tracing::warn!("{} from {} failed: {failure}", code, conn.peer);
                After::Close
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

fn run(node: &Arc<Node>, conn: &mut Conn, request: Request) -> Result<After, OpFailure> {
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
            Ok(After::Close)
        }
    }
}

/// The peer is gone, or keeps silent: nobody's fault that needs a warning.
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

/// Sends a response with a message.
fn answer(conn: &Conn, status: Status, message: impl fmt::Display) -> io::Result<()> {
    let text = message.to_string();
    conn.write_message(&BlockOpResponseProto {
        status: status as i32,
        message: (!text.is_empty()).then_some(text),
        ..Default::default()
    })
}

/// The response before packets: which checksums they carry and where they begin.
fn success_with_checksum(sender: &send::Sender) -> Vec<u8> {
    frame::encode(&BlockOpResponseProto {
        status: Status::Success as i32,
        read_op_checksum_info: Some(ReadOpChecksumInfoProto {
            checksum: sender.checksum().into(),
            chunk_offset: sender.start(),
        }),
        ..Default::default()
    })
}

/// Waits until the block's pool is served.
fn wait_for_pool(node: &Node, block: &ExtendedBlock) -> Result<(), OpFailure> {
    if node.store.wait_for_pool(&block.pool, node.settings.pool_ready_timeout) {
        return Ok(());
    }
    Err(Failure::io(format!("Not ready to serve the block pool, {}.", block.pool)).into())
}

/// `host:port` of a DataNode's transfer port, as clients write it.
fn transfer_name(id: &DatanodeIdProto) -> String {
    format!("{}:{}", id.ip_addr, id.xfer_port)
}

/// Connects to the transfer port of another DataNode.
fn connect(node: &Node, target: &DatanodeInfoProto, extra: u32) -> io::Result<Conn> {
    let id = &target.id;
    let host = if node.settings.connect_by_name { &id.host_name } else { &id.ip_addr };
    let port = u16::try_from(id.xfer_port).map_err(invalid)?;
    let patience = crate::settings::TIMEOUT_EXTENSION * extra;
    let addrs = std::net::ToSocketAddrs::to_socket_addrs(&(host.as_str(), port))?;
    let mut last = io::Error::other(format!("{host} has no address"));
    for addr in addrs {
        match Conn::connect(addr, node.settings.socket_timeout + patience) {
            Ok(mut conn) => {
                conn.set_read_timeout(node.settings.socket_timeout + patience)?;
                conn.set_write_timeout(node.settings.write_timeout + patience)?;
                return Ok(conn);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn storage_type(code: Option<i32>) -> StorageTypeProto {
    code.and_then(|code| StorageTypeProto::try_from(code).ok()).unwrap_or(StorageTypeProto::Disk)
}
