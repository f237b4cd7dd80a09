//! The end of a written file.

use std::fs::File;
use std::io;

/// Closes a file that was written, and fails if close(2) does.
///
/// Network file systems, and disks with quotas, may report only then that bytes were not written. A `File` that is
/// dropped hides that error.
///
/// # Errors
/// Fails if the system reports an error, which may be of an earlier write.
pub fn finish(file: File) -> io::Result<()> {
    Ok(nix::unistd::close(file)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::FromRawFd;

    /// The errors of close(2) used to be lost, so that a file without its last bytes passed for written.
    #[test]
    fn an_error_of_close_counts() {
        finish(tempfile::tempfile().unwrap()).unwrap();
        // SAFETY: a number above all that a test opens: close(2) fails, and nothing else is done with it.
        let no_file = unsafe { File::from_raw_fd(1 << 19) };
        assert_eq!(finish(no_file).unwrap_err().raw_os_error(), Some(9));
    }
}
