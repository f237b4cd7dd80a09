//! The data-transfer protocol, version 28: one file a kind of message.
//!
//! A request is answered by a `BlockOpResponseProto`; then packets flow one way and, for writes,
//! acks the other way. All of them are bytes in, bytes out here, and so is what each side does next: a client that reads
//! ([`block_read`]) or writes ([`block_write`]), and a DataNode that acknowledges ([`responder`]).

pub mod ack;
pub mod arrival;
pub mod block_read;
pub mod block_write;
pub mod frame;
pub mod op;
pub mod packet;
pub mod pipeline_fault;
pub mod pipeline_request;
pub mod responder;
pub mod unacknowledged;

pub use ack::{Ecn, PipelineAck, Slow};
pub use op::{OpCode, OpError, Request};
pub use packet::{PacketError, PacketHeader, PacketLengths};

/// The protocol's version, two bytes in front of every request; no other one is spoken.
pub const VERSION: i16 = 28;
