//! The one retry loop of reading: next replica, bad replica reported, fresh locations after a wait.

use super::block::{BlockReader, LocalBlock, path_of};
use super::file::File;
use super::local::{Lent, LocalError, OpenError};
use super::plan::{self, NotLocal, ReadPath, ReadReason};
use super::remote::{RangeRequest, ReadError, RemoteBlock};
use crate::client::Peer;
use crate::error::{Error, Kind, Result};
use crate::types::{DatanodeInfo, LocatedBlock, Replica, Verify};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A forward seek up to this many bytes reads on instead of opening the block again.
const SKIP_MAX: u64 = 128 << 10;

/// Where a sequential reader is, with the block it is reading.
#[derive(Default)]
pub(crate) struct Cursor {
    pub(crate) pos: u64,
    open: Option<OpenBlock>,
}

impl Cursor {
    pub(crate) fn at(pos: u64) -> Self {
        Self { pos, open: None }
    }
}

struct OpenBlock {
    /// In the file, where the block begins.
    base: u64,
    block: LocatedBlock,
    replica: Replica,
    reader: BlockReader,
}

impl OpenBlock {
    fn pos(&self) -> u64 {
        self.base + self.reader.pos()
    }
}

/// How often a local replica that was taken back is asked for again in one read.
const REOPENS_MAX: u32 = 3;

/// What was tried for one read.
#[derive(Default)]
struct Tried {
    nodes: Vec<DatanodeInfo>,
    corrupt: Vec<LocatedBlock>,
    rounds: u32,
    token_renewed: bool,
    /// Local replicas that were dropped in the middle; a few are asked for again.
    reopened: u32,
    /// Set when the files of a local replica failed: its DataNode is asked for the bytes.
    without_local: Option<NotLocal>,
    last_error: Option<String>,
}

impl File {
    /// Reads at the cursor, which moves; 0 at the end of the file.
    pub(crate) fn read(&self, cursor: &mut Cursor, out: &mut [u8]) -> Result<usize> {
        let mut tried = Tried::default();
        let mut filled = 0;
        while filled < out.len() && cursor.pos < self.len() {
            self.open_at(cursor, None, &mut tried)?;
            let Some(room) = out.get_mut(filled..) else { break };
            filled += self.read_open(cursor, room, &mut tried);
        }
        self.report(&mut tried);
        Ok(filled)
    }

