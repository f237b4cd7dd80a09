//! A file being read, for tokio.

use super::FileSystem;
use crate::blocking;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::read::{File, ReadStatistics, parts};
use crate::types::OpenOptions;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;

/// Reads up to this length of an open replica of this machine are done on the thread that asks.
const INLINE_MAX: usize = 64 << 10;

/// A file being read. Block data is read on a thread for blocking calls and handed over; where that
/// hop matters, use [`blocking::FileReader`] on a thread of your own.
pub struct FileReader {
    client: Arc<Client>,
    file: Arc<File>,
    /// Offset of the next sequential read: a read that was given up does not move it.
    pos: u64,
    inner: Arc<Mutex<blocking::FileReader>>,
}

impl FileReader {
    pub(super) async fn open(fs: &FileSystem, src: String, options: OpenOptions) -> Result<Self> {
        let client = Arc::clone(&fs.client);
        let opened = fs.blocking(move || File::open(&client, src, options)).await?;
        Ok(Self::of(&fs.client, Arc::new(opened)))
    }

    fn of(client: &Arc<Client>, file: Arc<File>) -> Self {
        let inner = blocking::FileReader::of(Arc::clone(&file));
        Self { client: Arc::clone(client), file, pos: 0, inner: Arc::new(Mutex::new(inner)) }
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        self.file.path()
    }

    /// Readable bytes, as of the last time the NameNode was asked.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Asks how long the file is now: another client may be writing it.
    pub async fn refresh(&mut self) -> Result<u64> {
        let file = Arc::clone(&self.file);
        spawn(&self.client, move || file.refresh()).await
    }

    /// Offset of the next sequential read.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Sets the offset of the next sequential read; beyond the end is an error.
    pub async fn seek(&mut self, pos: u64) -> Result<()> {
        if pos > self.len() {
            return Err(Error::invalid("Cannot seek after EOF"));
        }
        self.pos = pos;
        Ok(())
    }

    /// Reads on; 0 at the end. Fills `buffer` unless the file ends, or what follows cannot be read:
    /// the next call then says why. Given up before it is done, it has not moved the position.
    pub async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let bytes = self.read_bytes(buffer.len()).await?;
        copy(&bytes, buffer)
    }

    /// Reads on, at most `len` bytes; empty at the end. Copies once less than [`read`](Self::read).
    pub async fn read_bytes(&mut self, len: usize) -> Result<Bytes> {
        let (inner, pos) = (Arc::clone(&self.inner), self.pos);
        let work = move || {
            let mut reader = inner.lock();
            reader.move_to(pos);
            let left = reader.len().saturating_sub(pos);
            let mut buffer = vec![0; len.min(usize::try_from(left).unwrap_or(usize::MAX))];
            let read = reader.read_some(&mut buffer)?;
            buffer.truncate(read);
            Ok(Bytes::from(buffer))
        };
        let bytes = spawn(&self.client, work).await?;
        self.pos = pos + bytes.len() as u64;
        Ok(bytes)
    }

    /// Reads at `offset`, independent of the sequential position; short only at the end.
    pub async fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let bytes = self.read_bytes_at(offset, buffer.len()).await?;
        copy(&bytes, buffer)
    }

    /// Reads at most `len` bytes at `offset`.
    pub async fn read_bytes_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        // Bytes of an open replica of this machine are there sooner than another thread would be.
        if len <= INLINE_MAX {
            let mut buffer = vec![0; len];
            if self.file.read_known(offset, &mut buffer).is_some() {
                return Ok(Bytes::from(buffer));
            }
        }
        let file = Arc::clone(&self.file);
        let work = move || {
            let left = file.len().saturating_sub(offset);
            let mut buffer = vec![0; len.min(usize::try_from(left).unwrap_or(usize::MAX))];
            let read = file.read_at(offset, &mut buffer)?;
            buffer.truncate(read);
            Ok(Bytes::from(buffer))
        };
        spawn(&self.client, work).await
    }

    /// Reads several ranges (offset and length), in any order, each short only at the end; they may
    /// overlap. Neighbours are read together, ranges of DataNodes that are apart at the same time.
    pub async fn read_ranges(&self, ranges: &[(u64, usize)]) -> Result<Vec<Bytes>> {
        let end = self.file.len();
        let clip = |(offset, len): &(u64, usize)| {
            let rest = usize::try_from(end.saturating_sub(*offset)).unwrap_or(usize::MAX);
            (*offset, (*len).min(rest))
        };
        let ranges: Vec<(u64, usize)> = ranges.iter().map(clip).collect();
        let mut out: Vec<Owned> =
            ranges.iter().map(|(offset, len)| (*offset, vec![0; *len])).collect();
        let total = ranges.iter().fold(0usize, |sum, range| sum.saturating_add(range.1));
        let file = Arc::clone(&self.file);
        let known = move || {
            let left = file.read_known_ranges(&mut borrowed(&mut out));
            Ok((out, left))
        };
        let (mut out, left) = match total <= INLINE_MAX {
            true => known()?,
            false => spawn(&self.client, known).await?,
        };
        let mut reads = Vec::new();
        for part in parts(&ranges, &left) {
            let take = |at: &usize| out.get_mut(*at).map(std::mem::take).unwrap_or_default();
            let mut some: Vec<Owned> = part.iter().map(take).collect();
            let file = Arc::clone(&self.file);
            let read = move || file.read_ranges(&mut borrowed(&mut some)).map(|()| some);
            reads.push((part, self.client.runtime.spawn_blocking(read)));
        }
        for (part, read) in reads {
            let some =
                read.await.map_err(|e| Error::plain(format!("the thread failed: {e}")))??;
            for (at, read) in part.into_iter().zip(some) {
                if let Some(place) = out.get_mut(at) {
                    *place = read;
                }
            }
        }
        Ok(out.into_iter().map(|(_, bytes)| Bytes::from(bytes)).collect())
    }

    /// What was read, and which way it went.
    pub fn statistics(&self) -> ReadStatistics {
        self.file.statistics()
    }
}

