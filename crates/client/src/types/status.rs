//! What is known of a path.

use super::located::LocatedBlocks;

/// What is known of a path (`HdfsFileStatus`), and where its blocks are.
pub type FileStatus = zerohop_wire::FileStatus<LocatedBlocks>;
