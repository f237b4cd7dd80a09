//! What local reads cost besides the reading, which `dfsio --matrix` measures: opening, the page cache's
//! state of block files, and the way through the domain socket.

mod block_files;
mod files;
mod opens;
mod socket;
mod turns;

pub use files::LocalReads;

use crate::files::Failure;
use crate::report::Row;
use files::Files;

/// Writes a file, measures, and gives each row to `out`.
pub fn local_reads(work: &LocalReads, out: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let files = Files::make(work)?;
    block_files::block_files(&files, out)?;
    socket::data_traffic(&files, out)?;
    opens::opens(&files, out)
}