    /// Reads at `offset`, as far as the file goes, on connections of its own.
    pub(crate) fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        match self.read_known(offset, out) {
            Some(read) => Ok(read),
            None => self.read_at_the_long_way(offset, out),
        }
    }

    /// Reads at `offset` from a replica that is open here; `None` where that cannot be.
    #[inline]
    pub(crate) fn read_known(&self, offset: u64, out: &mut [u8]) -> Option<usize> {
        self.known.read(&self.counters, offset, out, self.verify_local)
    }

    fn read_at_the_long_way(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let mut cursor = Cursor::at(offset);
        let mut tried = Tried::default();
        let mut filled = 0;
        while filled < out.len() && cursor.pos < self.len() {
            let Some(room) = out.get_mut(filled..) else { break };
            self.open_at(&mut cursor, Some(room.len() as u64), &mut tried)?;
            filled += self.read_open(&mut cursor, room, &mut tried);
        }
        self.keep_connection(cursor.open.take());
        self.report(&mut tried);
        Ok(filled)
    }

    /// Reads several ranges (offset and buffer), each exactly, those of open replicas first.
    pub(crate) fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> Result<()> {
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        order.sort_unstable_by_key(|at| ranges.get(*at).map_or(0, |range| range.0));
        let left = self.known.read_many(&self.counters, ranges, &order, self.verify_local);
        self.read_merged(ranges, &left)
    }

    /// Lends the bytes at `offset`, at most `len` and as far as the block goes; copied where the
    /// replica is not mapped here.
    pub(crate) fn lend(&self, offset: u64, len: usize) -> Result<Lent> {
        let rest = usize::try_from(self.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = len.min(rest);
        if len == 0 {
            return Ok(Lent::copied(Vec::new()));
        }
        let lend = || self.known.lend(&self.counters, offset, len, self.verify_local);
        if let Ok(Some(lent)) = lend() {
            return Ok(lent);
        }
        // The long way opens the replica, and deals with one that is bad.
        let mut probe = vec![0; len];
        let read = self.read_at_the_long_way(offset, probe.get_mut(..1).unwrap_or_default())?;
        match lend() {
            Ok(Some(lent)) => Ok(lent),
            _ if read == 0 => Ok(Lent::copied(Vec::new())),
            _ => {
                let read = self.read_at(offset, &mut probe)?;
                probe.truncate(read);
                Ok(Lent::copied(probe))
            }
        }
    }

    /// Moves the cursor; a block that is open stays so where reading on is cheaper.
    pub(crate) fn seek(&self, cursor: &mut Cursor, pos: u64) {
        if let Some(open) = &mut cursor.open
            && !skip_to(open, pos)
        {
            cursor.open = None;
        }
        cursor.pos = pos;
    }

    /// Reads from the open block. A failure ends in a closed block and a replica that is not tried
    /// again; what was read before it counts.
    fn read_open(&self, cursor: &mut Cursor, out: &mut [u8], tried: &mut Tried) -> usize {
        let Some(open) = &mut cursor.open else { return 0 };
        let before = open.reader.pos();
        let result = open.reader.read(out);
        let read = (open.reader.pos() - before) as usize;
        if read > 0 {
            let reader = &open.reader;
            let verify = if reader.path().is_local() { self.verify_local } else { self.verify };
            self.counters.read(reader.path(), reader.reason(), read, verify != Verify::None);
        }
        cursor.pos += read as u64;
        match result {
            Ok(_) if open.reader.pos() == open.reader.end() => {
                self.keep_connection(cursor.open.take());
            }
            Ok(_) => {}
            Err(error) => {
                if matches!(error, ReadError::Corrupt(_)) {
                    open.reader.complain();
                }
                if let Some(open) = cursor.open.take() {
                    self.failed(open, error, tried);
                }
            }
        }
        if read > 0 {
            tried.rounds = 0;
        }
        read
    }

    /// Makes sure that a block is open at the cursor. `len` bounds the range that is asked for;
    /// without it the rest of the block is.
    fn open_at(&self, cursor: &mut Cursor, len: Option<u64>, tried: &mut Tried) -> Result<()> {
        if cursor.open.as_ref().is_some_and(|open| open.pos() == cursor.pos) {
            return Ok(());
        }
        cursor.open = None;
        loop {
            let (block, replica) = self.choose(cursor.pos, tried)?;
            let offset = cursor.pos - block.offset;
            let rest = block.end() - cursor.pos;
            let len = len.map_or(rest, |len| len.min(rest));
            match self.open_block(&block, &replica, offset, len, tried) {
                Ok(reader) => {
                    cursor.open = Some(OpenBlock { base: block.offset, block, replica, reader });
                    return Ok(());
                }
                Err(ReadError::Token(text)) if !tried.token_renewed => {
                    tracing::info!("{text}; asking for a new token");
                    tried.token_renewed = true;
                    self.relocate(cursor.pos)?;
                }
                Err(error) => self.give_up(&block, &replica, &error, tried),
            }
        }
    }

    /// From its file where that is possible, from the DataNode otherwise.
    fn open_block(
        &self,
        block: &LocatedBlock,
        replica: &Replica,
        offset: u64,
        len: u64,
        tried: &Tried,
    ) -> std::result::Result<BlockReader, ReadError> {
        let why = match self.open_local(block, &replica.node, offset, len, tried) {
            Ok(local) => return Ok(BlockReader::Local(local)),
            Err(OpenError::Token(text)) if !tried.token_renewed => {
                return Err(ReadError::Token(text));
            }
            Err(error) => NotLocal::from(error),
        };
        let remote = self.connect_and_open(block, replica, offset, len)?;
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
        tried: &Tried,
    ) -> std::result::Result<LocalBlock, OpenError> {
        let local = &self.client.settings.local;
        plan::plan(local, self.is_being_written(block)).map_err(OpenError::NotLocal)?;
        if let Some(why) = &tried.without_local {
            return Err(OpenError::NotLocal(why.clone()));
        }
        let known = match self.known.at(block.offset + offset) {
            Some(known) => (Arc::clone(known.replica()), known.is_certain),
            None => {
                let opened = self.client.local.open(block, node)?;
                self.counters.opened_local(path_of(&opened.replica), opened.found);
                let (replica, is_certain) = (opened.replica, opened.is_certain);
                self.known.add(block.offset, block.end(), &replica, is_certain);
                (replica, is_certain)
            }
        };
        let (replica, is_certain) = known;
        let (pos, end) = (offset, offset + len);
        Ok(LocalBlock { replica, pos, end, verify: self.verify_local, is_certain })
    }

    /// Opens a range on a kept connection, or on a fresh one. Kept ones may have gone stale: their
    /// failure says nothing about the DataNode.
    fn connect_and_open(
        &self,
        block: &LocatedBlock,
        replica: &Replica,
        offset: u64,
        len: u64,
    ) -> std::result::Result<RemoteBlock, ReadError> {
        let client = &self.client;
        let request = RangeRequest {
            block,
            offset,
            len,
            verify: self.verify != Verify::None,
            client_name: &client.name,
            packet_len_max: client.settings.packet_len_max,
        };
        if client.settings.local.data_traffic {
            match self.open_over_domain(&replica.node, &request) {
                Err(ReadError::Failed(error)) => {
                    tracing::debug!("not over the domain socket of {}: {error}", replica.node);
                }
                other => return other,
            }
        }
        let addr = client.transfer_addr(&replica.node)?;
        if let Some(opened) = self.open_on_kept(&Peer::Tcp(addr), &request) {
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
        }?;
        let path = tcp_path_of(&stream, addr);
        RemoteBlock::open(stream.into(), Peer::Tcp(addr), path, &request)
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
            let path = match (peer, stream.local_addr().ok().and_then(|near| near.as_socket())) {
                (Peer::Domain(_), _) => ReadPath::DomainSocket,
                (Peer::Tcp(far), Some(near)) => plan::tcp_path(near, *far),
                (Peer::Tcp(_), None) => ReadPath::TcpRemote,
            };
            match RemoteBlock::open(stream, peer.clone(), path, request) {
                Err(ReadError::Failed(error)) if is_stale(&error) => {}
                other => return Some(other),
            }
        }
        None
    }

    /// A replica that was not tried yet; where there is none, fresh locations after a wait.
    fn choose(&self, pos: u64, tried: &mut Tried) -> Result<(LocatedBlock, Replica)> {
        loop {
            let block = self.locate(pos)?;
            let dead = &self.client.dead;
            let usable = |node: &DatanodeInfo| {
                let is_up = || !dead.contains(node) || self.is_back(node);
                !tried.nodes.contains(node) && is_up()
            };
            if let Some(replica) = block.replicas.iter().find(|replica| usable(&replica.node)) {
                let replica = replica.clone();
                return Ok((block, replica));
            }
            self.wait_for_replicas(&block, tried)?;
            self.relocate(pos)?;
        }
    }

    /// Whether a DataNode of this machine that was given up answers again: local reads do not wait
    /// until the dead are forgiven.
    fn is_back(&self, node: &DatanodeInfo) -> bool {
        let is_back = self.client.settings.local.shortcircuit && self.client.local.is_back(node);
        if is_back {
            self.client.dead.forgive(std::iter::once(node));
        }
        is_back
    }

    /// Waits before the NameNode is asked again: at random within a window that grows, so that
    /// clients do not come back all at once.
    fn wait_for_replicas(&self, block: &LocatedBlock, tried: &mut Tried) -> Result<()> {
        let settings = &self.client.settings;
        if tried.rounds >= settings.acquire_failures_max {
            self.report(tried);
            return Err(self.missing(block, tried));
        }
        let wait = wait_time(settings.retry_window, tried.rounds, fastrand::f64());
        tracing::warn!(
            "Could not obtain {} from any node. Will get new block locations from namenode and \
             retry after {} ms",
            block.block,
            wait.as_millis()
        );
        std::thread::sleep(wait);
        tried.rounds += 1;
        tried.nodes.clear();
        self.client.dead.forgive(block.nodes());
        Ok(())
    }

    fn missing(&self, block: &LocatedBlock, tried: &Tried) -> Error {
        let locations: Vec<String> = block.replicas.iter().map(Replica::to_string).collect();
        let last = tried.last_error.as_deref().unwrap_or("no DataNode has it");
        Error::new(
            Kind::Corrupt,
            format!(
                "Could not obtain block: {} file={} No live nodes contain current block Block \
                 locations: {} ({last})",
                block.block,
                self.src,
                locations.join(" ")
            ),
        )
    }

    /// Judges a failed read. A local replica that the DataNode took back is asked for again; one
    /// that does not fit its checksums, too, because the DataNode may have been appending to it; one
    /// that fails again is read through its DataNode, or counts as corrupt.
    fn failed(&self, open: OpenBlock, error: ReadError, tried: &mut Tried) {
        let OpenBlock { block, replica, reader, .. } = open;
        let (BlockReader::Local(local), ReadError::Local(cause)) = (&reader, &error) else {
            return self.give_up(&block, &replica, &error, tried);
        };
        self.client.local.forget(&block, &replica.node, &local.replica);
        let is_first = tried.reopened == 0;
        tried.reopened += 1;
        match cause {
            LocalError::Revoked if tried.reopened <= REOPENS_MAX => return,
            LocalError::Corrupt(_) if is_first => return,
            LocalError::Corrupt(text) if local.is_certain => {
                let corrupt = ReadError::Corrupt(text.clone());
                tried.reopened = 0;
                return self.give_up(&block, &replica, &corrupt, tried);
            }
            _ => {}
        }
        tracing::warn!("Reading {} of {} locally failed: {error}", block.block, self.src);
        tried.without_local = Some(NotLocal::new(ReadReason::LocalFailed, error.to_string()));
    }

    fn give_up(
        &self,
        block: &LocatedBlock,
        replica: &Replica,
        error: &ReadError,
        tried: &mut Tried,
    ) {
        let is_corrupt = matches!(error, ReadError::Corrupt(_));
        tracing::warn!(
            "Reading {} of {} from {} failed: {error}",
            block.block,
            self.src,
            replica.node
        );
        self.counters.failed_over(is_corrupt);
        tried.last_error = Some(error.to_string());
        tried.nodes.push(replica.node.clone());
        if is_corrupt {
            tried.corrupt.push(LocatedBlock { replicas: vec![replica.clone()], ..block.clone() });
        } else {
            self.client.dead.add(&replica.node);
        }
    }

    /// Tells the NameNode about corrupt replicas, if another one was good: where all differ from
    /// their checksums, the fault may be this machine's.
    fn report(&self, tried: &mut Tried) {
        let bad = std::mem::take(&mut tried.corrupt);
        let Some(first) = bad.first() else { return };
        let known = self.locate(first.offset).map_or(0, |block| block.replicas.len());
        if known > 1 && bad.len() >= known {
            return tracing::warn!("All replicas of {} look corrupt; not reported", first.block);
        }
        if let Err(error) = self.client.wait(self.client.namenode.report_bad_blocks(bad)) {
            tracing::warn!("Corrupt replicas of {} could not be reported: {error}", self.src);
        }
    }

    fn keep_connection(&self, open: Option<OpenBlock>) {
        if let Some((addr, stream)) = open.and_then(|open| open.reader.into_connection()) {
            self.client.pool.put(addr, stream);
        }
    }
}

