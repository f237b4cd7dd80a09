//! Why a DataNode could not start or go on: one line that says what to do.

use std::net::SocketAddr;

use zerohop_daemon::listen;

/// Why a DataNode does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is absent, malformed or contradicts another one.
    #[error("{0}")]
    Config(String),
    /// A port is taken or the address is not ours.
    #[error("cannot listen on {addr} ({key}): {source}; {}", listen::advice(source))]
    Bind {
        /// The address that was asked for.
        addr: SocketAddr,
        /// The configuration key it came from.
        key: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The domain socket cannot be made, or would not be safe.
    #[error("cannot listen at dfs.domain.socket.path {}: {source}", path.display())]
    DomainSocket {
        /// Its path, with the port in it.
        path: std::path::PathBuf,
        /// What is wrong and what helps.
        source: std::io::Error,
    },
    /// No volume, or too few of them, could be opened.
    #[error(
        "{failed} of {configured} volumes in dfs.datanode.data.dir failed, dfs.datanode.failed.volumes.tolerated is {tolerated}; first: {first}"
    )]
    TooManyFailedVolumes {
        /// Volumes that failed.
        failed: usize,
        /// Volumes that are configured.
        configured: usize,
        /// The limit.
        tolerated: i64,
        /// What was wrong with the first of them.
        first: String,
    },
    /// A directory cannot be used; the text names it and says what to do.
    #[error("{0}")]
    Volume(String),
    /// An administrator told it to stop (`hdfs dfsadmin -shutdownDatanode`).
    #[error("shutdownDatanode was called")]
    ShutDown,
    /// It ran and cannot go on: refused by its NameNodes, or too many volumes failed.
    #[error("{0}")]
    Stopped(String),
    /// A system resource (thread, poller) was refused.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl From<zerohop_conf::ConfError> for Error {
    fn from(error: zerohop_conf::ConfError) -> Self {
        Self::Config(error.to_string())
    }
}
