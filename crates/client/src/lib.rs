//! An HDFS client: [`FileSystem`] for tokio, [`blocking::FileSystem`] for plain threads.
//!
//! ```no_run
//! use std::io::{Read, Write};
//! use zerohop_client::{CreateOptions, blocking::FileSystem};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fs = FileSystem::connect(&zerohop_conf::Conf::from_env()?, Some("hdfs://localhost:8020"))?;
//! let mut out = fs.create("/greeting", CreateOptions::overwriting())?;
//! out.write_all(b"hello")?;
//! out.close()?;
//! let mut text = String::new();
//! fs.open("/greeting")?.read_to_string(&mut text)?;
//! # Ok(()) }
//! ```
//!
//! The same on tokio, several ranges of the file in one call:
//!
//! ```no_run
//! use zerohop_client::{CreateOptions, FileSystem};
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let fs = FileSystem::connect(&zerohop_conf::Conf::from_env()?, None)?;
//! let mut out = fs.create("/greeting", CreateOptions::overwriting()).await?;
//! out.write(b"hello").await?;
//! out.close().await?;
//! let file = fs.open("/greeting").await?;
//! let ranges = file.read_ranges(&[(0, 2), (3, 2)]).await?;
//! println!("{ranges:?}, {} bytes of them locally", file.statistics().local_bytes());
//! # Ok(()) }
//! ```
//!
//! Block data moves by blocking calls straight from and to the caller's buffer, and the NameNode is asked on
//! tokio. On plain threads the caller's thread moves the data and waits for the NameNode. On tokio the task
//! asks the NameNode, threads for blocking calls move the data, and the task itself reads what is in memory.
//!
//! Rust programs depend on the crate `zerohop`, which passes this one on with an example for each type.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]
#![cfg_attr(
    not(all(feature = "blocking", feature = "local")),
    allow(dead_code, reason = "plain threads and local reads have parts of their own all over")
)]

#[cfg(feature = "blocking")]
pub mod blocking;
mod builder;
mod checksum;
mod client;
mod error;
#[cfg(test)]
mod fixture;
mod fs;
mod lease;
mod namenode;
mod read;
mod resolved;
mod runtime;
mod settings;
mod spans;
#[cfg(test)]
mod test_child;
mod turns;
mod types;
mod write;

pub use builder::Builder;
pub use checksum::FileChecksum;
pub use error::{Error, ErrorKind, NoConnection, Result};
pub use fs::{
    BlocksWanted, ByteStream, Entries, FileReader, FileSystem, FileWriter, ListPages, MoveOutcome,
    ReplicaMove, ReplicaMoves, StoredBlock, Walk,
};
pub use namenode::{LocalAnswer, LocalNameNode};
pub use read::{
    CacheStatistics, HedgedReads, RangeCount, ReadPath, ReadReason, ReadStatistics, ZeroCopyRead,
};
pub use types::*;
pub use zerohop_checksum::SharedBytes;
pub use zerohop_transport::login::User;
pub use zerohop_wire::CallerContext;
