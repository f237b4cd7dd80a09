//! Hadoop RPC version 9 (client and server), data connections, and who a user is.
//!
//! Nothing here knows what HDFS is: protocols are names, requests are bytes. [`reconfigure`] is what
//! both daemons answer alike. [`rpc`] runs on tokio,
//! [`net`] and
//! [`domain`] on plain blocking sockets, because block data moves on threads of its own.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

#[cfg(target_os = "linux")]
pub mod domain;
pub mod groups;
pub mod login;
pub mod net;
pub mod reconfigure;
pub mod rpc;
#[cfg(target_os = "linux")]
pub mod shm;
pub mod trace;
pub mod waits;

pub use zerohop_daemon::machines;
