//! Replicas locked in memory, as a NameNode asks for it (centralized caching, `FsDatasetCache`).
//!
//! While a replica is locked its slots may be anchored: a local reader may use its bytes unverified
//! (they were verified when they were locked) and give them out without a copy. So the lock goes only when no anchor
//! is left, or when its holders had long enough.

use super::key::BlockKey;
use super::registry::Registry;
use memmap2::{Mmap, MmapOptions};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_replica::ReplicaReader;
use zerohop_system::clock;

/// How much may be locked and how patient the cache is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheLimits {
    /// Bytes, whole pages counted (`dfs.datanode.max.locked.memory`); 0: no caching.
    pub(crate) bytes: u64,
    /// How long readers may keep anchors after the NameNode wanted the memory back.
    pub(crate) revocation: Duration,
    /// How often they are looked at meanwhile.
    pub(crate) polling: Duration,
}

/// The replicas in memory.
pub(crate) struct BlockCache {
    limits: CacheLimits,
    page: u64,
    slots: Arc<Registry>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    used: u64,
    blocks: HashMap<BlockKey, Entry>,
}

enum Entry {
    /// It is being verified and locked; false once it is not wanted any more.
    Coming(bool),
    /// It is in memory.
    Here(Locked),
    /// It is in memory for readers that hold anchors only.
    Going(Locked),
}

/// A replica locked in memory, until it is dropped.
struct Locked {
    /// `None` for an empty replica.
    _map: Option<Mmap>,
    bytes: u64,
}

impl BlockCache {
    /// An empty cache that tells the slots of `slots`.
    pub(crate) fn new(limits: CacheLimits, slots: Arc<Registry>) -> Arc<Self> {
        let page = rustix::param::page_size() as u64;
        Arc::new(Self { limits, page, slots, state: Mutex::default() })
    }

    /// Bytes that may be locked.
    pub(crate) fn capacity(&self) -> u64 {
        self.limits.bytes
    }

    /// Bytes that are locked, or about to be.
    pub(crate) fn used(&self) -> u64 {
        self.state.lock().used
    }

    /// Whether a replica is in memory to stay.
    pub(crate) fn has(&self, block: &BlockKey) -> bool {
        matches!(self.state.lock().blocks.get(block), Some(Entry::Here(_)))
    }

    /// The replicas of a pool in memory, for a cache report.
    pub(crate) fn blocks(&self, pool: &str) -> Vec<u64> {
        let state = self.state.lock();
        let here = |(key, entry): (&BlockKey, &Entry)| {
            (&*key.pool == pool && matches!(entry, Entry::Here(_))).then_some(key.id.0 as u64)
        };
        state.blocks.iter().filter_map(here).collect()
    }

    /// Verifies a replica and locks it; the error says for the log why it cannot.
    pub(crate) fn lock(&self, block: &BlockKey, reader: &ReplicaReader) -> Result<(), String> {
        let bytes = reader.len().next_multiple_of(self.page);
        self.reserve(block, bytes)?;
        let locked = verified(reader).map(|map| Locked { _map: map, bytes });
        let mut state = self.state.lock();
        let wanted = matches!(state.blocks.get(block), Some(Entry::Coming(true)));
        match locked {
            Ok(locked) if wanted => {
                state.blocks.insert(block.clone(), Entry::Here(locked));
                // Under the lock: an unlock that follows must find the slots anchorable already.
                self.slots.locked(block);
                Ok(())
            }
            Ok(_) => {
                state.free(block, bytes);
                Err("it was cancelled".to_owned())
            }
            Err(reason) => {
                state.free(block, bytes);
                Err(reason)
            }
        }
    }

    fn reserve(&self, block: &BlockKey, bytes: u64) -> Result<(), String> {
        let mut state = self.state.lock();
        if state.blocks.contains_key(block) {
            return Err("it is there already".to_owned());
        }
        if state.used + bytes > self.limits.bytes {
            return Err(format!(
                "could not reserve more bytes in the cache: {} of {} bytes \
                 (dfs.datanode.max.locked.memory) are taken, {bytes} more are needed",
                state.used, self.limits.bytes
            ));
        }
        state.used += bytes;
        state.blocks.insert(block.clone(), Entry::Coming(true));
        Ok(())
    }

    /// Lets a replica go, as soon as its readers have let go of it; at once if there are none.
    pub(crate) fn unlock(self: &Arc<Self>, block: &BlockKey) {
        let mut state = self.state.lock();
        match state.blocks.remove(block) {
            None => {}
            Some(Entry::Coming(_)) => {
                state.blocks.insert(block.clone(), Entry::Coming(false));
            }
            Some(Entry::Going(locked)) => {
                state.blocks.insert(block.clone(), Entry::Going(locked));
            }
            Some(Entry::Here(locked)) if self.slots.may_unlock(block) => state.used -= locked.bytes,
            Some(Entry::Here(locked)) => {
                state.blocks.insert(block.clone(), Entry::Going(locked));
                drop(state);
                self.wait_for_readers(block.clone());
            }
        }
    }

