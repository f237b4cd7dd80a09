//! LZO: the compression LZO1X, files of the program lzop, and the index files by which they are split.

mod header;
mod index;
pub mod lzo1x;
mod reader;
mod split;
mod writer;

pub use index::LzoIndex;
pub use reader::LzopReader;
pub use split::LzopSplit;
pub(crate) use writer::{append_blocks, end, file_header};

/// The format's name in errors.
pub(crate) const FORMAT: &str = "lzop";
