//! The one retry loop of reading: next replica, bad replica reported, fresh locations after a wait.

use super::file::File;
use super::plan::{self, ReadPath};
use super::remote::{RangeRequest, ReadError, RemoteBlock};
use crate::error::{Error, Kind, Result};
use crate::types::{DatanodeInfo, LocatedBlock, Replica};
use std::net::{SocketAddr, TcpStream};
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
    reader: RemoteBlock,
}

impl OpenBlock {
    fn pos(&self) -> u64 {
        self.base + self.reader.pos()
    }
}

/// What was tried for one read.
#[derive(Default)]
struct Tried {
    nodes: Vec<DatanodeInfo>,
    corrupt: Vec<LocatedBlock>,
    rounds: u32,
    token_renewed: bool,
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
        self.counters.read(open.reader.path(), read);
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
                let (block, replica) = (open.block.clone(), open.replica.clone());
                cursor.open = None;
                self.give_up(&block, &replica, &error, tried);
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
            match self.connect_and_open(&block, &replica, offset, len) {
                Ok(reader) => {
                    let reason = plan::plan(&self.client.settings, self.is_under_construction());
                    self.counters.opened(reader.path(), reason);
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
        let addr = client.transfer_addr(&replica.node)?;
        let request = RangeRequest {
            block,
            offset,
            len,
            verify: self.verify,
            client_name: &client.name,
            packet_len_max: client.settings.packet_len_max,
        };
        while let Some(stream) = client.pool.take(&addr) {
            let path = path_of(&stream, addr);
            match RemoteBlock::open(stream, addr, path, &request) {
                Err(ReadError::Failed(error)) if is_stale(&error) => {}
                other => return other,
            }
        }
        let settings = &client.settings;
        let stream = client.connect(addr, settings.socket_timeout, settings.write_timeout)?;
        let path = path_of(&stream, addr);
        RemoteBlock::open(stream, addr, path, &request)
    }

    /// A replica that was not tried yet; where there is none, fresh locations after a wait.
    fn choose(&self, pos: u64, tried: &mut Tried) -> Result<(LocatedBlock, Replica)> {
        loop {
            let block = self.locate(pos)?;
            let dead = &self.client.dead;
            let usable = |node: &DatanodeInfo| !tried.nodes.contains(node) && !dead.contains(node);
            if let Some(replica) = block.replicas.iter().find(|replica| usable(&replica.node)) {
                let replica = replica.clone();
                return Ok((block, replica));
            }
            self.wait_for_replicas(&block, tried)?;
            self.relocate(pos)?;
        }
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

fn path_of(stream: &TcpStream, addr: SocketAddr) -> ReadPath {
    stream.local_addr().map_or(ReadPath::TcpRemote, |near| plan::tcp_path(near, addr))
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
