//! Segments: the files the edit log is made of.
//!
//! ```text
//! +------------+---------+---------------------------+--------+-----+---------------------+---------+
//! | layout 4   | flags 4 | OP_START_LOG_SEGMENT      | record | ... | OP_END_LOG_SEGMENT  | padding |
//! +------------+---------+---------------------------+--------+-----+---------------------+---------+
//! ```
//! While written, a segment is `edits_inprogress_<first>`; finished, `edits_<first>-<last>`, both
//! ids as 19 digits. The padding, bytes of 0xff, is written a megabyte ahead so that a sync of new
//! records does not also have to sync the file's length. Source: `EditLogFileOutputStream`,
//! `EditLogFileInputStream`, `FileJournalManager`.

mod direct;
mod format;
mod name;
mod reader;
mod scan;
mod writer;

pub use format::HEADER_LEN;
pub use name::{SegmentFile, SegmentKind, finalized_name, in_progress_name, list, parse_name};
pub use reader::SegmentReader;
pub use scan::{Scan, Tail, holds_no_record, last_record_behind, scan};
pub use writer::{SegmentWriter, rename, sync_dir};
