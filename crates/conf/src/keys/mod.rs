//! The table of keys: names, defaults and units are Hadoop's.
//!
//! A key that is implemented is one entry of the table file of its reader; add it there:
//! the sentence on its purpose, then `CONSTANT: type = "name", "default", unit;`. If the name stands in
//! `others.txt` (Hadoop's names that are not implemented) or `unread.txt`, take that line away.

use crate::key::KeyInfo;

mod balancer;
mod client;
mod core;
mod datanode;
mod failover;
mod gateway;
mod journalnode;
mod namenode;
mod other_schemes;
mod others;
mod status;

pub use balancer::*;
pub use client::*;
pub use core::*;
pub use datanode::*;
pub use failover::*;
pub use gateway::*;
pub use journalnode::*;
pub use namenode::*;
pub use other_schemes::*;
pub use others::other_default;
pub use status::{OTHER_PROGRAMS, PATTERNS, Status, is_unread, names, status};

const TABLES: [&[KeyInfo]; 9] = [
    core::TABLE,
    client::TABLE,
    namenode::TABLE,
    datanode::TABLE,
    balancer::TABLE,
    gateway::TABLE,
    journalnode::TABLE,
    failover::TABLE,
    other_schemes::TABLE,
];

/// All keys, file by file.
pub fn all() -> impl Iterator<Item = &'static KeyInfo> {
    TABLES.into_iter().flatten()
}

/// The row of a name.
pub fn find(name: &str) -> Option<&'static KeyInfo> {
    all().find(|key| key.name == name)
}
