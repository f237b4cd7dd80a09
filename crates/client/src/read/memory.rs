//! Reads that wait for nothing, for tasks: the bytes are in this machine's memory and their replica is
//! open. All others are left to [`task`](super::task).

use super::block::path_of;
use super::file::File;
use super::local::ZeroCopyRead;
use super::local_outcome::Found;
use super::plan;
use crate::error::Result;
use crate::types::DatanodeInfo;
use bytes::Bytes;
use std::sync::Arc;

/// A task reads up to this many bytes itself. To copy and verify so many takes about 30 us, and to hand
/// them to a thread and back about 15.
pub(crate) const INLINE_MAX: usize = 256 << 10;

/// A file as tasks read it.
#[derive(Clone)]
pub(crate) struct TaskFile(Arc<File>);

impl File {
    /// Reads at `offset` from a replica that is open here; `None` where that cannot be.
    #[inline]
    pub(crate) fn read_open_replica(&self, offset: u64, out: &mut [u8]) -> Option<usize> {
        self.known.read(&self.counters, offset, out, self.verify_local)
    }
}

impl TaskFile {
    pub(crate) fn new(file: File) -> Self {
        Self(Arc::new(file))
    }

    /// A file that threads read, too.
    pub(super) fn of(file: &Arc<File>) -> Self {
        Self(Arc::clone(file))
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.0
    }

    /// All of `len` bytes at `offset`, if they are in memory; `None` where a disk or a DataNode would be
    /// waited for.
    pub(crate) fn bytes_in_memory(&self, offset: u64, len: usize) -> Option<Bytes> {
        if self.in_memory(offset, len) != len {
            return None;
        }
        let file = self.file();
        if file.maps_bytes {
            return mapped_bytes(file, offset, len);
        }
        let mut buffer = file.client.buffers.take(len);
        let read = file.read_open_replica(offset, buffer.as_mut())?;
        Some(buffer.into_bytes(read))
    }

    /// The same, for files that were opened for it, from the map at any length: a thread waits for the
    /// disk.
    pub(super) async fn mapped_on_thread(&self, offset: u64, len: usize) -> Result<Option<Bytes>> {
        if !self.file().maps_bytes {
            return Ok(None);
        }
        let file = Arc::clone(self.file());
        self.file().client.on_thread(move || Ok(mapped_bytes(&file, offset, len))).await
    }

    /// Reads some of `out` at `offset` from memory; `None` where every byte would have to be waited for.
    pub(crate) fn read_some_in_memory(&self, offset: u64, out: &mut [u8]) -> Option<usize> {
        let len = self.in_memory(offset, out.len().min(INLINE_MAX));
        self.file().read_open_replica(offset, out.get_mut(..len).filter(|out| !out.is_empty())?)
    }

    /// Whether a task may read all of some ranges (offset and length) itself.
    pub(crate) fn are_in_memory(&self, ranges: &[(u64, usize)]) -> bool {
        let total = ranges.iter().fold(0usize, |sum, range| sum.saturating_add(range.1));
        let is_in_memory = |(offset, len): &(u64, usize)| self.in_memory(*offset, *len) == *len;
        total <= INLINE_MAX && ranges.iter().all(is_in_memory)
    }

    /// How many bytes at `offset` a task may read itself: 0, or `len` as far as the block goes.
    fn in_memory(&self, offset: u64, len: usize) -> usize {
        if len > INLINE_MAX {
            return 0;
        }
        let file = self.file();
        if !file.known.has_all(offset, 1) {
            self.take_open_replica(offset);
        }
        file.known.in_memory(offset, len)
    }

    /// Takes the replica that holds `offset` from those that this client has open, if it is one of this machine. Waits for
    /// nothing.
    fn take_open_replica(&self, offset: u64) {
        let file = self.file();
        let Some(block) = file.located_at(offset) else { return };
        let local = &file.client.settings.local;
        if plan::plan(local, file.is_being_written(&block)).is_err() {
            return;
        }
        let is_dead = |node: &DatanodeInfo| {
            file.dead.contains(node) || file.client.unreachable.contains(node)
        };
        let mut nodes = block.nodes().filter(|node| !is_dead(node));
        let Some(replica) = nodes.find_map(|node| file.client.local.find_open(&block, node)) else {
            return;
        };
        let (path, note) = (path_of(&replica), file.client.local.note());
        file.counters.opened_local(path, Found::Open, note);
        file.known.add(block.offset, block.end(), &replica);
    }

    /// All of `len` bytes at `offset` where they lie in the map of an open replica, verified there. `None` where no replica
    /// is open that has them, or they have to come from the disk.
    pub(crate) async fn zero_copy_at(&self, offset: u64, len: usize) -> Option<ZeroCopyRead> {
        // A task whose reads never wait lets others run now and then.
        tokio::task::coop::consume_budget().await;
        if self.in_memory(offset, len) == len {
            return mapped(self.file(), offset, len);
        }
        if !self.file().known.has_all(offset, len) {
            return None;
        }
        let file = Arc::clone(self.file());
        let on_thread = move || {
            let is_cold = file.known.is_cold(offset, len);
            Ok(if is_cold { None } else { mapped(&file, offset, len) })
        };
        self.file().client.on_thread(on_thread).await.ok()?
    }
}

/// All of `len` bytes at `offset` where they lie, verified there, if their replica is open and mapped.
fn mapped(file: &File, offset: u64, len: usize) -> Option<ZeroCopyRead> {
    if !file.known.has_all(offset, len) {
        return None;
    }
    file.known.read_zero_copy(&file.counters, offset, len, file.verify_local).ok()?
}

