//! Hadoop RPC, version 9 with protobuf engine 2: one port, many protocols, many calls in flight.
//!
//! A connection opens with [`preamble`], then both sides send [`frame`]s: a length, then delimited
//! protobuf messages (a header and what it announces).

pub mod client;
pub mod error;
pub mod frame;
pub mod ids;
pub mod preamble;
pub mod server;
mod spans;

pub use client::{ClientOptions, RpcClient};
pub use error::RpcError;
pub use ids::{CallId, ClientIdentity, SeenState};
pub use server::{CallContext, Reply, RpcServer, RpcService, ServerOptions};

#[cfg(test)]
mod fair_test;
#[cfg(test)]
mod limits_test;
#[cfg(test)]
mod loopback_test;
#[cfg(test)]
mod runtimes_test;
#[cfg(test)]
mod trace_test;

/// Call ids below zero, which are no calls (`RpcConstants`).
pub(crate) mod special_call {
    /// The connection context follows.
    pub(crate) const CONNECTION_CONTEXT: i32 = -3;
    /// A sign of life; has no answer.
    pub(crate) const PING: i32 = -4;
    /// A step of SASL.
    pub(crate) const SASL: i32 = -33;
}
