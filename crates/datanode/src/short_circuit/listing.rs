//! Who reads what locally, as JSON (`/shortcircuit` of the HTTP port).

use super::cache::BlockCache;
use super::registry::{Registered, Registry, UsedSlot};
use super::socket::SocketState;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};
use zerohop_wire::{ShmId, Slot};

/// The domain socket, the limits, the memory that cached replicas take, and each segment with its process and the replicas it holds;
/// times are milliseconds since 1970, as everywhere in Hadoop's pages.
pub(crate) fn listing(registry: &Registry, socket: &SocketState, cache: &BlockCache) -> Value {
    let mut segments = Vec::new();
    registry.each(|id, registered| segments.push((registered.since, segment(id, registered))));
    segments.sort_by_key(|(since, _)| *since);
    let limits = registry.limits();
    json!({
        "socket": {
            "path": socket.path.read().as_ref().map(|path| path.display().to_string()),
            "accepted": socket.accepted.load(Ordering::Relaxed),
            "problem": *socket.problem.read(),
        },
        "limits": { "segmentsPerProcess": limits.per_process, "segments": limits.total },
        "cache": { "capacity": cache.capacity(), "used": cache.used() },
        "slots": registry.counts().1,
        "segments": segments.into_iter().map(|(_, segment)| segment).collect::<Vec<_>>(),
    })
}

/// A process that reads locally.
pub(crate) struct LocalReader {
    pub(crate) pid: i32,
    pub(crate) uid: u32,
    /// As it names itself.
    pub(crate) client: String,
    pub(crate) since: SystemTime,
    pub(crate) replicas: Vec<HeldReplica>,
}

/// A replica whose descriptors it was given.
pub(crate) struct HeldReplica {
    pub(crate) block: String,
    pub(crate) since: SystemTime,
    pub(crate) is_valid: bool,
    pub(crate) is_anchorable: bool,
    /// Reads that use it now.
    pub(crate) anchors: u32,
}

/// The processes that read locally, those that have done so longest first.
pub(crate) fn local_readers(registry: &Registry) -> Vec<LocalReader> {
    let mut readers = Vec::new();
    registry.each(|_, registered| {
        let held = |(index, held): (&i32, &UsedSlot)| {
            let word =
                usize::try_from(*index).ok().and_then(|index| registered.segment.slot(index));
            HeldReplica {
                block: format!("{}:blk_{}", held.block.pool, held.block.id),
                since: held.since,
                is_valid: word.is_some_and(|word| word.is_valid()),
                is_anchorable: word.is_some_and(|word| word.is_anchorable()),
                anchors: word.map_or(0, |word| word.anchors()),
            }
        };
        readers.push(LocalReader {
            pid: registered.peer.pid,
            uid: registered.peer.uid,
            client: registered.client.clone(),
            since: registered.since,
            replicas: registered.slots.iter().map(held).collect(),
        });
    });
    readers.sort_by_key(|reader| reader.since);
    readers
}

fn segment(id: ShmId, registered: &Registered) -> Value {
    let slots = registered.slots.iter().map(|(index, held)| {
        let word = usize::try_from(*index).ok().and_then(|index| registered.segment.slot(index));
        json!({
            "slot": index,
            "block": format!("{}:blk_{}", held.block.pool, held.block.id),
            "since": millis(held.since),
            "valid": word.is_some_and(|word| word.is_valid()),
            "anchorable": word.is_some_and(|word| word.is_anchorable()),
            "anchors": word.map_or(0, |word| word.anchors()),
        })
    });
    json!({
        "shmId": id.to_string(),
        "client": registered.client,
        "pid": registered.peer.pid,
        "uid": registered.peer.uid,
        "since": millis(registered.since),
        "slots": slots.collect::<Vec<_>>(),
    })
}

fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
