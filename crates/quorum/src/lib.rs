//! A journal that a majority of JournalNodes keeps: Apache's or ours (`QuorumJournalManager`).
//!
//! ```text
//! quorum, takeover -> members (ask all, wait for a majority) -> session (a queue and a thread for each JournalNode) -> journal_node (its calls) -> connection
//!   recovery: which copy of a segment counts        copies: whether two are the same        stream: segments by HTTP        recent: edits out of memory
//! ```
//! A batch is durable when a majority has synced it. A JournalNode that fails or falls behind is left out until the next segment.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

mod address;
mod connection;
mod copies;
mod download;
mod failed_fetches;
mod journal_node;
mod majority;
mod members;
mod node_status;
mod options;
mod quorum;
mod recent;
mod recovery;
mod session;
mod stream;
mod takeover;

pub use address::{BadAddress, NamespaceInfo, QuorumAddress};
pub use connection::{Connection, RpcConnection};
pub use download::{DownloadError, fetch_segment, segment_url};
pub use node_status::NodeStatus;
pub use options::QuorumOptions;
pub use quorum::QuorumJournal;
