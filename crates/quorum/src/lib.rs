//! A journal that a majority of JournalNodes keeps: Apache's or ours (`QuorumJournalManager`).
//!
//! ```text
//! quorum (asks all, waits for a majority) -> session (a queue and a thread for each JournalNode) -> journal_node (its calls)
//!   recovery: which copy of a segment counts        stream: segments by HTTP
//! ```
//! A batch is durable when a majority has synced it. A JournalNode that fails or falls behind is left out until the next segment.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

mod address;
mod journal_node;
mod majority;
mod quorum;
#[cfg(test)]
mod quorum_test;
mod recovery;
mod session;
mod stream;

pub use address::{BadAddress, NamespaceInfo, QuorumAddress};
pub use quorum::{QuorumJournal, QuorumOptions};
