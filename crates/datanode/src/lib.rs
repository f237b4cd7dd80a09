//! The DataNode: block data over the transfer port, volumes, and the talk with NameNodes.
//!
//! Block data is served by plain threads, control by tokio tasks of the caller's runtime. One file
//! an operation under `op`; the files of replicas belong to `zerohop_replica`.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

mod activity;
mod datanode;
mod deletions;
mod disk_pages;
mod error;
mod events;
mod health;
mod http;
mod ipc;
mod jmx;
mod namenodes;
mod node;
mod op;
mod outliers;
mod reconfigure;
mod records;
mod scan;
mod services;
mod settings;
mod short_circuit;
mod store;
#[cfg(test)]
mod test_node;
mod transfer;
mod web;

pub use datanode::{DataNode, StartOption};
pub use error::Error;