fn tcp_path_of(stream: &TcpStream, addr: SocketAddr) -> ReadPath {
    stream.local_addr().map_or(ReadPath::TcpRemote, |near| plan::tcp_path(near, addr))
}

fn is_descriptor_limit(error: &std::io::Error) -> bool {
    let limits = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
    error.raw_os_error().is_some_and(|raw| limits.iter().any(|limit| limit.raw_os_error() == raw))
}

/// Whether a kept connection failed because its other end had closed it.
fn is_stale(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as K;
    matches!(
        error.kind(),
        K::UnexpectedEof | K::ConnectionReset | K::BrokenPipe | K::ConnectionAborted
    )
}

/// Reads on to `pos` where it is near and in the range that is open.
fn skip_to(open: &mut OpenBlock, pos: u64) -> bool {
    let Some(distance) = pos.checked_sub(open.pos()) else { return false };
    if distance > SKIP_MAX || pos >= open.base + open.reader.end() {
        return false;
    }
    let mut scratch = vec![0; distance as usize];
    matches!(open.reader.read(&mut scratch), Ok(read) if read == scratch.len())
}

fn wait_time(window: Duration, failures: u32, random: f64) -> Duration {
    window * failures + (window * (failures + 1)).mul_f64(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_by_hadoop_s_rule() {
        let window = Duration::from_secs(3);
        assert_eq!(wait_time(window, 0, 0.0), Duration::ZERO);
        assert_eq!(wait_time(window, 0, 1.0), Duration::from_secs(3));
        assert_eq!(wait_time(window, 2, 0.5), Duration::from_millis(10_500));
    }
}
