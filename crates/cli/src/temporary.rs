//! Temporary directories that hold a cluster.

use std::io::ErrorKind;

use tempfile::TempDir;

/// A thread that is still at work makes a few files at most before the directory is gone.
const TRIES: usize = 20;

/// Removes a directory with all that is in it, also where threads that end with the process still make
/// files there.
pub fn remove(directory: TempDir) {
    let path = directory.keep();
    for left in (0..TRIES).rev() {
        match std::fs::remove_dir_all(&path) {
            Ok(()) => return,
            Err(error) if error.kind() == ErrorKind::NotFound && !path.exists() => return,
            Err(error) if left == 0 => {
                noteln!("{} could not be removed: {error}; remove it by hand", path.display());
            }
            Err(_) => {}
        }
    }
}
