//! Files whose stream failed, and which the NameNode could not be told of at once.
//!
//! A client renews its lease as long as it writes any file. One that it gave up would stay open as long as the gateway lives, and
//! nobody could append to it.

use std::time::Duration;
use zerohop_client::{ErrorKind, FileSystem, Result};
use zerohop_system::clock;

const ASK_INTERVAL: Duration = Duration::from_secs(1);
/// After so many tries the administrator is left with the file.
const TRIES_MAX: usize = 3600;

/// Has the NameNode close a file for which this client has the lease, as soon as it answers: this inode, whatever its name is by
/// then, and no other one that has taken its name.
pub(crate) fn close(fs: FileSystem, path: String, file_id: u64) {
    let (at, end) = (inode_path(file_id), End::Close);
    tokio::spawn(Leftover { fs, path, at, end }.until_ended());
}

/// Deletes a file that was not written to its end; if the NameNode does not answer, as soon as it does. `at` is a name that no
/// other file gets: its inode's path, or a random one.
pub(crate) async fn delete(fs: FileSystem, path: String, at: String) {
    let leftover = Leftover { fs, path, at, end: End::Delete };
    if !Leftover::is_ended(&leftover.try_to_end().await) {
        tokio::spawn(leftover.until_ended());
    }
}

/// The path by which the NameNode finds an inode, wherever it is.
pub(crate) fn inode_path(file_id: u64) -> String {
    format!("/.reserved/.inodes/{file_id}")
}

struct Leftover {
    fs: FileSystem,
    /// Its name, for the log.
    path: String,
    /// Where the NameNode finds it.
    at: String,
    end: End,
}

enum End {
    Close,
    Delete,
}

impl Leftover {
    async fn until_ended(self) {
        for number in 0..TRIES_MAX {
            let tried = self.try_to_end().await;
            if Self::is_ended(&tried) {
                return;
            }
            if let (0, Err(error)) = (number, tried) {
                tracing::warn!("{} is left open for now: {error}", self.path);
            }
            clock::sleep(ASK_INTERVAL).await;
        }
        tracing::warn!("{} is left open: its writer failed", self.path);
    }

    /// What is gone needs no end.
    fn is_ended(tried: &Result<()>) -> bool {
        tried.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::NotFound)
    }

    async fn try_to_end(&self) -> Result<()> {
        match self.end {
            // The first answer counts: once a recovery was begun, another client may have the file next.
            End::Close => self.fs.recover_lease(&self.at).await.map(drop),
            End::Delete => self.fs.delete(&self.at, false).await.map(drop),
        }
    }
}
