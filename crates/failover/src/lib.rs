//! Which NameNode of a pair is active, and how the other one takes over.
//!
//! A [`Controller`] stands beside each NameNode. It asks for its health, competes for a lock in ZooKeeper, and makes its
//! NameNode active when it gets that, after it has fenced the one that was active before. Without ZooKeeper an administrator
//! does the same by hand ([`fail_over`]). Source: `ZKFailoverController`, `ActiveStandbyElector`, `HealthMonitor`,
//! `FailoverController`, `NodeFencer`.

mod controller;
mod election;
mod fencing;
mod format;
mod health;
mod manual;
mod peer;
mod rpc;
mod run;
mod service;
mod stacks;
mod target;
mod zookeeper;

pub use fencing::{BadFencing, Fencer};
pub use format::{is_formatted, make_znode, remove_znode};
pub use manual::{FailoverError, FailoverOptions, fail_over};
pub use peer::Peer;
pub use run::{Controller, StartError};
pub use service::{RequestSource, Service, ServiceState, ServiceStatus};
pub use target::{Target, TargetError};
pub use zookeeper::{ZooKeeperError, ZooKeeperOptions};

#[cfg(test)]
mod fixture;
