//! How an operation ends: what is answered, why it failed, and what becomes of the connection.

use super::send::{SendError, Sender};
use crate::node::Node;
use crate::store::Failure;
use crate::transfer::conn::Conn;
use std::fmt;
use std::io;
use zerohop_proto::hdfs::{BlockOpResponseProto, ReadOpChecksumInfoProto, Status};
use zerohop_wire::ExtendedBlock;
use zerohop_wire::transfer::frame;

pub(super) use crate::transfer::server::AfterOperation;

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

/// The failure of an operation whose replica was not sent; where that could not be read, the volume is
/// checked and the NameNode hears of it.
pub(super) fn not_sent(node: &Node, block: &ExtendedBlock, error: SendError) -> OpFailure {
    match error {
        SendError::Conn(error) => error.into(),
        SendError::Replica(error) => unreadable(node, block, Failure::Files(error)),
    }
}

/// The same for a replica that was read for another purpose.
pub(super) fn unreadable(node: &Node, block: &ExtendedBlock, failure: Failure) -> OpFailure {
    if let Failure::Files(error) = &failure {
        node.tell_read_failure(block, error);
    }
    failure.into()
}

/// Sends a response with a message.
pub(super) fn answer(conn: &Conn, status: Status, message: impl fmt::Display) -> io::Result<()> {
    let text = message.to_string();
    conn.write_message(&BlockOpResponseProto {
        status: status as i32,
        message: (!text.is_empty()).then_some(text),
        ..Default::default()
    })
}

/// The response before packets: which checksums they carry and where they begin.
pub(super) fn success_with_checksum(sender: &Sender) -> Vec<u8> {
    frame::encode(&BlockOpResponseProto {
        status: Status::Success as i32,
        read_op_checksum_info: Some(ReadOpChecksumInfoProto {
            checksum: sender.checksum().into(),
            chunk_offset: sender.start(),
        }),
        ..Default::default()
    })
}
