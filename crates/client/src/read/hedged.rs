//! Hedged reads (HDFS-5776): where a DataNode is slow to give a range, a second one is asked for it as well, and the
//! first answer counts. Positional reads alone are hedged, and none that an open replica of this machine serves.

use super::buffers::Buffer;
use super::failover::{Asks, Attempt};
use super::file::File;
use super::hedge::Hedge;
use super::memory::TaskFile;
use super::race::{Contender, Race, Side};
use super::steps::range;
use crate::error::{Error, Result};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{AbortHandle, JoinHandle};

/// A buffer and how many bytes of it are filled.
type Read = (Buffer, usize);

/// A range within one block.
#[derive(Clone, Copy)]
struct Part {
    pos: u64,
    len: usize,
}

/// A positional read whose parts are hedged.
pub(super) struct HedgedRead<'a> {
    file: TaskFile,
    hedge: &'a Hedge,
    /// For the first attempt.
    permit: Option<OwnedSemaphorePermit>,
    /// Where no replica can be read, the NameNode is asked again after a while.
    waits: bool,
}

impl<'a> HedgedRead<'a> {
    /// `None` where reads are not hedged, or too many are.
    pub(super) fn begin(file: &'a Arc<File>, waits: bool) -> Option<Self> {
        let hedge = file.client.hedge.as_ref()?;
        let permit = Some(hedge.permit()?);
        Some(Self { file: TaskFile::of(file), hedge, permit, waits })
    }

    /// Reads at `offset`, as far as the file goes, each block in a race of its own.
    pub(super) async fn read_at(mut self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        loop {
            let pos = offset.saturating_add(filled as u64);
            let room = out.get_mut(filled..).unwrap_or_default();
            let Some(part) = self.part_at(pos, room.len()).await? else { return Ok(filled) };
            let (buffer, read) = match self.permit.take().or_else(|| self.hedge.permit()) {
                Some(permit) => self.read_part(permit, part).await?,
                None => self.read_part_alone(range(self.waits), part).await?,
            };
            if let (Some(to), Some(from)) = (room.get_mut(..read), buffer.as_ref().get(..read)) {
                to.copy_from_slice(from);
            }
            filled += read;
            if read == 0 {
                return Ok(filled);
            }
        }
    }

    /// What of `len` bytes at `pos` lies in one block; `None` if that is nothing.
    async fn part_at(&self, pos: u64, len: usize) -> Result<Option<Part>> {
        let file = self.file.file();
        if len == 0 || pos >= file.len() {
            return Ok(None);
        }
        if file.located_at(pos).is_none() {
            file.locate(pos).await?;
        }
        let end = file.located_at(pos).map_or(0, |block| block.end()).min(file.len());
        let rest = usize::try_from(end.saturating_sub(pos)).unwrap_or(usize::MAX);
        Ok(Some(Part { pos, len: len.min(rest) }))
    }

    /// Reads a part from the DataNode that gives it first. Where all have failed it is read as any other, after
    /// a wait.
    async fn read_part(&self, permit: OwnedSemaphorePermit, part: Part) -> Result<Read> {
        let mut track = Track::default();
        let mut attempt = track.attempt(Side::First);
        attempt.tried.hold(Some(permit));
        let mut first = track.start(&self.file, attempt, part);
        let read = tokio::select! {
            read = joined(&mut first) => read,
            () = self.file.file().client.sleep(self.hedge.threshold()) => self.race_on(&mut track, first, part).await,
        };
        if read.is_ok() {
            let corrupt = track.race.take_corrupt();
            drop(track);
            self.file.file().report(corrupt).await;
            return read;
        }
        let mut attempt = range(self.waits);
        attempt.tried.continue_after(track.race.take_lost());
        self.read_part_alone(attempt, part).await
    }

    /// Has a second attempt run beside the first one, if there is another replica to read; what the faster one has
    /// read, or why the first one failed if both did.
    async fn race_on(
        &self,
        track: &mut Track,
        mut first: JoinHandle<Result<Read>>,
        part: Part,
    ) -> Result<Read> {
        tokio::select! {
            read = joined(&mut first) => return read,
            () = track.race.first_choice() => {}
        }
        let mut attempt = track.attempt(Side::Second);
        let file = self.file.file();
        // The only replica is left to the first one.
        let block = file.located_at(part.pos).filter(|block| block.replicas.len() > 1);
        if block.is_none_or(|block| file.usable_replica(&block, &attempt.tried).is_none()) {
            return joined(&mut first).await;
        }
        self.hedge.begins();
        attempt.tried.hold(self.hedge.permit());
        let mut second = track.start(&self.file, attempt, part);
        let (is_first, read) = tokio::select! {
            read = joined(&mut first) => (true, read),
            read = joined(&mut second) => (false, read),
        };
        let (is_first, read) = match (is_first, read) {
            (true, Err(error)) => (false, joined(&mut second).await.map_err(|_| error)),
            (false, Err(_)) => (true, joined(&mut first).await),
            faster => faster,
        };
        if !is_first && read.is_ok() {
            self.hedge.wins();
        }
        read
    }

    async fn read_part_alone(&self, attempt: Attempt, part: Part) -> Result<Read> {
        self.file.read_range(part.pos, attempt, buffer_for(&self.file, part)).await
    }
}

fn buffer_for(file: &TaskFile, part: Part) -> Buffer {
    file.file().client.buffers.take(part.len)
}

/// A race and its attempts. When it is dropped, which is when one has won or nobody waits any more, those that
/// still run are given up.
#[derive(Default)]
struct Track {
    race: Arc<Race>,
    attempts: Vec<AbortHandle>,
}

impl Track {
    /// An attempt of one round over the replicas that the other side has not chosen.
    fn attempt(&self, side: Side) -> Attempt {
        let mut attempt = Attempt::new(Asks::Range).without_waits();
        attempt.tried.contend(Contender::new(&self.race, side));
        attempt
    }

    fn start(&mut self, file: &TaskFile, attempt: Attempt, part: Part) -> JoinHandle<Result<Read>> {
        let (buffer, reader) = (buffer_for(file, part), file.clone());
        let reading = async move { reader.read_range(part.pos, attempt, buffer).await };
        let reading = file.file().client.runtime.spawn(reading);
        self.attempts.push(reading.abort_handle());
        reading
    }
}

impl Drop for Track {
    fn drop(&mut self) {
        self.race.end();
        self.attempts.iter().for_each(AbortHandle::abort);
    }
}

async fn joined(attempt: &mut JoinHandle<Result<Read>>) -> Result<Read> {
    attempt.await.map_err(Error::of_thread)?
}

#[cfg(test)]
#[path = "hedged_test.rs"]
mod tests;
