//! The file that prevents a second balancer or mover, Apache's included: it is open for as long as the first one runs.

use crate::exit::Error;
use zerohop_client::{AppendOptions, CreateOptions, FileSystem, FileWriter};

/// The class of the NameNode's exception for a file that another client has open for writing.
const BEING_WRITTEN: &str = "AlreadyBeingCreatedException";

/// The open file of a balancer or mover.
pub(crate) struct RunningMark {
    fs: FileSystem,
    path: &'static str,
    writer: FileWriter,
}

impl RunningMark {
    /// Opens the file for `program`; an error if another one has it open.
    pub(crate) async fn take(
        fs: &FileSystem,
        program: &'static str,
        path: &'static str,
    ) -> Result<Self, Error> {
        Self::open(fs, path).await.map_err(|error| {
            let class = error.java_class().unwrap_or_default();
            match class.ends_with(BEING_WRITTEN) {
                true => Error::AlreadyRunning(program, path),
                false => Error::Client(error),
            }
        })
    }

    async fn open(fs: &FileSystem, path: &'static str) -> zerohop_client::Result<Self> {
        if fs.exists(path).await? {
            // One that was killed left it. To append fails while its writer lives.
            fs.append(path, AppendOptions::default()).await?.close().await?;
            fs.delete(path, false).await?;
        }
        let options = CreateOptions::default().should_replicate(true);
        let mut writer = fs.create(path, options).await?;
        let host = rustix::system::uname();
        writer.write(host.nodename().to_bytes()).await?;
        writer.hflush().await?;
        Ok(Self { fs: fs.clone(), path, writer })
    }

    /// Closes the file and deletes it. What fails is only logged: the next one can do without.
    pub(crate) async fn release(mut self) {
        if let Err(error) = self.writer.close().await {
            tracing::warn!("cannot close {}: {error}", self.path);
        }
        if let Err(error) = self.fs.delete(self.path, false).await {
            tracing::warn!("cannot delete {}: {error}", self.path);
        }
    }
}
