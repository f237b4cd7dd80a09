//! The open replicas of a client: found by block, asked for once however many readers start at once.
//!
//! No lock is held over I/O: a replica that is being asked for is a request that others wait for.
//! Replicas in use are never evicted; of the others there are at most `capacity`, none idle for
//! longer than the expiry. (`ShortCircuitCache`)

use super::replica::LocalReplica;
use crate::read::local_outcome::{CacheStatistics, Found, OpenError};
use crate::read::plan::NotLocal;
use crate::types::{DatanodeInfo, LocatedBlock};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_system::clock;
use zerohop_wire::GenerationStamp;

const SHARDS: usize = 16;

/// A replica: a block on one DataNode.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    node: DatanodeInfo,
    pool: Arc<str>,
    id: i64,
}

impl Key {
    pub(super) fn of(block: &LocatedBlock, node: &DatanodeInfo) -> Self {
        Self { node: node.clone(), pool: Arc::clone(&block.block.pool), id: block.block.block.id.0 }
    }
}

enum Entry {
    Open { replica: Arc<LocalReplica>, stamp: GenerationStamp, used: Instant },
    Asked(Arc<PendingRequest>),
}

/// A request that is under way.
#[derive(Default)]
struct PendingRequest {
    outcome: Mutex<Option<Result<Arc<LocalReplica>, Shared>>>,
    finished: Condvar,
}

/// An error that several readers get.
#[derive(Clone)]
enum Shared {
    NotLocal(NotLocal),
    Token(String),
    NeedsPaths,
}

impl From<Shared> for OpenError {
    fn from(error: Shared) -> Self {
        match error {
            Shared::NotLocal(why) => Self::NotLocal(why),
            Shared::Token(text) => Self::Token(text),
            Shared::NeedsPaths => Self::NeedsPaths,
        }
    }
}

impl From<OpenError> for Shared {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NotLocal(why) => Self::NotLocal(why),
            OpenError::Token(text) => Self::Token(text),
            OpenError::NeedsPaths => Self::NeedsPaths,
        }
    }
}

pub(super) struct Cache {
    shards: [Mutex<HashMap<Key, Entry>>; SHARDS],
    hasher: RandomState,
    capacity: usize,
    expiry: Duration,
    hits: AtomicU64,
    misses: AtomicU64,
    waits: AtomicU64,
    evictions: AtomicU64,
}

impl Cache {
    pub(super) fn new(capacity: usize, expiry: Duration) -> Self {
        Self {
            shards: Default::default(),
            hasher: RandomState::new(),
            capacity,
            expiry,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
        }
    }

    fn shard(&self, key: &Key) -> &Mutex<HashMap<Key, Entry>> {
        let at = self.hasher.hash_one(key) as usize % SHARDS;
        &self.shards[at]
    }

