//! Files whose last error counts: with a quota or over a network, a file system may refuse data only when it is closed.
//!
//! Dropping a `File` closes it too, but hides the error.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::errno::Errno;

/// Closes a file that was written.
///
/// # Errors
///
/// Fails if the file system refuses data that it has accepted before, for example with `EDQUOT` over NFS.
pub fn close(file: impl Into<OwnedFd>) -> io::Result<()> {
    match nix::unistd::close(file.into()) {
        // Linux closes the file before a signal can interrupt it; Java accepts this too.
        Ok(()) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Like [`std::fs::write`], but an error of closing is an error.
///
/// # Errors
///
/// Fails if the file cannot be created, written or closed.
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes.as_ref())?;
    close(file)
}

/// Like [`std::fs::copy`], but an error of closing is an error.
///
/// # Errors
///
/// Fails if `from` cannot be read, or if `to` cannot be created, written or closed.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = File::create(to)?;
    target.set_permissions(source.metadata()?.permissions())?;
    io::copy(&mut source, &mut target)?;
    close(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::FromRawFd;

    /// The errors of close(2) used to be lost, so that a file without its last bytes passed for written.
    #[test]
    fn an_error_of_close_counts() {
        close(tempfile::tempfile().unwrap()).unwrap();
        // SAFETY: a number above all that a test opens: close(2) fails, and nothing else is done with it.
        let no_file = unsafe { OwnedFd::from_raw_fd(1 << 19) };
        assert_eq!(close(no_file).unwrap_err().raw_os_error(), Some(9));
    }
}
