//! The table of keys: names, defaults and units are Hadoop's.
//!
//! A key is one entry of the table file of its reader; add it there:
//! the sentence on its purpose, then `CONSTANT: type = "name", "default", unit;`.

use crate::key::KeyInfo;

mod client;
mod core;
mod datanode;
mod namenode;
mod others;

pub use client::*;
pub use core::*;
pub use datanode::*;
pub use namenode::*;
pub use others::other_default;

const TABLES: [&[KeyInfo]; 4] = [core::TABLE, client::TABLE, namenode::TABLE, datanode::TABLE];

/// All keys, file by file.
pub fn all() -> impl Iterator<Item = &'static KeyInfo> {
    TABLES.into_iter().flatten()
}

/// The row of a name.
pub fn find(name: &str) -> Option<&'static KeyInfo> {
    all().find(|key| key.name == name)
}
