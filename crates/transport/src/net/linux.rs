//! What a [`DataStream`] can do on Linux alone: domain sockets with descriptors, and files that are sent without a copy.

use super::data_stream::DataStream;
use crate::domain;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// Why a part of a file was not sent.
#[derive(Debug)]
pub enum SendFileError {
    /// The file could not be read.
    File(io::Error),
    /// The connection failed.
    Connection(io::Error),
}

impl DataStream {
    /// Connects to a domain socket; see [`domain::connect`].
    pub fn connect_domain(path: &Path, timeout: Duration) -> io::Result<Self> {
        Ok(Self { socket: domain::connect(path, timeout)? })
    }

    /// The process at the other end of a domain socket.
    pub fn domain_peer(&self) -> Option<domain::Peer> {
        let is_domain = self.socket.peer_addr().is_ok_and(|addr| addr.is_unix());
        if is_domain { domain::peer(&self.socket).ok() } else { None }
    }

    /// Sends all of `bytes`, and says that more follows at once.
    pub fn write_more(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::net::send(&self.socket, bytes, SendFlags::MORE | SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = bytes.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sends `len` bytes of a file from `offset` on, without a copy.
    pub fn send_file(
        &self,
        file: impl AsFd,
        mut offset: u64,
        len: usize,
    ) -> Result<(), SendFileError> {
        let end = offset + len as u64;
        while offset < end {
            let left = (end - offset) as usize;
            match rustix::fs::sendfile(&self.socket, &file, Some(&mut offset), left) {
                Ok(0) => return Err(SendFileError::File(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) if is_of_file(error) => return Err(SendFileError::File(error.into())),
                Err(error) => return Err(SendFileError::Connection(error.into())),
            }
        }
        Ok(())
    }

    /// Sends bytes with descriptors, over a domain socket; see [`domain::send_with_fds`].
    pub fn send_with_fds(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
        domain::send_with_fds(&self.socket, bytes, fds)
    }

    /// Receives bytes, and the descriptors that came with them; see [`domain::recv_with_fds`].
    pub fn recv_with_fds(&self, room: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
        domain::recv_with_fds(&self.socket, room, fds)
    }
}

/// Whether sendfile failed because of the file; no connection fails with these.
fn is_of_file(error: Errno) -> bool {
    matches!(error, Errno::IO | Errno::NODATA | Errno::UCLEAN | Errno::BADMSG | Errno::NXIO)
}
