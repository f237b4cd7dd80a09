//! The balancer spreads replicas over DataNodes until their disks are about equally full; the mover puts them on
//! the types of storage that the policies of their files ask for. Both work on Apache's clusters and on ours.
//!
//! What to move is decided without I/O: [`plan`] pairs DataNodes, `round` picks the blocks of an iteration,
//! [`mover`] the replicas of a file. `dispatch` carries the moves out. [`balancer`] and [`mover`] repeat this until
//! nothing is left.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

pub mod balancer;
mod candidate;
mod dispatch;
mod exit;
mod hosts;
mod lock;
mod moved;
pub mod mover;
mod nodes;
mod observer;
pub mod plan;
mod policy;
mod round;
mod session;
mod topology;
mod wanted_types;

pub use exit::{Error, ExitStatus};
pub use hosts::HostSet;
pub use observer::{Iteration, Observer};
pub use policy::BalancingPolicy;
pub use session::Cluster;
