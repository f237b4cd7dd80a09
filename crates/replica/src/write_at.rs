//! All bytes at an offset, or an error.

use std::fs::File;
use std::io::{self, IoSlice};

/// Slices that one call takes (`IOV_MAX`).
const SLICES_MAX: usize = 1024;

/// Writes runs of bytes, one behind the other, at `offset`, by one call where the system takes all
/// of it.
pub(crate) fn write_runs_at<'a>(
    file: &File,
    runs: impl Iterator<Item = &'a [u8]>,
    mut offset: u64,
) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> =
        runs.filter(|run| !run.is_empty()).map(IoSlice::new).collect();
    let mut left = slices.as_mut_slice();
    while !left.is_empty() {
        let now = left.get(..left.len().min(SLICES_MAX)).unwrap_or_default();
        match rustix::io::pwritev(file, now, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                IoSlice::advance_slices(&mut left, written);
                offset += written as u64;
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