/// An offset, and what is to be filled from there.
type Owned = (u64, Vec<u8>);

fn borrowed(ranges: &mut [Owned]) -> Vec<(u64, &mut [u8])> {
    ranges.iter_mut().map(|(offset, bytes)| (*offset, bytes.as_mut_slice())).collect()
}

fn copy(bytes: &[u8], buffer: &mut [u8]) -> Result<usize> {
    if let Some(target) = buffer.get_mut(..bytes.len()) {
        target.copy_from_slice(bytes);
    }
    Ok(bytes.len())
}

pub(super) async fn spawn<T: Send + 'static>(
    client: &Client,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match client.runtime.spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::plain(format!("the thread failed: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Cluster, bytes_of, located};

    /// The thread that reads for a call goes on when the call is given up; its bytes were lost.
    #[tokio::test]
    async fn a_read_that_is_given_up_loses_no_bytes() {
        let cluster = Cluster::with_file(&[], vec![located(1, 0, 100)], &[1]);
        let fs = FileSystem { client: Arc::clone(&cluster.client) };
        let mut reader = FileReader::open(&fs, "/f".into(), OpenOptions::default()).await.unwrap();
        cluster.datanode.close();
        let is_asked = async {
            while cluster.datanode.asked() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            read = reader.read_bytes(60) => panic!("{read:?}"),
            () = is_asked => {}
        }
        cluster.datanode.open();
        assert_eq!(reader.pos(), 0);
        assert_eq!(reader.read_bytes(60).await.unwrap(), bytes_of(1, 0..60));
        assert_eq!(reader.read_bytes(60).await.unwrap(), bytes_of(1, 60..100));
        assert_eq!(reader.pos(), 100);
        assert!(reader.read_bytes(60).await.unwrap().is_empty());
        reader.seek(10).await.unwrap();
        assert_eq!(reader.read_bytes(5).await.unwrap(), bytes_of(1, 10..15));
        assert!(reader.seek(101).await.is_err());
    }
}
