//! The steps between those of [`failover`](super::failover): the NameNode is asked for what a read needs. An attempt
//! that a task awaits makes its steps on threads for blocking calls.

use super::buffers::Buffer;
use super::failover::{Asks, Attempt, Cursor, Need, Step};
use super::file::File;
use super::memory::TaskFile;
use crate::error::Result;
use crate::types::LocatedBlock;
use std::sync::Arc;

/// A read of what is asked for. `waits`: where no replica can be read, the NameNode is asked again after a
/// while.
pub(super) fn range(waits: bool) -> Attempt {
    let attempt = Attempt::new(Asks::Range);
    if waits { attempt } else { attempt.without_waits() }
}

/// What an attempt ended with.
pub(super) struct Finished {
    pub(super) cursor: Cursor,
    pub(super) buffer: Buffer,
    pub(super) filled: usize,
    pub(super) result: Result<()>,
}

impl Need {
    /// Asks for what a read needs.
    pub(super) async fn meet(self, file: &File, attempt: &mut Attempt) -> Result<()> {
        match self {
            Self::Locations(offset) => file.locate(offset).await,
            Self::Token(offset) => file.relocate(offset).await,
            Self::Paths { block, node } => {
                attempt.tried.set_told(file.client.local.ask_for_paths(&block, &node).await);
                Ok(())
            }
            Self::OtherReplicas { offset, nodes, wait } => {
                file.client.sleep(wait).await;
                file.dead.remove(nodes.iter());
                file.client.unreachable.remove(nodes.iter());
                file.relocate(offset).await
            }
        }
    }
}

impl File {
    /// Reports corrupt replicas, if there are any, to the NameNode.
    pub(super) async fn report(&self, corrupt: Vec<LocatedBlock>) {
        if !corrupt.is_empty()
            && let Err(error) = self.client.namenode.report_bad_blocks(corrupt).await
        {
            tracing::warn!("Corrupt replicas of {} could not be reported: {error}", self.src);
        }
    }
}

impl TaskFile {
    /// Reads at `offset` on threads, as far as the buffer and the file go; how many bytes were read.
    pub(super) async fn read_range(
        &self,
        offset: u64,
        attempt: Attempt,
        buffer: Buffer,
    ) -> Result<(Buffer, usize)> {
        let mut read = self.finish(Cursor::at(offset), offset, attempt, buffer).await?;
        self.file().keep_connection(read.cursor.open.take());
        read.result.map(|()| (read.buffer, read.filled))
    }

    /// Reads to the end of an attempt on threads, from `pos`.
    pub(super) async fn finish(
        &self,
        cursor: Cursor,
        pos: u64,
        attempt: Attempt,
        buffer: Buffer,
    ) -> Result<Finished> {
        let mut state = (cursor, attempt, buffer);
        // Located before the first step: a thread would only come back to say so.
        let is_unknown = pos < self.file().len() && self.file().located_at(pos).is_none();
        let mut need = is_unknown.then_some(Need::Locations(pos));
        let mut start = Some(pos);
        let result = loop {
            if let Some(need) = need.take()
                && let Err(error) = need.meet(self.file(), &mut state.1).await
            {
                break Err(error);
            }
            let (file, (mut cursor, mut attempt, mut buffer)) = (Arc::clone(self.file()), state);
            let start = start.take();
            let work = move || {
                if let Some(pos) = start {
                    file.seek(&mut cursor, pos);
                }
                let step = file.advance(&mut cursor, &mut attempt, buffer.as_mut());
                Ok((step, (cursor, attempt, buffer)))
            };
            let (step, back) = self.file().client.on_thread(work).await?;
            state = back;
            match step {
                Step::Done(result) => break result,
                Step::Needs(found) => need = Some(found),
            }
        };
        let (cursor, mut attempt, buffer) = state;
        self.file().report(attempt.tried.take_corrupt()).await;
        Ok(Finished { cursor, buffer, filled: attempt.filled, result })
    }
}
