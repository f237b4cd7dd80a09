//! The file system for plain threads: the same names, without `await`.
//!
//! Must not be called on a thread of a tokio runtime: such a thread may not wait.

mod forward;
mod reader;
mod writer;

pub use reader::FileReader;
pub use writer::FileWriter;

use crate::builder::Builder;
use crate::checksum::{FileChecksum, Summed};
use crate::client::Client;
use crate::error::Result;
use crate::fs;
use crate::namenode::wire_path;
use crate::read::{CacheStatistics, HedgedReads, ReadStatistics};
use crate::runtime;
use crate::types::{AppendOptions, CreateOptions, FileStatus, OpenOptions};
use std::borrow::Cow;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_transport::login::User;
use zerohop_wire::CallerContext;

/// An HDFS file system, for plain threads. Paths are absolute and have no scheme. Cheap to clone.
#[derive(Clone)]
pub struct FileSystem {
    inner: fs::FileSystem,
}

impl Builder {
    /// The file system for plain threads. Nothing is sent yet.
    pub fn build_blocking(self) -> Result<FileSystem> {
        let (conf, uri, user) = self.finish()?;
        FileSystem::connect_as(&conf, uri.as_deref(), user)
    }
}

impl FileSystem {
    /// The file system of `uri` (`hdfs://host:port` or `hdfs://nameservice`), or of fs.defaultFS, as
    /// the user of this process. Nothing is sent yet.
    pub fn connect(conf: &Conf, uri: Option<&str>) -> Result<Self> {
        Self::connect_as(conf, uri, User::of_process())
    }

    /// The same as `user`.
    pub fn connect_as(conf: &Conf, uri: Option<&str>, user: User) -> Result<Self> {
        let client = Client::new(conf, uri, user, runtime::background()?)?;
        Ok(Self { inner: fs::FileSystem { client } })
    }

    /// `hdfs://host:port` or `hdfs://nameservice`.
    pub fn uri(&self) -> &str {
        self.inner.uri()
    }

    /// Returns the path of a text that is a path, or a URI of this file system. See [`fs::FileSystem::path_of`].
    ///
    /// # Errors
    /// Fails for a URI of another file system.
    pub fn path_of<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        self.inner.path_of(text)
    }

    /// What the calls of this file system and its clones say they are for, from now on, for the audit logs of NameNodes;
    /// none: nothing.
    pub fn set_caller_context(&self, context: Option<CallerContext>) {
        self.inner.set_caller_context(context);
    }

    /// What all files opened here have read, and which way it went.
    pub fn read_statistics(&self) -> ReadStatistics {
        self.inner.read_statistics()
    }

    /// How many positional reads of all files opened here asked a second DataNode.
    pub fn hedged_reads(&self) -> HedgedReads {
        self.inner.hedged_reads()
    }

    /// How the replicas of this machine are kept open.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.inner.cache_statistics()
    }

    /// The user this client acts as.
    pub fn user(&self) -> &User {
        self.inner.user()
    }

    /// The user's home directory, where relative paths of the shell start.
    pub fn home(&self) -> String {
        self.inner.home()
    }

    /// Opens a file for reading.
    pub fn open(&self, path: &str) -> Result<FileReader> {
        self.open_with(path, OpenOptions::default())
    }

    /// The same with options.
    pub fn open_with(&self, path: &str, options: OpenOptions) -> Result<FileReader> {
        FileReader::open(&self.inner.client, wire_path(path)?, options)
    }

    /// Makes a file and opens it for writing.
    pub fn create(&self, path: &str, options: CreateOptions) -> Result<FileWriter> {
        FileWriter::create(&self.inner.client, wire_path(path)?, options)
    }

    /// Opens a file for writing at its end.
    pub fn append(&self, path: &str, options: AppendOptions) -> Result<FileWriter> {
        FileWriter::append(&self.inner.client, wire_path(path)?, options)
    }

    /// A file's checksum by `dfs.checksum.combine.mode`; `None` where block data has none.
    pub fn checksum(&self, path: &str) -> Result<Option<FileChecksum>> {
        self.checksum_of(path, u64::MAX)
    }

    /// The checksum of a file's first `len` bytes.
    pub fn checksum_of(&self, path: &str, len: u64) -> Result<Option<FileChecksum>> {
        let client = &self.inner.client;
        client.wait(Summed::locate(client, wire_path(path)?, len))?.compute(client)
    }

    /// What a directory holds, in order of name, fetched page by page as the iterator advances.
    pub fn entries(&self, path: &str) -> impl Iterator<Item = Result<FileStatus>> + Send + use<> {
        let (client, mut entries) = (Arc::clone(&self.inner.client), self.inner.entries(path));
        std::iter::from_fn(move || client.wait(entries.next()))
    }

    /// What lies below a path: see [`FileSystem::walk`](crate::FileSystem::walk).
    pub fn walk(&self, path: &str) -> impl Iterator<Item = Result<FileStatus>> + Send + use<> {
        let (client, mut walk) = (Arc::clone(&self.inner.client), self.inner.walk(path));
        std::iter::from_fn(move || client.wait(walk.next()))
    }

    /// A listing, fetched page by page as the iterator advances.
    pub fn list_pages(
        &self,
        path: &str,
    ) -> Result<impl Iterator<Item = Result<Vec<FileStatus>>> + Send + use<>> {
        let mut pages = self.inner.list_pages(path)?;
        let client = pages.client();
        let mut has_failed = false;
        Ok(std::iter::from_fn(move || {
            if has_failed {
                return None;
            }
            let page = client.wait(pages.next()).transpose();
            has_failed = matches!(page, Some(Err(_)));
            page
        }))
    }
}
