//! The one retry loop of reading: next replica, bad replica noted, other locations after a wait.
//!
//! Nothing here makes an RPC: a read that needs one stops with a [`Need`], and continues when that was
//! met ([`steps`](super::steps)).

use super::ahead;
use super::block::BlockReader;
use super::file::File;
use super::open::CannotOpen;
use super::remote::ReadError;
use super::tried::Tried;
use crate::error::{Error, ErrorKind, Result};
use crate::types::{DatanodeInfo, LocatedBlock, Replica};
use std::time::Duration;
use zerohop_system::random;
use zerohop_transport::waits::WAITS;

/// A forward seek up to this many bytes reads on instead of opening the block again.
const SKIP_MAX: u64 = 128 << 10;

/// Where a sequential reader is, with the block it is reading.
#[derive(Default)]
pub(crate) struct Cursor {
    pub(crate) pos: u64,
    pub(super) open: Option<OpenBlock>,
}

impl Cursor {
    pub(crate) fn at(pos: u64) -> Self {
        Self { pos, open: None }
    }
}

pub(super) struct OpenBlock {
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

/// One read under way, beside its cursor: how far it is, and what was tried for it.
pub(super) struct Attempt {
    asks: Asks,
    pub(super) tried: Tried,
    /// Bytes of the caller's buffer that are filled.
    pub(super) filled: usize,
}

/// How much is asked of a DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// What the caller wants.
    Range,
    /// The rest of the block: the caller will read on.
    RestOfBlock,
}

/// The next step of a read.
pub(super) enum Step {
    Done(Result<()>),
    /// An RPC has to be made first: a thread waits for its answer, a task awaits it.
    Needs(Need),
}

/// What a read needs from the NameNode, or from a DataNode by RPC.
pub(super) enum Need {
    /// The locations of the block that holds this offset.
    Locations(u64),
    /// A fresh token for the block that holds this offset.
    Token(u64),
    /// The paths of the files of a block's replica, from its DataNode.
    Paths { block: Box<LocatedBlock>, node: DatanodeInfo },
    /// Other locations for the block that holds `offset`, after a wait: those on `nodes` could not be read.
    OtherReplicas { offset: u64, nodes: Vec<DatanodeInfo>, wait: Duration },
}

impl Attempt {
    pub(super) fn new(asks: Asks) -> Self {
        Self { asks, tried: Tried::default(), filled: 0 }
    }

    /// Makes the first round in which every replica fails the last one.
    pub(super) fn without_waits(mut self) -> Self {
        self.tried = self.tried.without_waits();
        self
    }
}

/// Why no block is open at the cursor.
enum Stop {
    Needs(Need),
    Failed(Error),
}

impl File {
    /// Reads until `out` is full, the file ends, the NameNode has to be asked, or nothing can be read
    /// any more. Blocks the thread on block data only.
    pub(super) fn advance(
        &self,
        cursor: &mut Cursor,
        attempt: &mut Attempt,
        out: &mut [u8],
    ) -> Step {
        let Attempt { asks, tried, filled } = attempt;
        while cursor.pos < self.len() {
            let Some(room) = out.get_mut(*filled..).filter(|room| !room.is_empty()) else { break };
            let len = matches!(asks, Asks::Range).then_some(room.len() as u64);
            match self.open_at(cursor, len, tried) {
                Ok(()) => *filled += self.read_open(cursor, room, tried),
                Err(Stop::Needs(need)) => return Step::Needs(need),
                Err(Stop::Failed(error)) => return Step::Done(Err(error)),
            }
        }
        Step::Done(Ok(()))
    }

