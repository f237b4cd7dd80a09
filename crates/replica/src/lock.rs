//! `in_use.lock`: one process, and within it one user, of a folder.

use crate::error::{Error, ErrorKind, Result};
use rustix::fs::{FlockOperation, fcntl_lock, flock};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A locked folder; dropping it unlocks.
///
/// Java takes a POSIX record lock, which two users within one process would share; so this takes
/// that one and a `flock` beside it. The file holds `<pid>@<host>`, as Apache writes it.
#[derive(Debug)]
pub struct DirLock {
    path: PathBuf,
    _file: File,
}

impl DirLock {
    /// Locks `folder`, or says who holds it.
    pub fn acquire(folder: &Path) -> Result<Self> {
        let path = folder.join("in_use.lock");
        // A holder removes the file before it unlocks; a lock on a removed file holds nobody back.
        loop {
            let file = Self::lock(&path)?;
            if is_at(&file, &path) {
                return Self::sign(file, path);
            }
        }
    }

    fn lock(path: &Path) -> Result<File> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| Error::io("volume", "open the lock file", path, e))?;
        let operation = FlockOperation::NonBlockingLockExclusive;
        let locked = flock(&file, operation).and_then(|()| fcntl_lock(&file, operation));
        match locked {
            Ok(()) => Ok(file),
            Err(source) => Err(held(path, &mut file, source)),
        }
    }

    fn sign(mut file: File, path: PathBuf) -> Result<Self> {
        let io = |e: std::io::Error| Error::io("volume", "write the lock file", &path, e);
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        file.write_all(holder().as_bytes()).map_err(io)?;
        Ok(Self { path, _file: file })
    }
}

fn held(path: &Path, file: &mut File, source: rustix::io::Errno) -> Error {
    let mut who = String::new();
    let known = file.read_to_string(&mut who).is_ok() && !who.is_empty();
    let advice = match known {
        true => {
            format!("{} uses this folder: stop that process, or name another folder", who.trim())
        }
        false => "another process uses this folder: stop it, or name another folder".to_owned(),
    };
    Error::new(ErrorKind::Locked, "volume", "lock", path, std::io::Error::from(source))
        .advise(advice)
}

/// Whether the path still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()),
        _ => false,
    }
}

fn holder() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{}@{host}", std::process::id())
}

impl Drop for DirLock {
    /// Apache removes the file when it exits; while we hold the lock nobody else can want it.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_user_in_the_same_process_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DirLock::acquire(folder.path()).unwrap();
        let refused = DirLock::acquire(folder.path()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Locked);
        assert!(refused.to_string().contains(&holder()), "{refused}");
        drop(lock);
        DirLock::acquire(folder.path()).unwrap();
    }
}
