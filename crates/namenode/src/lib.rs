//! The NameNode: it runs a namespace behind RPC services, an edit log and HTTP pages.
//!
//! A request: `rpc/` decodes it and asks [`core`](self) under the namespace's lock, which is held only for work in memory.
//! Reads answer at once. Changes put their edits into the log's batch under the same lock, and answer when the batch is
//! synced. A call that needs a DataNode's report which is on its way is held until that report (`waiters.rs`).
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]
#![recursion_limit = "256"] // the metric beans are long JSON literals

mod activity;
pub mod audit;
mod bootstrap;
mod call_error;
mod checkpoint;
mod checkpoints;
mod clock;
mod conditions;
mod convert;
mod core;
mod error;
mod events;
mod file_copier;
mod following;
mod format;
mod ha;
mod hosts;
mod hosts_json;
mod hot_directories;
mod http;
mod identity;
mod image_client;
mod image_senders;
mod image_uploads;
mod initialize_shared_edits;
mod load;
mod loader;
mod lock_holds;
mod message;
mod monitor;
mod name_service;
mod namesake;
mod node;
mod other_namenode;
mod racks;
mod reconfigure;
mod recover;
mod repair_log;
mod resolve;
mod resources;
mod retry;
mod rolling_upgrade;
mod rpc;
mod safe_mode;
mod served;
mod service;
mod settings;
mod standby;
mod start;
mod start_progress;
mod state_ids;
mod state_jobs;
pub mod storage;
mod supervise;
mod throttle;
mod top_users;
mod transition;
#[cfg(test)]
mod transition_test;
mod trash;
mod trash_policy;
mod waiters;

pub use bootstrap::{BootstrapError, BootstrapStandby};
pub use error::Error;
pub use file_copier::{CopyError, FileCopier};
pub use node::NameNode;
pub use rpc::{DatanodeHttp, LocalCalls};
pub use start::StartOption;
pub use storage::{FormatOptions, RecoveryChoice, RecoveryQuestions};
