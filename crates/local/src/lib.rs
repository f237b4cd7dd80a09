//! This machine's own file system in the role of Hadoop's `LocalFileSystem`, for the shell and the C library.
//!
//! Paths are absolute and have no scheme. Hadoop keeps checksums of a file `NAME` in `.NAME.crc`. Listings hide these
//! side files. A file that is written, renamed or deleted takes its side file along, because Hadoop's programs cannot
//! read a file that its checksums do not fit.

mod crc_file;
mod error;
mod files;
mod moves;
mod names;

pub use crc_file::{is_crc_file, write_crc_file};
pub use error::{LocalError, Result};
pub use files::{BLOCK_SIZE, Entry, LocalFiles};
