//! JournalNodes of ours on loopback, and writers that come and go.
#![allow(clippy::disallowed_methods, reason = "tests measure and wait")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod connection;
mod epochs;
mod given_up;
mod histories;
mod history;
mod nodes;
mod stalled;
mod statuses;
mod strangers;
mod terms;
mod writers;