/// Returns the bytes without a guard, for callers that have no `is_intact`; `None` if the block file cannot be mapped twice.
fn mapped_bytes(file: &File, offset: u64, len: usize) -> Option<Bytes> {
    let read = mapped(file, offset, len)?.without_guard();
    let logged = read.inspect_err(|error| {
        tracing::debug!("cannot map a block file a second time: {error}");
    });
    Some(Bytes::from_owner(MappedBytes(logged.ok()?)))
}

/// Bytes of a mapped replica. The map lives as long as they do; what the DataNode has locked in memory
/// for a cache directive stays locked.
struct MappedBytes(ZeroCopyRead);

impl AsRef<[u8]> for MappedBytes {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the caller that opened the file promised that no process writes to its block files or truncates them
        // (`OpenOptions::with_mapped_bytes`).
        unsafe { self.0.as_slice() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Cluster, located};
    use crate::read::local::replica_test::{Files, MAPPED};
    use crate::types::OpenOptions;
    use zerohop_wire::checksum_type::DataChecksum;

    const LEN: usize = 1 << 20;

    /// A file of one block that no DataNode serves, whose replica is open here.
    fn open(options: OpenOptions) -> (Cluster, TaskFile, Files) {
        let cluster = Cluster::with_file(&[], vec![located(1, 0, LEN as u64)], &[]);
        let opening = File::open(&cluster.client, "/f".to_owned(), options);
        let file = cluster.client.wait(opening).unwrap();
        let files = Files::new(LEN, DataChecksum::default());
        file.known.add(0, LEN as u64, &Arc::new(files.open(MAPPED).unwrap()));
        (cluster, TaskFile::new(file), files)
    }

    #[test]
    fn bytes_are_in_memory_after_the_first_read() {
        let (_cluster, file, files) = open(OpenOptions::default());
        let mut out = [0; 1000];
        assert!(file.bytes_in_memory(10, 1000).is_none(), "not read yet");
        assert!(file.read_some_in_memory(10, &mut out).is_none());
        file.file().read_at(0, &mut vec![0; LEN]).unwrap();
        assert_eq!(file.bytes_in_memory(10, 1000).unwrap(), files.bytes[10..1010]);
        assert!(file.bytes_in_memory(0, INLINE_MAX + 1).is_none(), "too many for a task");
        assert!(file.bytes_in_memory(LEN as u64 - 10, 11).is_none(), "beyond the block");
        assert_eq!(file.read_some_in_memory(LEN as u64 - 10, &mut out), Some(10));
        assert_eq!(out[..10], files.bytes[LEN - 10..]);
        assert!(file.are_in_memory(&[(0, 100), (500, 0), (900_000, 100)]));
        assert!(!file.are_in_memory(&[(0, INLINE_MAX), (0, 1)]));
        assert_eq!(file.file().statistics().zero_copy_bytes, 0);
    }

    #[test]
    fn mapped_bytes_are_not_copied_and_outlive_their_file() {
        // SAFETY: the block file is this test's alone.
        let (cluster, file, files) = open(unsafe { OpenOptions::default().with_mapped_bytes() });
        assert!(mapped_bytes(file.file(), LEN as u64 - 10, 11).is_none(), "beyond the block");
        let long = mapped_bytes(file.file(), 100, LEN - 100).unwrap();
        let short = file.bytes_in_memory(200, 50).unwrap();
        assert_eq!(short.as_ptr(), long[100..].as_ptr());
        let statistics = file.file().statistics();
        assert_eq!(statistics.zero_copy_bytes, LEN as u64 - 50);
        assert_eq!(statistics.checked_bytes, statistics.zero_copy_bytes, "verified in the map");
        file.file().let_go();
        drop((file, cluster));
        assert_eq!(
            (long, short),
            (files.bytes[100..].to_vec().into(), files.bytes[200..250].to_vec().into())
        );
    }

    #[tokio::test]
    async fn a_read_without_a_copy_is_one_of_an_open_replica() {
        let opened = || open(OpenOptions::default());
        let (cluster, file, files) = tokio::task::spawn_blocking(opened).await.unwrap();
        let read = file.zero_copy_at(LEN as u64 - 600_000, 600_000).await.expect("on a thread");
        assert_eq!(read.file().unwrap().unwrap().1, LEN as u64 - 600_000);
        let mut copy = vec![0; 600_000];
        read.bytes().copy_to(&mut copy);
        assert!(copy == files.bytes[LEN - 600_000..]);
        assert!(file.zero_copy_at(LEN as u64 - 10, 11).await.is_none(), "beyond the block");
        file.file().let_go();
        assert!(file.zero_copy_at(0, 10).await.is_none(), "no replica is open");
        tokio::task::spawn_blocking(|| drop((file, cluster))).await.unwrap();
    }

    /// Reads from memory never wait: other tasks of the thread would not run.
    #[tokio::test]
    async fn a_task_that_reads_from_memory_lets_others_run() {
        let (_cluster, file, _files) = tokio::task::spawn_blocking(|| {
            let opened = open(OpenOptions::default());
            opened.1.file().read_at(0, &mut vec![0; LEN]).unwrap();
            opened
        })
        .await
        .unwrap();
        let other = tokio::spawn(async {});
        for _ in 0..10_000 {
            file.read_at(0, 1).await.unwrap();
        }
        assert!(other.is_finished());
    }
}
