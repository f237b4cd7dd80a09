//! The NameNode: it runs a namespace behind RPC services, an edit log and HTTP pages.
//!
//! A request: `rpc/` decodes it and asks [`core`](self) under the namespace's lock, which is held only for work in memory.
//! Reads answer at once. Changes put their edits into the log's batch under the same lock, and answer when the batch is
//! synced. A call that needs a DataNode's report which is on its way is held until that report (`waiters.rs`).
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]
#![recursion_limit = "256"] // the metric beans are long JSON literals

mod active_jobs;
pub mod audit;
mod call_error;
mod checkpoint;
mod checkpoints;
mod clock;
mod convert;
mod core;
mod error;
mod file_copier;
mod ha;
mod hosts;
mod hosts_json;
mod http;
mod identity;
mod loader;
mod message;
mod monitor;
mod node;
mod racks;
mod reconfigure;
mod resolve;
mod resources;
mod retry;
mod rolling_upgrade;
mod rpc;
mod safe_mode;
mod served;
mod service;
mod settings;
pub mod storage;
mod supervise;
mod transition;
#[cfg(test)]
mod transition_test;
mod waiters;

pub use error::Error;
pub use file_copier::{CopyError, FileCopier};
pub use node::{NameNode, StartOption};
pub use rpc::{DatanodeHttp, LocalCalls};
pub use storage::FormatOptions;
