//! Every way to read a block, verified and not, from a warm and from a dropped page cache, each
//! beside plain read(2) or pread(2) of the same bytes in the same turn.

mod args;
mod cache;
mod cell;
mod cluster_files;
mod drive;
mod html;
mod plan;
mod published;
mod read_mode;
mod row;
mod source;
mod table;

pub use args::{MatrixArgs, Sink, USAGE};
pub use cache::{CacheDropper, drop_file};
pub use cell::{Cell, Op};
pub use cluster_files::{FileBlocks, find};
pub use html::to_html;
pub use plan::{Matrix, Plan};
pub use published::{PUBLISHED, Published, beside_published};
pub use read_mode::ReadMode;
pub use row::{Row, Rows};
pub use source::{Blocks, Reader, Source};
