//! Why a NameNode does not start, or stops.

use std::path::PathBuf;
use thiserror::Error;
use zerohop_conf::ConfError;
use zerohop_daemon::listen;

/// Why a NameNode cannot be formatted or started; each message says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// The configuration is wrong.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// A value of the configuration does not make sense here.
    #[error("{0}")]
    Invalid(String),
    /// A port cannot be listened on.
    #[error("cannot listen on {address} ({key}): {source}; {}", listen::advice(source))]
    Bind {
        /// Host and port.
        address: String,
        /// The key to change.
        key: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The name directories cannot be used.
    #[error("{0}")]
    Storage(String),
    /// A file of the name directories cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn bind(address: &str, key: &'static str, source: std::io::Error) -> Self {
        Self::Bind { address: address.to_owned(), key, source }
    }
}