    fn wait_for_readers(self: &Arc<Self>, block: BlockKey) {
        let (cache, polling) = (Arc::downgrade(self), self.limits.polling);
        let deadline = clock::now() + self.limits.revocation;
        let waiting = std::thread::Builder::new().name("uncache".to_owned()).spawn(move || {
            while cache.upgrade().is_some_and(|cache| !cache.let_go(&block, deadline)) {
                std::thread::park_timeout(polling);
            }
        });
        if let Err(error) = waiting {
            tracing::warn!("a replica stays locked in memory: no thread: {error}");
        }
    }

    /// True when the replica is out of memory.
    fn let_go(&self, block: &BlockKey, deadline: Instant) -> bool {
        if !self.slots.may_unlock(block) {
            if clock::now() < deadline {
                return false;
            }
            tracing::warn!(
                "{}:blk_{} is unlocked although {} would not let go of it",
                block.pool,
                block.id,
                self.slots.clients(block)
            );
        }
        let mut state = self.state.lock();
        if let Some(Entry::Going(locked)) = state.blocks.get(block) {
            let bytes = locked.bytes;
            state.free(block, bytes);
        }
        true
    }
}

impl State {
    fn free(&mut self, block: &BlockKey, bytes: u64) {
        self.blocks.remove(block);
        self.used -= bytes;
    }
}

/// Checks all bytes against their sums, then locks them.
fn verified(reader: &ReplicaReader) -> Result<Option<Mmap>, String> {
    reader.verify().map_err(|error| error.to_string())?;
    if reader.is_empty() {
        return Ok(None);
    }
    lock(reader).map(Some).map_err(|error| {
        format!("cannot lock {} bytes in memory: {error} (ulimit -l)", reader.len())
    })
}

fn lock(reader: &ReplicaReader) -> io::Result<Mmap> {
    let len = usize::try_from(reader.len()).map_err(io::Error::other)?;
    // SAFETY: the map is never read: it only keeps the pages in memory. So a change of the file under
    // it does no harm.
    let map = unsafe { MmapOptions::new().len(len).map(reader.data())? };
    map.lock()?;
    Ok(map)
}

/// The limit that the system sets on locked memory.
pub(crate) fn system_limit() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock);
    limit.current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::*;
    use zerohop_transport::domain::Peer;
    use zerohop_transport::shm::Segment;
    use zerohop_wire::{BlockId, Slot, SlotId};

    const PEER: Peer = Peer { pid: 1, uid: 1 };

    fn key(id: i64) -> BlockKey {
        BlockKey { pool: "BP-1".into(), id: BlockId(id) }
    }

    fn cache(polling: Duration) -> (Arc<BlockCache>, Arc<Registry>) {
        let slots = Registry::new(Vec::new(), Limits { per_process: 4, per_user: 4, total: 4 });
        let limits = CacheLimits {
            bytes: 3 * rustix::param::page_size() as u64,
            revocation: Duration::from_secs(600),
            polling,
        };
        (BlockCache::new(limits, Arc::clone(&slots)), slots)
    }

    #[test]
    fn what_fits_is_locked_and_counted_in_pages() {
        let (cache, _) = cache(Duration::from_millis(1));
        let page = rustix::param::page_size() as u64;
        let (_directory, reader) = crate::store::store_test::sample(page as usize + 1);
        cache.lock(&key(1), &reader).unwrap();
        assert_eq!((cache.used(), cache.blocks("BP-1")), (2 * page, vec![1]));
        assert!(cache.lock(&key(1), &reader).is_err(), "twice");
        let refused = cache.lock(&key(2), &reader).unwrap_err();
        assert!(refused.contains("dfs.datanode.max.locked.memory"), "{refused}");
        cache.unlock(&key(1));
        assert_eq!((cache.used(), cache.has(&key(1))), (0, false));
    }

    #[test]
    fn memory_stays_until_the_last_anchor_is_gone() {
        let (cache, slots) = cache(Duration::from_millis(1));
        let (segment_guard, fd) = slots.create("c", PEER).unwrap();
        let segment = Segment::map(fd).unwrap();
        let slot = segment.slot(0).unwrap();
        slot.claim();
        slots.register(SlotId { shm: segment_guard.id(), index: 0 }, PEER, &key(1), false).unwrap();
        let (_directory, reader) = crate::store::store_test::sample(100);
        cache.lock(&key(1), &reader).unwrap();
        assert!(slot.add_anchor());
        cache.unlock(&key(1));
        assert!(!cache.has(&key(1)) && cache.used() > 0);
        assert!(!slot.add_anchor());
        slot.remove_anchor();
        let deadline = Instant::now() + Duration::from_secs(30);
        while cache.used() > 0 {
            assert!(Instant::now() < deadline, "still locked");
            std::thread::yield_now();
        }
        // And it can come again.
        cache.lock(&key(1), &reader).unwrap();
        assert!(slot.add_anchor());
    }
}
