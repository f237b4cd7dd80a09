//! Short-circuit local reads between two implementations: Java's client on our DataNode, our client
//! on Apache's, and ours on ours. Real processes, Apache's with their native library.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod cached;
mod client;
mod container;
mod hedged;
mod java;
mod misfortune;
mod moved;
mod ranges;
mod readers;
mod reasons;
mod twins;
mod up;
mod volumes;
