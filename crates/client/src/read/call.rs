//! One read as a thread makes it ([`task`](super::task) has it for tasks).
//!
//! [`failover`](super::failover) reads block data and stops where the NameNode has to be asked. A thread then
//! waits for the answer, a task awaits it.

use super::failover::{Asks, Attempt, Cursor, Step};
use super::file::File;
use super::hedged::HedgedRead;
use super::local::ZeroCopyRead;
use super::steps::range;
use crate::error::Result;
use std::sync::Arc;

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
    pub(crate) fn read_at(self: &Arc<Self>, offset: u64, out: &mut [u8]) -> Result<usize> {
        match self.read_open_replica(offset, out) {
            Some(read) => Ok(read),
            None => self.read_at_the_long_way(offset, out, true),
        }
    }

    /// `waits`: where no replica can be read, the NameNode is asked again after a while.
    pub(super) fn read_at_the_long_way(
        self: &Arc<Self>,
        offset: u64,
        out: &mut [u8],
        waits: bool,
    ) -> Result<usize> {
        match HedgedRead::begin(self, waits) {
            Some(hedged) => self.client.wait(hedged.read_at(offset, out)),
            None => self.read_at_on_this_thread(offset, out, waits),
        }
    }

    fn read_at_on_this_thread(&self, offset: u64, out: &mut [u8], waits: bool) -> Result<usize> {
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
        let read = self.read_at_on_this_thread(offset, &mut [0], true)?;
        match read_mapped() {
            Ok(Some(mapped)) => Ok(mapped),
            _ if read == 0 => Ok(ZeroCopyRead::copied(Vec::new())),
            _ => {
                // As far as the block goes: the file may be larger than memory.
                let end = self.located_at(offset).map_or(self.len(), |block| block.end());
                let rest = end.saturating_sub(offset);
                let mut bytes = vec![0; len.min(usize::try_from(rest).unwrap_or(usize::MAX))];
                let read = match self.read_open_replica(offset, &mut bytes) {
                    Some(read) => read,
                    None => self.read_at_on_this_thread(offset, &mut bytes, true)?,
                };
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
            if let Err(error) = self.client.wait(need.meet(self, &mut attempt)) {
                break Err(error);
            }
        };
        let corrupt = attempt.tried.take_corrupt();
        if !corrupt.is_empty() {
            self.client.wait(self.report(corrupt));
        }
        (attempt.filled, result)
    }
}
