//! What a DataNode does by itself: the talk with each NameNode, and a look after its volumes.

pub(crate) mod actor;
mod commands;
pub(crate) mod disks;
mod heartbeat;
pub(crate) mod lifeline;
mod reports;
mod schedule;
mod upgrade;

#[cfg(test)]
mod actor_test;
#[cfg(test)]
mod lifeline_test;
