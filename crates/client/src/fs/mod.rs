//! The file system for tokio.

mod admin;
mod attributes;
mod cache;
mod erasure_coding;
mod list;
mod moves;
mod paths;
mod reader;
mod snapshots;
mod writer;

pub use list::{Entries, ListPages, Walk};
pub use moves::{BlocksWanted, MoveOutcome, ReplicaMove, ReplicaMoves, StoredBlock};
pub use reader::{ByteStream, FileReader};
pub use writer::FileWriter;

use crate::builder::Builder;
use crate::client::Client;
use crate::error::Result;
use crate::namenode::LocalNameNode;
use crate::read::{CacheStatistics, Hedge, HedgedReads, ReadStatistics};
use crate::runtime;
use std::sync::Arc;
use tokio::runtime::Handle;
use zerohop_conf::Conf;
use zerohop_transport::login::User;
use zerohop_wire::CallerContext;

/// An HDFS file system, for tokio. Paths are absolute and have no scheme. Cheap to clone; clones
/// share connections and leases.
///
/// Connections, and the tasks that keep files alive, belong to a runtime of this crate's own that lives as long as the
/// process. So calls and files may be awaited on several runtimes, one after another, and outside tokio.
///
/// When the future of a call is dropped, the NameNode may carry out the call or not. Two kinds of work continue in the
/// background, and the next call waits for them: a [`FileWriter`] writes the bytes that it has taken, and
/// [`create`](Self::create) and [`append`](Self::append) close the file again, without new bytes.
#[derive(Clone)]
pub struct FileSystem {
    pub(crate) client: Arc<Client>,
}

impl Builder {
    /// Builds a file system for async callers. Sends nothing yet.
    pub fn build(self) -> Result<FileSystem> {
        let (conf, uri, user) = self.finish()?;
        FileSystem::connect_as(&conf, uri.as_deref(), user)
    }
}

impl Builder {
    /// The file system of a NameNode in this process, for tokio: its calls need no connection. Block data moves as with
    /// other clients. Must be called within a tokio runtime.
    pub fn build_within(self, namenode: Arc<dyn LocalNameNode>) -> Result<FileSystem> {
        let (conf, uri, user) = self.finish()?;
        let client = Client::within(&conf, uri.as_deref(), namenode, user, Handle::current())?;
        Ok(FileSystem { client })
    }
}

impl FileSystem {
    /// Builds a client with its own configuration.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The file system of `uri` (`hdfs://host:port` or `hdfs://nameservice`), or of fs.defaultFS, as
    /// the user of this process. Nothing is sent yet.
    pub fn connect(conf: &Conf, uri: Option<&str>) -> Result<Self> {
        Self::connect_as(conf, uri, User::of_process())
    }

    /// The same as `user`.
    pub fn connect_as(conf: &Conf, uri: Option<&str>, user: User) -> Result<Self> {
        Ok(Self { client: Client::new(conf, uri, user, runtime::background()?)? })
    }

    /// `hdfs://host:port` or `hdfs://nameservice`.
    pub fn uri(&self) -> &str {
        &self.client.target.uri
    }

    /// The runtime of this client's tasks. Futures of its calls and files may be awaited elsewhere, too.
    pub fn runtime(&self) -> &Handle {
        &self.client.runtime
    }

    /// What the calls of this file system and its clones say they are for, from now on; none: nothing. NameNodes write it into
    /// their audit logs where `hadoop.caller.context.enabled` is set there (Hadoop's `CallerContext.setCurrent`, which is
    /// of a thread). A NameNode in this process is not told.
    pub fn set_caller_context(&self, context: Option<CallerContext>) {
        self.client.namenode.set_caller_context(context);
    }

    /// What all files opened here have read, and which way it went.
    pub fn read_statistics(&self) -> ReadStatistics {
        self.client.read_totals.snapshot()
    }

    /// How many positional reads of all files opened here asked a second DataNode; all 0 where
    /// `dfs.client.hedged.read.threadpool.size` is 0, as it is by default (`DFSClient.getHedgedReadMetrics`).
    pub fn hedged_reads(&self) -> HedgedReads {
        self.client.hedge.as_ref().map(Hedge::snapshot).unwrap_or_default()
    }

    /// How the replicas of this machine are kept open.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.client.local.statistics()
    }

    /// The user this client acts as.
    pub fn user(&self) -> &User {
        &self.client.user
    }

    /// The user's home directory, where relative paths of the shell start.
    pub fn home(&self) -> String {
        format!("{}/{}", self.client.settings.home_prefix, self.client.user.name)
    }
}
