//! Opening one range of one replica: its file, a domain socket, TCP, in this order.

use super::block::{BlockReader, LocalBlock, path_of};
use super::file::File;
use super::local_outcome::OpenError;
use super::plan::{self, NotLocal, ReadPath};
use super::remote::{RangeRequest, ReadError, RemoteBlock};
use super::tried::Tried;
use crate::client::Peer;
use crate::types::{DatanodeInfo, LocatedBlock, Replica, Verify};
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_transport::net::DataStream;

/// Why a range was not opened.
pub(super) enum CannotOpen {
    Failed(ReadError),
    /// Its DataNode has to be asked for the paths of the replica's files.
    NeedsPaths,
}

impl From<ReadError> for CannotOpen {
    fn from(error: ReadError) -> Self {
        Self::Failed(error)
    }
}

impl File {
    /// From its file where that is possible, from the DataNode otherwise.
    pub(super) fn open_block(
        &self,
        block: &LocatedBlock,
        replica: &Replica,
        offset: u64,
        len: u64,
        tried: &mut Tried,
    ) -> std::result::Result<BlockReader, CannotOpen> {
        let _within = self.span.enter();
        let why = match self.open_local(block, &replica.node, offset, len, tried) {
            Ok(local) => return Ok(BlockReader::Local(local)),
            Err(OpenError::NeedsPaths) => return Err(CannotOpen::NeedsPaths),
            Err(OpenError::Token(text)) if !tried.is_token_renewed() => {
                return Err(ReadError::Token(text).into());
            }
            Err(error) => NotLocal::from(error),
        };
        let over_domain =
            self.client.settings.local.data_traffic && tried.without_local().is_none();
        let request = RangeRequest {
            block,
            offset,
            len,
            verify: self.verify != Verify::None,
            client_name: &self.client.name,
            packet_len_max: self.client.settings.packet_len_max,
            contender: tried.contender(),
        };
        let remote = self.connect_and_open(&replica.node, &request, over_domain)?;
        let reason = why.reason;
        self.counters.opened(remote.path(), why);
        Ok(BlockReader::Remote(Box::new(remote), reason))
    }

    fn open_local(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
        offset: u64,
        len: u64,
        tried: &mut Tried,
    ) -> std::result::Result<LocalBlock, OpenError> {
        let local = &self.client.settings.local;
        plan::plan(local, self.is_being_written(block)).map_err(OpenError::NotLocal)?;
        if let Some(why) = tried.without_local() {
            return Err(OpenError::NotLocal(why.clone()));
        }
        let replica = match self.known.at(block.offset + offset) {
            Some(known) => Arc::clone(known.replica()),
            None => {
                let opened = self.client.local.open(block, node, tried.take_told())?;
                let (path, note) = (path_of(&opened.replica), self.client.local.note());
                self.counters.opened_local(path, opened.found, note);
                self.known.add(block.offset, block.end(), &opened.replica);
                opened.replica
            }
        };
        let (pos, end) = (offset, offset + len);
        let verify = self.verify_local;
        Ok(LocalBlock { replica, pos, end, verify, was_checked: false })
    }

    /// Opens a range on a kept connection, or on a fresh one. A kept one may be stale: its failure does not
    /// mean that the DataNode failed.
    fn connect_and_open(
        &self,
        node: &DatanodeInfo,
        request: &RangeRequest<'_>,
        over_domain: bool,
    ) -> std::result::Result<RemoteBlock, ReadError> {
        let client = &self.client;
        if over_domain {
            match self.open_over_domain(node, request) {
                Err(ReadError::Failed(error)) => {
                    tracing::debug!("not over the domain socket of {node}: {error}");
                }
                other => return other,
            }
        }
        let addr = client.transfer_addr(node).map_err(ReadError::Unreachable)?;
        if let Some(opened) = self.open_on_kept(&Peer::Tcp(addr), request) {
            return opened;
        }
        let settings = &client.settings;
        let connect = || client.connect(addr, settings.socket_timeout, settings.write_timeout);
        let stream = match connect() {
            Err(error) if is_descriptor_limit(&error) => {
                client.pool.clear();
                client.local.close_idle();
                connect()
            }
            other => other,
        };
        let stream = stream.map_err(|error| match is_of_this_process(&error) {
            true => ReadError::Failed(error),
            false => ReadError::Unreachable(error),
        })?;
        let path = tcp_path_of(&stream, addr);
        RemoteBlock::open(stream, Peer::Tcp(addr), path, request)
    }

    fn open_over_domain(
        &self,
        node: &DatanodeInfo,
        request: &RangeRequest<'_>,
    ) -> std::result::Result<RemoteBlock, ReadError> {
        let peer = Peer::Domain(self.client.local.socket_path(node));
        if let Some(opened) = self.open_on_kept(&peer, request) {
            return opened;
        }
        let connected = self.client.local.connect(node);
        let stream = connected.map_err(|why| std::io::Error::other(why.detail))?;
        RemoteBlock::open(stream, peer, ReadPath::DomainSocket, request)
    }

    /// `None` where no connection is kept that still is good.
    fn open_on_kept(
        &self,
        peer: &Peer,
        request: &RangeRequest<'_>,
    ) -> Option<std::result::Result<RemoteBlock, ReadError>> {
        while let Some(stream) = self.client.pool.take(peer) {
            let path = match peer {
                Peer::Domain(_) => ReadPath::DomainSocket,
                Peer::Tcp(far) => tcp_path_of(&stream, *far),
            };
            match RemoteBlock::open(stream, peer.clone(), path, request) {
                Err(ReadError::Failed(error)) if is_stale(&error) && !request.is_beaten() => {}
                other => return Some(other),
            }
        }
        None
    }
}

fn tcp_path_of(stream: &DataStream, addr: SocketAddr) -> ReadPath {
    stream.local_addr().map_or(ReadPath::TcpRemote, |near| plan::tcp_path(near, addr))
}

fn is_descriptor_limit(error: &std::io::Error) -> bool {
    let limits = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
    error.raw_os_error().is_some_and(|raw| limits.iter().any(|limit| limit.raw_os_error() == raw))
}

/// Whether a connection could not be made because this process lacks something: then the DataNode is not
/// at fault.
fn is_of_this_process(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as K;
    is_descriptor_limit(error)
        || matches!(error.kind(), K::AddrNotAvailable | K::OutOfMemory | K::PermissionDenied)
}

/// Whether a kept connection failed because its other end had closed it.
fn is_stale(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as K;
    matches!(
        error.kind(),
        K::UnexpectedEof | K::ConnectionReset | K::BrokenPipe | K::ConnectionAborted
    )
}
