//! Reading a file. In the order of one read:
//! [`file`] finds the blocks of a range, which [`located`] keeps, [`plan`] decides how one is read and says why, [`open`]
//! opens it, [`local`] reads it from its file on this machine or [`remote`] from a DataNode,
//! [`failover`] tries the next replica when that fails, and [`steps`] asks the NameNode for what that needs;
//! [`ahead`] opens the next block early. [`call`] is a thread's read. [`open_replicas`] is the short way to replicas
//! that are open, [`memory`] that of tasks, which else go by [`task`]. [`hedged`] asks a second DataNode where the
//! first one is slow, and [`race`] is what its two attempts share. [`buffers`] are used again when the bytes in them
//! are dropped.

mod ahead;
mod block;
mod buffers;
mod call;
mod dead;
mod failover;
mod file;
mod hedge;
mod hedged;
#[cfg(all(feature = "local", target_os = "linux"))]
mod local;
#[cfg(not(all(feature = "local", target_os = "linux")))]
#[path = "no_local.rs"]
mod local;
mod local_outcome;
mod located;
mod memory;
mod open;
mod open_replicas;
mod opened_ahead;
mod plan;
mod race;
mod ranges;
mod remote;
mod stats;
mod steps;
mod suspects;
mod task;
mod tried;
mod vectored;
mod visible_len;

pub(crate) use buffers::{Buffer, Buffers};
pub(crate) use dead::DeadNodes;
pub(crate) use failover::Cursor;
pub(crate) use file::File;
pub(crate) use hedge::Hedge;
pub use hedge::HedgedReads;
pub(crate) use local::LocalReads;
pub use local::ZeroCopyRead;
pub use local_outcome::CacheStatistics;
pub(crate) use memory::{INLINE_MAX, TaskFile};
pub use plan::{ReadPath, ReadReason};
pub(crate) use stats::Totals;
pub use stats::{RangeCount, ReadStatistics};
pub(crate) use task::Fetched;
pub(crate) use vectored::{borrowed, parts};
