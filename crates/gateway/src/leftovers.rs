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

/// Has the NameNode close a file for which this client has the lease, as soon as it answers.
pub(crate) fn close(fs: FileSystem, path: String) {
    tokio::spawn(Leftover { fs, path, unfinished: None }.until_ended());
}

/// Deletes a file that was not written to its end, unless there is another one of that name by then.
pub(crate) fn delete(fs: FileSystem, path: String, file_id: u64) {
    tokio::spawn(Leftover { fs, path, unfinished: Some(file_id) }.until_ended());
}

struct Leftover {
    fs: FileSystem,
    path: String,
    /// The inode of a file that is to be deleted; others are closed.
    unfinished: Option<u64>,
}

impl Leftover {
    async fn until_ended(self) {
        for number in 0..TRIES_MAX {
            match self.end().await {
                Ok(()) => return,
                Err(error) if error.kind() == ErrorKind::NotFound => return,
                Err(error) if number == 0 => {
                    tracing::warn!("{} is left open for now: {error}", self.path);
                }
                Err(_) => {}
            }
            clock::sleep(ASK_INTERVAL).await;
        }
        tracing::warn!("{} is left open: its writer failed", self.path);
    }

    async fn end(&self) -> Result<()> {
        let Some(file_id) = self.unfinished else {
            // The first answer counts: once a recovery was begun, another client may have the file next.
            return self.fs.recover_lease(&self.path).await.map(drop);
        };
        if self.fs.status(&self.path).await?.file_id.0 == file_id {
            self.fs.delete(&self.path, false).await?;
        }
        Ok(())
    }
}
