//! Reading a file. In the order of one read:
//! [`file`] finds the blocks of a range, [`plan`] decides how one is read and says why,
//! [`remote`] reads it from a DataNode, [`failover`] tries the next replica when that fails.

mod dead;
mod failover;
mod file;
mod plan;
mod remote;
mod stats;
mod visible_len;

pub(crate) use dead::DeadNodes;
pub(crate) use failover::Cursor;
pub(crate) use file::File;
pub use plan::{ReadPath, ReadReason};
pub use stats::ReadStatistics;
