//! JournalNodes of ours on loopback, and writers that come and go.
#![allow(clippy::disallowed_methods, reason = "tests measure and wait")]

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
