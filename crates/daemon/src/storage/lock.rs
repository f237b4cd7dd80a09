//! `in_use.lock`: one daemon at a time has a storage directory, be it Apache's or ours.

use super::file::FileError;
use crate::process;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const WHOLE_FILE: libc::flock = libc::flock {
    l_type: libc::F_WRLCK as libc::c_short,
    l_whence: libc::SEEK_SET as libc::c_short,
    l_start: 0,
    l_len: 0,
    l_pid: 0,
};

/// Bytes that are read of another owner's name.
const OWNER_MAX: u64 = 256;

/// A locked directory. Dropping it removes the lock file and unlocks.
#[derive(Debug)]
pub struct DirectoryLock {
    path: PathBuf,
    _file: File,
}

/// Why a directory is not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon has it.
    #[error(
        "Cannot lock storage {}. The directory is already locked by {}; stop that process first",
        directory.display(),
        owner.as_deref().unwrap_or("another process")
    )]
    Held {
        /// The directory.
        directory: PathBuf,
        /// `pid@host` of the process that has it, if it wrote that.
        owner: Option<String>,
    },
    /// The lock file cannot be made, locked or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl DirectoryLock {
    /// Locks `<directory>/in_use.lock` and writes `pid@host` into it, as Apache's daemons do.
    ///
    /// # Errors
    /// [`LockError::Held`] if a daemon has the directory, also one in this process.
    pub fn acquire(directory: &Path) -> Result<Self, LockError> {
        let path = directory.join("in_use.lock");
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(FileError::new("open", &path))?;
            if !try_lock(&file).map_err(|error| FileError::new("lock", &path)(error.into()))? {
                let directory = directory.to_owned();
                return Err(LockError::Held { directory, owner: owner(file) });
            }
            // The owner before may have removed the file between our open and our lock; a lock on a removed file holds
            // nobody back.
            if !is_at(&file, &path) {
                continue;
            }
            file.set_len(0)
                .and_then(|()| file.write_all(process::name().as_bytes()))
                .map_err(FileError::new("write", &path))?;
            return Ok(Self { path, _file: file });
        }
    }
}

impl Drop for DirectoryLock {
    /// Apache's daemons remove the file when they exit. No other process can have locked it meanwhile.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether the path still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

fn owner(file: File) -> Option<String> {
    let mut name = String::new();
    file.take(OWNER_MAX).read_to_string(&mut name).ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Takes a record lock over the whole file, as Java's `FileChannel.tryLock` does. Ours belongs to the open file, not to the
/// process: it conflicts with Java's, with that of another daemon in this process, and stays when another descriptor of the
/// file is closed.
fn try_lock(file: &File) -> Result<bool, Errno> {
    match fcntl(file, FcntlArg::F_OFD_SETLK(&WHOLE_FILE)) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_daemon_in_the_same_process_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::acquire(directory.path()).unwrap();
        let refused = DirectoryLock::acquire(directory.path()).unwrap_err();
        let own_name = process::name();
        assert!(
            matches!(&refused, LockError::Held { owner: Some(owner), .. } if *owner == own_name),
            "{refused}"
        );
        drop(lock);
        DirectoryLock::acquire(directory.path()).unwrap();
    }

    const DIRECTORY: &str = "ZEROHOP_TEST_LOCKED_DIRECTORY";

    /// A lock of the process, which Java takes and which ends with the first descriptor that is closed, was lost when a
    /// second daemon of the process was refused.
    #[test]
    fn a_refused_attempt_took_the_lock_from_its_owner() {
        if let Some(directory) = std::env::var_os(DIRECTORY) {
            let path = Path::new(&directory).join("in_use.lock");
            let file = OpenOptions::new().write(true).open(path).unwrap();
            let mut javas_kind = WHOLE_FILE;
            javas_kind.l_len = i64::MAX;
            let locked = fcntl(&file, FcntlArg::F_SETLK(&javas_kind));
            assert!(matches!(locked, Err(Errno::EAGAIN | Errno::EACCES)), "{locked:?}");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let _lock = DirectoryLock::acquire(directory.path()).unwrap();
        assert!(DirectoryLock::acquire(directory.path()).is_err());
        let test = "storage::lock::tests::a_refused_attempt_took_the_lock_from_its_owner";
        let mut other = std::process::Command::new(std::env::current_exe().unwrap());
        other.args(["--exact", test]).env(DIRECTORY, directory.path());
        let other = other.output().unwrap();
        assert!(other.status.success(), "{}", String::from_utf8_lossy(&other.stdout));
    }
}
