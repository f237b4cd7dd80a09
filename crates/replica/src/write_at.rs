//! All bytes at an offset, or an error.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;

/// Writes two runs of bytes, one behind the other, at `offset`, by one call where the system takes
/// all of it.
pub(crate) fn write_two_at(
    file: &File,
    first: &[u8],
    second: &[u8],
    offset: u64,
) -> io::Result<()> {
    if first.is_empty() {
        return file.write_all_at(second, offset);
    }
    let slices = [IoSlice::new(first), IoSlice::new(second)];
    let written = loop {
        match rustix::io::pwritev(file, &slices, offset) {
            Err(rustix::io::Errno::INTR) => continue,
            other => break other?,
        }
    };
    if written == 0 && first.len() + second.len() > 0 {
        return Err(io::ErrorKind::WriteZero.into());
    }
    let (from_first, from_second) = (written.min(first.len()), written.saturating_sub(first.len()));
    file.write_all_at(&first[from_first..], offset + from_first as u64)?;
    file.write_all_at(&second[from_second..], offset + (first.len() + from_second) as u64)
}
