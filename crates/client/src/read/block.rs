//! A block that is being read, whichever way.

use super::local::LocalReplica;
use super::local_outcome::OpenError;
use super::plan::{NotLocal, ReadPath, ReadReason};
use super::remote::{ReadError, RemoteBlock};
use crate::client::Peer;
use crate::types::Verify;
use std::sync::Arc;
use zerohop_transport::net::DataStream;

pub(super) enum BlockReader {
    Local(LocalBlock),
    /// With the reason why it is not local.
    Remote(Box<RemoteBlock>, ReadReason),
}

/// A range of a replica of this machine.
pub(super) struct LocalBlock {
    pub(super) replica: Arc<LocalReplica>,
    /// In the block, the next byte for the caller; `pos <= end`.
    pub(super) pos: u64,
    pub(super) end: u64,
    pub(super) verify: Verify,
    /// Whether what was read last was verified.
    pub(super) was_checked: bool,
}

impl LocalBlock {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        let rest = usize::try_from(self.end - self.pos).unwrap_or(usize::MAX);
        let len = out.len().min(rest);
        let Some(room) = out.get_mut(..len) else { return Ok(0) };
        let checked = self.replica.read(self.pos, room, self.verify);
        self.was_checked = checked.map_err(ReadError::Local)?;
        self.pos += len as u64;
        Ok(len)
    }
}

impl BlockReader {
    pub(super) fn pos(&self) -> u64 {
        match self {
            Self::Local(local) => local.pos,
            Self::Remote(remote, _) => remote.pos(),
        }
    }

    pub(super) fn end(&self) -> u64 {
        match self {
            Self::Local(local) => local.end,
            Self::Remote(remote, _) => remote.end(),
        }
    }

    pub(super) fn path(&self) -> ReadPath {
        match self {
            Self::Local(local) => path_of(&local.replica),
            Self::Remote(remote, _) => remote.path(),
        }
    }

    pub(super) fn reason(&self) -> ReadReason {
        match self {
            Self::Local(_) => ReadReason::None,
            Self::Remote(_, reason) => *reason,
        }
    }

    /// Whether what was read last was compared with its checksums.
    pub(super) fn was_checked(&self) -> bool {
        match self {
            Self::Local(local) => local.was_checked,
            Self::Remote(remote, _) => remote.verifies(),
        }
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        match self {
            Self::Local(local) => local.read(out),
            Self::Remote(remote, _) => remote.read(out),
        }
    }

    /// Whether what was read last came from this machine's disk, not from the page cache.
    pub(super) fn reads_from_disk(&self) -> bool {
        match self {
            Self::Local(local) => local.replica.was_cold_before(local.pos),
            Self::Remote(..) => false,
        }
    }

    /// Reports to the DataNode that it sent corrupt data.
    pub(super) fn complain(&mut self) {
        if let Self::Remote(remote, _) = self {
            remote.complain();
        }
    }

    /// The connection, where it may carry another request.
    pub(super) fn into_connection(self) -> Option<(Peer, DataStream)> {
        match self {
            Self::Local(_) => None,
            Self::Remote(remote, _) => remote.into_connection(),
        }
    }
}

pub(super) fn path_of(replica: &LocalReplica) -> ReadPath {
    if replica.is_mapped() { ReadPath::LocalMapped } else { ReadPath::Local }
}

impl From<OpenError> for NotLocal {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NotLocal(why) => why,
            OpenError::Token(text) => Self::new(ReadReason::Token, text),
            OpenError::NeedsPaths => {
                Self::new(ReadReason::LocalFailed, "no DataNode was asked for the replica's paths")
            }
        }
    }
}