    /// The replica, if it is open.
    pub(super) fn find_open(&self, key: &Key, stamp: GenerationStamp) -> Option<Arc<LocalReplica>> {
        let mut shard = self.shard(key).lock();
        let Some(Entry::Open { replica, stamp: known, used }) = shard.get_mut(key) else {
            return None;
        };
        if *known < stamp || !replica.is_current() {
            return None;
        }
        *used = clock::now();
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(replica))
    }

    /// Whether the replica is open, or another reader is asking for it.
    pub(super) fn has(&self, key: &Key, stamp: GenerationStamp) -> bool {
        match self.shard(key).lock().get(key) {
            Some(Entry::Open { replica, stamp: known, .. }) => {
                replica.is_current() && *known >= stamp
            }
            Some(Entry::Asked(_)) => true,
            None => false,
        }
    }

    /// The open replica, asked for by `ask` if need be.
    pub(super) fn get(
        &self,
        key: Key,
        stamp: GenerationStamp,
        ask: impl FnOnce() -> Result<LocalReplica, OpenError>,
    ) -> Result<(Arc<LocalReplica>, Found), OpenError> {
        let shard = self.shard(&key);
        let request = {
            let mut entries = shard.lock();
            match entries.get_mut(&key) {
                Some(Entry::Open { replica, stamp: known, used })
                    if replica.is_current() && *known >= stamp =>
                {
                    *used = clock::now();
                    self.hits.fetch_add(1, Ordering::Relaxed);
                    return Ok((Arc::clone(replica), Found::Open));
                }
                Some(Entry::Asked(request)) => {
                    let request = Arc::clone(request);
                    drop(entries);
                    self.waits.fetch_add(1, Ordering::Relaxed);
                    return Ok((request.wait()?, Found::Waited));
                }
                _ => {}
            }
            let request = Arc::new(PendingRequest::default());
            if let Some(Entry::Open { replica, .. }) =
                entries.insert(key.clone(), Entry::Asked(Arc::clone(&request)))
            {
                replica.drop_it();
            }
            request
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        let guard = RequestGuard { cache: self, key: &key, request: &request };
        let outcome = ask().map(Arc::new).map_err(Shared::from);
        guard.finish(outcome.clone(), stamp);
        self.trim();
        Ok((outcome?, Found::Asked))
    }

    /// Drops a replica that was found bad, unless another took its place already.
    pub(super) fn forget(&self, key: &Key, bad: &Arc<LocalReplica>) {
        bad.drop_it();
        let mut entries = self.shard(key).lock();
        if matches!(entries.get(key), Some(Entry::Open { replica, .. }) if Arc::ptr_eq(replica, bad))
        {
            entries.remove(key);
        }
    }

    /// Drops what is idle for too long.
    pub(super) fn expire(&self) {
        for shard in &self.shards {
            let dropped: Vec<Entry> = {
                let mut entries = shard.lock();
                entries
                    .extract_if(|_, entry| match entry {
                        Entry::Open { replica, used, .. } => {
                            let idle = Arc::strong_count(replica) == 1;
                            idle && (clock::since(*used) >= self.expiry || !replica.is_current())
                        }
                        Entry::Asked(_) => false,
                    })
                    .map(|(_, entry)| entry)
                    .collect()
            };
            self.evictions.fetch_add(dropped.len() as u64, Ordering::Relaxed);
        }
    }

    /// Drops those idle for longest while there are too many.
    fn trim(&self) {
        let count: usize = self.shards.iter().map(|shard| shard.lock().len()).sum();
        for _ in self.capacity..count {
            let oldest = self.shards.iter().filter_map(|shard| {
                let entries = shard.lock();
                let idle = entries.iter().filter_map(|(key, entry)| match entry {
                    Entry::Open { replica, used, .. } if Arc::strong_count(replica) == 1 => {
                        Some((*used, key))
                    }
                    _ => None,
                });
                idle.min_by_key(|(used, _)| *used).map(|(used, key)| (used, key.clone()))
            });
            let Some((_, key)) = oldest.min_by_key(|(used, _)| *used) else { return };
            let dropped = {
                let mut entries = self.shard(&key).lock();
                match entries.get(&key) {
                    Some(Entry::Open { replica, .. }) if Arc::strong_count(replica) == 1 => {
                        entries.remove(&key)
                    }
                    _ => None,
                }
            };
            self.evictions.fetch_add(u64::from(dropped.is_some()), Ordering::Relaxed);
        }
    }

    pub(super) fn statistics(&self) -> CacheStatistics {
        let is_open = |entry: &&Entry| matches!(entry, Entry::Open { .. });
        let open =
            |shard: &Mutex<HashMap<Key, Entry>>| shard.lock().values().filter(is_open).count();
        CacheStatistics {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            waits: self.waits.load(Ordering::Relaxed),
            evictions: self.evictions.load(Ordering::Relaxed),
            open: self.shards.iter().map(open).sum::<usize>() as u64,
        }
    }
}

impl PendingRequest {
    fn wait(&self) -> Result<Arc<LocalReplica>, OpenError> {
        let mut outcome = self.outcome.lock();
        loop {
            match &*outcome {
                Some(outcome) => return outcome.clone().map_err(OpenError::from),
                None => self.finished.wait(&mut outcome),
            }
        }
    }
}

/// Ends a request, also when asking panics: other readers must not wait forever.
struct RequestGuard<'a> {
    cache: &'a Cache,
    key: &'a Key,
    request: &'a Arc<PendingRequest>,
}

impl RequestGuard<'_> {
    fn finish(self, outcome: Result<Arc<LocalReplica>, Shared>, stamp: GenerationStamp) {
        if let Ok(replica) = &outcome
            && self.cache.capacity > 0
        {
            let open = Entry::Open { replica: Arc::clone(replica), stamp, used: clock::now() };
            let mut entries = self.cache.shard(self.key).lock();
            if matches!(entries.get(self.key), Some(Entry::Asked(f)) if Arc::ptr_eq(f, self.request))
            {
                entries.insert(self.key.clone(), open);
            }
        }
        *self.request.outcome.lock() = Some(outcome);
    }
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        let mut entries = self.cache.shard(self.key).lock();
        if matches!(entries.get(self.key), Some(Entry::Asked(f)) if Arc::ptr_eq(f, self.request)) {
            entries.remove(self.key);
        }
        drop(entries);
        let gone = || Err(Shared::NotLocal(NotLocal::gone()));
        self.request.outcome.lock().get_or_insert_with(gone);
        self.request.finished.notify_all();
    }
}
