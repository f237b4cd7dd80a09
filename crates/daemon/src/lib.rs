//! What every daemon needs besides its protocols: its storage directories, its HTTP server, its log and its process.
//!
//! NameNode and DataNode use it; a JournalNode or a gateway is built on the same parts. Nothing here knows a file system, a
//! block or an edit.
//!
//! The HTTP server is behind the feature `http`, so that who needs a lock file only does not build it.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

#[cfg(feature = "http")]
pub mod http;
pub mod listen;
pub mod log_limiter;
pub mod metrics;
pub mod process;
pub mod process_log;
pub mod storage;
