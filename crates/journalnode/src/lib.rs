//! The JournalNode: one of the daemons that keep the edit log which the NameNodes of a name service share.
//!
//! An edit counts when a majority of JournalNodes has it on disk. The protocol, the files and the pages are Apache's, so that
//! each JournalNode of a quorum, and each NameNode, may be Apache's or ours.
//!
//! ```text
//! NameNode --QJournalProtocol--> rpc -> journals -> worker (a thread for each journal) -> journal -> storage, segments
//! other JournalNodes <--/getJournal-- http                 sync: fetches finalized segments that are missing here
//! ```
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

mod accepted;
mod allowed_hosts;
mod cache;
mod calls;
mod download;
mod epochs;
mod error;
#[cfg(test)]
mod fixture;
mod format;
mod http;
mod jmx;
mod journal;
#[cfg(test)]
mod journal_test;
mod journals;
mod node;
mod open_segment;
mod peers;
mod recovery;
mod rpc;
mod segments;
mod settings;
mod shown;
mod status;
mod storage;
mod sync;
#[cfg(test)]
mod takeover_test;
mod web;
mod worker;

pub use format::{FormatError, JournalFormat};
pub use node::{Error, JournalNode};
