//! Hadoop RPC version 9 (client and server), data connections, who a user is, and what pages of figures are asked with.
//!
//! Nothing here knows what HDFS is: protocols are names, requests are bytes. What both daemons answer alike is here, too:
//! [`conf_page`] and [`reconfigure`]. [`rpc`] runs on tokio,
//! [`net`] and
//! [`domain`] on plain blocking sockets, because block data moves on threads of its own.

pub mod beans;
pub mod conf_page;
pub mod domain;
pub mod groups;
pub mod listen;
pub mod login;
pub mod machines;
pub mod net;
pub mod query;
pub mod rarely;
pub mod reconfigure;
pub mod rpc;
pub mod shm;
pub mod waits;
