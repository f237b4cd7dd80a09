//! The NameNode's files as bytes: edit-log operations, segment files and the fsimage container.
//!
//! Nothing here knows a namespace or a network. [`op`] is the vocabulary of every change to the
//! namespace, [`segment`] the files it is logged to, [`log`] the places that keep and give back the edit log, [`image`] the
//! checkpoint's container.

pub mod codec;
pub mod error;
pub mod image;
pub mod layout;
pub mod log;
pub mod op;
#[cfg(feature = "samples")]
pub mod samples;
pub mod segment;
pub mod types;

pub use error::{DecodeError, JournalError};
pub use layout::LayoutVersion;
pub use op::EditOp;