    /// Moves the cursor; a block that is open stays so where reading on is cheaper.
    pub(crate) fn seek(&self, cursor: &mut Cursor, pos: u64) {
        if pos != cursor.pos
            && let Some(open) = &mut cursor.open
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
            self.counters.read(reader.path(), reader.reason(), read, reader.was_checked());
        }
        cursor.pos += read as u64;
        if ahead::is_near_end(&open.block, cursor.pos) && open.reader.reads_from_disk() {
            self.open_ahead(open.block.end());
        }
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
            tried.note_progress();
        }
        read
    }

    /// Makes sure that a block is open at the cursor. `len` bounds the range that is asked for;
    /// without it the rest of the block is.
    fn open_at(
        &self,
        cursor: &mut Cursor,
        len: Option<u64>,
        tried: &mut Tried,
    ) -> std::result::Result<(), Stop> {
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
                Err(CannotOpen::NeedsPaths) => {
                    let (block, node) = (Box::new(block), replica.node);
                    return Err(Stop::Needs(Need::Paths { block, node }));
                }
                Err(CannotOpen::Failed(ReadError::Token(text))) if !tried.is_token_renewed() => {
                    tracing::info!("{text}; asking for a new token");
                    tried.renew_token();
                    return Err(Stop::Needs(Need::Token(cursor.pos)));
                }
                Err(CannotOpen::Failed(error)) => self.give_up(&block, &replica, &error, tried),
            }
        }
    }

    /// A replica that was not tried yet.
    fn choose(
        &self,
        pos: u64,
        tried: &mut Tried,
    ) -> std::result::Result<(LocatedBlock, Replica), Stop> {
        if tried.is_beaten() {
            return Err(Stop::Failed(Error::plain("another replica was faster")));
        }
        let Some(block) = self.located_at(pos) else {
            return Err(Stop::Needs(Need::Locations(pos)));
        };
        match self.usable_replica(&block, tried) {
            Some(replica) => Ok((block, replica)),
            None => Err(self.begin_round(&block, pos, tried)),
        }
    }

    /// The first replica that was not tried yet and whose DataNode did not fail lately.
    pub(super) fn usable_replica(&self, block: &LocatedBlock, tried: &Tried) -> Option<Replica> {
        let is_dead = |node: &DatanodeInfo| {
            self.dead.contains(node) || self.client.unreachable.contains(node)
        };
        let is_usable = |node: &DatanodeInfo| {
            !tried.has_failed(node) && (!is_dead(node) || self.is_back(node)) && tried.choose(node)
        };
        block.replicas.iter().find(|replica| is_usable(&replica.node)).cloned()
    }

    /// Whether a DataNode of this machine that was given up answers again: local reads do not wait
    /// until its time on the list has passed.
    fn is_back(&self, node: &DatanodeInfo) -> bool {
        let is_back = self.client.settings.local.shortcircuit && self.client.local.is_back(node);
        if is_back {
            self.dead.remove(std::iter::once(node));
            self.client.unreachable.remove(std::iter::once(node));
        }
        is_back
    }

    /// Begins another round over the replicas of a block, after a wait: at random within a window that
    /// grows, so that clients do not come back all at once.
    fn begin_round(&self, block: &LocatedBlock, offset: u64, tried: &mut Tried) -> Stop {
        let settings = &self.client.settings;
        let Some(rounds) = tried.begin_round(settings.acquire_failures_max) else {
            return Stop::Failed(missing(&self.src, block, tried));
        };
        let wait = wait_time(settings.retry_window, rounds, random::f64());
        tracing::warn!(
            target: WAITS,
            wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            "no DataNode gives {} of {} ({}); tried {} of {} times, asking the NameNode for other \
             locations after {} ms",
            block.block,
            self.src,
            tried.last_error().unwrap_or("none has it"),
            rounds + 1,
            settings.acquire_failures_max.saturating_add(1),
            wait.as_millis()
        );
        let nodes = block.nodes().cloned().collect();
        Stop::Needs(Need::OtherReplicas { offset, nodes, wait })
    }

    /// Judges a failed read. A local replica that the DataNode took back is asked for again; one
    /// that does not fit its checksums, too, because the DataNode may have been appending to it; one
    /// that fails again is read over TCP. What comes that way is certainly the chosen DataNode's:
    /// whose files came over the socket is not, because another one may listen at its path.
    fn failed(&self, open: OpenBlock, error: ReadError, tried: &mut Tried) {
        let OpenBlock { block, replica, reader, .. } = open;
        let (BlockReader::Local(local), ReadError::Local(cause)) = (&reader, &error) else {
            return self.give_up(&block, &replica, &error, tried);
        };
        self.client.local.forget(&block, &replica.node, &local.replica);
        if !tried.may_reopen(cause) {
            tracing::warn!("Reading {} of {} locally failed: {error}", block.block, self.src);
        }
    }

    fn give_up(
        &self,
        block: &LocatedBlock,
        replica: &Replica,
        error: &ReadError,
        tried: &mut Tried,
    ) {
        let is_corrupt = matches!(error, ReadError::Corrupt(_));
        if matches!(error, ReadError::Unreachable(_)) {
            self.client.unreachable.add(&replica.node);
        }
        // Its connection was shut down: the DataNode is slow, no more.
        if tried.is_beaten() {
            return;
        }
        tracing::warn!(
            "Reading {} of {} from {} failed: {error}",
            block.block,
            self.src,
            replica.node
        );
        self.counters.failed_over(is_corrupt);
        tried.note_failure(block, replica, error.to_string(), is_corrupt);
        if !is_corrupt {
            self.dead.add(&replica.node);
        }
    }

    /// Keeps the connection of the open block for another request, where it can carry one.
    pub(super) fn keep_connection(&self, open: Option<OpenBlock>) {
        if let Some((addr, stream)) = open.and_then(|open| open.reader.into_connection()) {
            self.client.keep_connection(addr, stream);
        }
    }
}

fn missing(src: &str, block: &LocatedBlock, tried: &Tried) -> Error {
    let locations: Vec<String> = block.replicas.iter().map(Replica::to_string).collect();
    let last = tried.last_error().unwrap_or("no DataNode has it");
    Error::new(
        ErrorKind::Corrupt,
        format!(
            "Could not obtain block: {} file={} No live nodes contain current block Block \
             locations: {} ({last})",
            block.block,
            src,
            locations.join(" ")
        ),
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
