//! Reading a file. In the order of one read:
//! [`file`] finds the blocks of a range, [`plan`] decides how one is read and says why, [`open`]
//! opens it, [`local`] reads it from its file on this machine or [`remote`] from a DataNode,
//! [`failover`] tries the next replica when that fails, [`ahead`] opens the next block early. [`known`] is the short way to replicas that
//! are open.

mod ahead;
mod block;
mod dead;
mod failover;
mod file;
mod known;
mod local;
mod open;
mod plan;
mod ranges;
mod remote;
mod stats;
mod suspects;
mod vectored;
mod visible_len;

pub(crate) use dead::DeadNodes;
pub(crate) use failover::Cursor;
pub(crate) use file::File;
pub(crate) use local::LocalReads;
pub use local::{CacheStatistics, ZeroCopyRead};
pub use plan::{ReadPath, ReadReason};
pub(crate) use stats::Totals;
pub use stats::{RangeCount, ReadStatistics};
pub(crate) use vectored::parts;
