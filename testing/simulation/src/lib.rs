//! The NameNode dies at every point of its writes, and starts on what a power cut may have left.
//!
//! A history runs the real namespace, edit log and storage directories with simulated clients and
//! DataNodes. The kernel tells of each system call that changes a file ([`calls`]); a model knows what
//! of that is durable ([`disk`]). After every call the simulation lets the power fail in several
//! ways: unsynced writes survive in whole, in part, torn at any byte, sector by sector, as zeros, or
//! not at all; unsynced renames likewise. From each result the real NameNode code starts, and the
//! oracle compares it with what was acknowledged ([`promises`]). Some disks fail with an error, and
//! the next life begins with what one of the crashes left, so that recovery crashes too.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

pub mod calls;
pub mod campaign;
mod damage;
pub mod disk;
mod history;
mod journal;
mod life;
mod namenode;
mod past;
pub mod promises;
mod world;

pub use history::{Counts, Effort};
