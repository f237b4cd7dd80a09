//! `in_use.lock`: one process at a time, Java's or ours.

use super::error::StorageError;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A locked folder; unlocked, and the file removed, when dropped.
#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    _file: File,
}

impl FolderLock {
    /// Locks `<dir>/in_use.lock` and writes `pid@host` into it, as the JVM's name is.
    pub fn take(dir: &Path) -> Result<Self, StorageError> {
        let path = dir.join("in_use.lock");
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(StorageError::io("open", &path))?;
            if !try_lock(&file).map_err(StorageError::io("lock", &path))? {
                return Err(StorageError::Locked { path: dir.to_owned(), owner: owner(&mut file) });
            }
            // The owner before may have removed the file between our open and our lock.
            if !is_at(&file, &path) {
                continue;
            }
            let name = format!("{}@{}", std::process::id(), host());
            file.set_len(0)
                .and_then(|()| file.write_all(name.as_bytes()))
                .map_err(StorageError::io("write", &path))?;
            return Ok(Self { path, _file: file });
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(there)) => held.ino() == there.ino() && held.dev() == there.dev(),
        _ => false,
    }
}

fn owner(file: &mut File) -> String {
    let mut name = String::new();
    let read = file.rewind().and_then(|()| file.take(256).read_to_string(&mut name));
    match read {
        Ok(len) if len > 0 => name.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}

/// Java's `FileChannel.tryLock` takes a record lock over the whole file. An open-file-description
/// lock conflicts with those, and, unlike them, with other opens in this process.
fn try_lock(file: &File) -> std::io::Result<bool> {
    let lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open for the call's duration and `lock` is a valid flock record
    // that the kernel only reads.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) };
    if done == 0 {
        return Ok(true);
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error),
    }
}

/// This machine's name.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
