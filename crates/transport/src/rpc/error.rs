//! What a call can end with besides its answer.

use std::io;
use std::time::Duration;
use zerohop_wire::{JavaException, RemoteException};

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RpcError {
    /// The server answered with an exception.
    #[error("{0}")]
    Remote(RemoteException),
    /// No connection; nothing was sent.
    #[error("Call to {addr} failed on connection: {source}")]
    Connect {
        /// The server, as it was named.
        addr: String,
        /// What the system said.
        source: io::Error,
    },
    /// The connection broke while the call was under way: the server may have done it or not.
    #[error("Call to {addr} failed: {source}")]
    Io {
        /// The server, as it was named.
        addr: String,
        /// What the system said.
        source: io::Error,
    },
    /// No answer in time: the server may do it or not.
    #[error("Call to {addr} timed out after {} ms", after.as_millis())]
    Timeout {
        /// The server, as it was named.
        addr: String,
        /// How long the call waited.
        after: Duration,
    },
    /// The answer is not what the protocol says.
    #[error("Answer of {addr} cannot be read: {reason}")]
    Protocol {
        /// The server, as it was named.
        addr: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl RpcError {
    /// The exception that the server sent, if it sent one.
    pub fn remote(&self) -> Option<&RemoteException> {
        match self {
            Self::Remote(exception) => Some(exception),
            _ => None,
        }
    }

    /// The server's exception as a class of the table.
    pub fn remote_kind(&self) -> Option<JavaException> {
        self.remote().and_then(RemoteException::kind)
    }

    /// Whether the call certainly did not reach a server.
    pub fn was_not_sent(&self) -> bool {
        matches!(self, Self::Connect { .. })
    }
}

impl From<RemoteException> for RpcError {
    fn from(exception: RemoteException) -> Self {
        Self::Remote(exception)
    }
}
