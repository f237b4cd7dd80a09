//! What every daemon needs besides its protocols: its storage directories, its HTTP server, its log and its process.
//!
//! NameNode and DataNode use it; a JournalNode or a gateway is built on the same parts. Nothing here knows a file system, a
//! block or an edit.
//!
//! The HTTP server is behind the feature `http`, so that who needs a lock file only does not build it. Daemons run on Linux: where a
//! client runs elsewhere, the storage directories and what is read of `/proc` are not there.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

#[cfg(feature = "http")]
pub mod events;
#[cfg(feature = "http")]
pub mod http;
pub mod listen;
pub mod log_limiter;
pub mod machines;
pub mod metrics;
pub mod process;
pub mod process_log;
#[cfg(target_os = "linux")]
pub mod storage;
