//! The DataNode: block data over the transfer port, volumes, and the talk with NameNodes.
//!
//! Block data is served by plain threads, control by tokio tasks of the caller's runtime. One file
//! an operation under `op`; the files of replicas belong to `zerohop_replica`.

mod error;
mod node;
mod settings;
mod transfer;

pub use error::Error;
pub use node::DataNode;
