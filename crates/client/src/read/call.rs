//! One read as a thread makes it ([`task`](super::task) has it for tasks), and how the NameNode is asked.
//!
//! [`failover`](super::failover) reads block data and stops where the NameNode has to be asked. A thread then
//! waits for the answer, a task awaits it.

use super::failover::{Asks, Attempt, Cursor, Need, Step};
use super::file::File;
use super::local::ZeroCopyRead;
use crate::error::Result;
use crate::types::LocatedBlock;
use zerohop_system::clock;

impl File {
    /// Reads at the cursor, which moves; 0 at the end of the file. What was read before a failure
    /// counts: the next call meets it again. Blocks the thread.
    pub(crate) fn read(&self, cursor: &mut Cursor, out: &mut [u8]) -> Result<usize> {
        match self.finish(cursor, Attempt::new(Asks::RestOfBlock), out) {
            (0, Err(error)) => Err(error),
            (filled, _) => Ok(filled),
        }
    }

    /// Reads at `offset`, as far as the file goes, with its own connections. Blocks the thread.
    pub(crate) fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        match self.read_open_replica(offset, out) {
            Some(read) => Ok(read),
            None => self.read_at_the_long_way(offset, out, true),
        }
    }

    /// Reads at `offset` from a replica that is open here; `None` where that cannot be.
    #[inline]
    pub(crate) fn read_open_replica(&self, offset: u64, out: &mut [u8]) -> Option<usize> {
        self.known.read(&self.counters, offset, out, self.verify_local)
    }

    /// `waits`: where no replica can be read, the NameNode is asked again after a while.
    pub(super) fn read_at_the_long_way(
        &self,
        offset: u64,
        out: &mut [u8],
        waits: bool,
    ) -> Result<usize> {
        let mut cursor = Cursor::at(offset);
        let (filled, result) = self.finish(&mut cursor, range(waits), out);
        self.keep_connection(cursor.open.take());
        result.map(|()| filled)
    }

    /// The bytes at `offset` without a copy, at most `len` and as far as the block goes; copied where
    /// the replica is not mapped here.
    pub(crate) fn read_zero_copy(&self, offset: u64, len: usize) -> Result<ZeroCopyRead> {
        let rest = usize::try_from(self.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = len.min(rest);
        if len == 0 {
            return Ok(ZeroCopyRead::copied(Vec::new()));
        }
        let read_mapped =
            || self.known.read_zero_copy(&self.counters, offset, len, self.verify_local);
        if let Ok(Some(mapped)) = read_mapped() {
            return Ok(mapped);
        }
        // This opens the replica, and fails over if it is bad.
        let read = self.read_at_the_long_way(offset, &mut [0], true)?;
        match read_mapped() {
            Ok(Some(mapped)) => Ok(mapped),
            _ if read == 0 => Ok(ZeroCopyRead::copied(Vec::new())),
            _ => {
                // As far as the block goes: the file may be larger than memory.
                let end = self.located_at(offset).map_or(self.len(), |block| block.end());
                let rest = end.saturating_sub(offset);
                let mut bytes = vec![0; len.min(usize::try_from(rest).unwrap_or(usize::MAX))];
                let read = self.read_at(offset, &mut bytes)?;
                bytes.truncate(read);
                Ok(ZeroCopyRead::copied(bytes))
            }
        }
    }

    /// Reads to the end of an attempt on this thread; how many bytes were read, before a failure too.
    fn finish(
        &self,
        cursor: &mut Cursor,
        mut attempt: Attempt,
        out: &mut [u8],
    ) -> (usize, Result<()>) {
        let result = loop {
            let need = match self.advance(cursor, &mut attempt, out) {
                Step::Done(result) => break result,
                Step::Needs(need) => need,
            };
            if let Err(error) = self.client.wait(self.meet(need, &mut attempt)) {
                break Err(error);
            }
        };
        let corrupt = attempt.tried.take_corrupt();
        if !corrupt.is_empty() {
            self.client.wait(self.report(corrupt));
        }
        (attempt.filled, result)
    }

    /// Asks for what a read needs.
    pub(super) async fn meet(&self, need: Need, attempt: &mut Attempt) -> Result<()> {
        match need {
            Need::Locations(offset) => self.locate(offset).await,
            Need::Token(offset) => self.relocate(offset).await,
            Need::Paths { block, node } => {
                attempt.tried.set_told(self.client.local.ask_for_paths(&block, &node).await);
                Ok(())
            }
            Need::OtherReplicas { offset, nodes, wait } => {
                clock::sleep(wait).await;
                self.dead.remove(nodes.iter());
                self.client.unreachable.remove(nodes.iter());
                self.relocate(offset).await
            }
        }
    }

    /// Reports corrupt replicas to the NameNode.
    pub(super) async fn report(&self, corrupt: Vec<LocatedBlock>) {
        if let Err(error) = self.client.namenode.report_bad_blocks(corrupt).await {
            tracing::warn!("Corrupt replicas of {} could not be reported: {error}", self.src);
        }
    }
}

/// A read of what is asked for. `waits`: where no replica can be read, the NameNode is asked again after a
/// while.
pub(super) fn range(waits: bool) -> Attempt {
    let attempt = Attempt::new(Asks::Range);
    if waits { attempt } else { attempt.without_waits() }
}
