//! Segments and slots, by client and by block (`ShortCircuitRegistry`).
//!
//! A segment lives as long as the connection it was asked for on: its [`SegmentGuard`] lies with that
//! connection, and the kernel closes the connection when the client dies, however it dies.

use super::key::BlockKey;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::SystemTime;
use zerohop_system::{clock, random};
use zerohop_transport::domain::Peer;
use zerohop_transport::shm::Segment;
use zerohop_wire::{ShmId, Slot, SlotId};

/// Longer client names are cut.
const CLIENT_NAME_MAX: usize = 255;

/// How many segments there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Of one process; each has 128 slots, one for an open replica.
    pub(crate) per_process: usize,
    /// Of all processes of one user, who could else lock the others out.
    pub(crate) per_user: usize,
    /// Of all.
    pub(crate) total: usize,
}

/// All segments and slots of a DataNode.
pub(crate) struct Registry {
    /// Where segments may be made, if the kernel gives no memory of its own for them.
    directories: Vec<String>,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    segments: HashMap<ShmId, Registered>,
    slots: HashMap<BlockKey, Vec<SlotId>>,
}

/// A segment with its client.
pub(super) struct Registered {
    pub(super) segment: Segment,
    pub(super) client: String,
    pub(super) peer: Peer,
    pub(super) since: SystemTime,
    pub(super) slots: BTreeMap<i32, UsedSlot>,
}

/// A slot in use.
pub(super) struct UsedSlot {
    pub(super) block: BlockKey,
    pub(super) since: SystemTime,
}

/// A slot cannot be registered or given back (`InvalidRequestException`).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidSlot(pub(crate) String);

impl fmt::Display for InvalidSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A segment's life: it is freed, and all its slots are, when this goes.
pub(crate) struct SegmentGuard {
    registry: Arc<Registry>,
    id: ShmId,
}

impl SegmentGuard {
    /// The segment's name.
    pub(crate) fn id(&self) -> ShmId {
        self.id
    }
}

impl Drop for SegmentGuard {
    fn drop(&mut self) {
        self.registry.free(self.id);
    }
}

impl fmt::Debug for SegmentGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SegmentGuard({})", self.id)
    }
}

impl Registered {
    fn slot(&self, index: i32) -> Option<&std::sync::atomic::AtomicU64> {
        self.segment.slot(usize::try_from(index).ok()?)
    }
}

impl Registry {
    /// An empty registry.
    pub(crate) fn new(directories: Vec<String>, limits: Limits) -> Arc<Self> {
        Arc::new(Self { directories, limits, state: Mutex::default() })
    }

    /// Makes a segment for a client; the descriptor is for it.
    pub(crate) fn create(
        self: &Arc<Self>,
        client: &str,
        peer: Peer,
    ) -> io::Result<(SegmentGuard, OwnedFd)> {
        // Before the limits are looked at, so that the lock is not held over system calls.
        let (segment, fd) = Segment::create(&self.directories)?;
        let client: String = client.chars().take(CLIENT_NAME_MAX).collect();
        let since = clock::wall();
        let registered = Registered { segment, client, peer, since, slots: BTreeMap::new() };
        let mut state = self.state.lock();
        self.check_room(&state, peer)?;
        let id = loop {
            let id = ShmId { hi: random::i64(..), lo: random::i64(..) };
            if !state.segments.contains_key(&id) {
                break id;
            }
        };
        state.segments.insert(id, registered);
        drop(state);
        Ok((SegmentGuard { registry: Arc::clone(self), id }, fd))
    }

    fn check_room(&self, state: &State, peer: Peer) -> io::Result<()> {
        let count = |is_counted: fn(Peer, Peer) -> bool| {
            state.segments.values().filter(|known| is_counted(known.peer, peer)).count()
        };
        let (limit, key) = if count(|known, peer| known == peer) >= self.limits.per_process {
            (self.limits.per_process, "zerohop.datanode.shortcircuit.segments.max.per.process")
        } else if count(|known, peer| known.uid == peer.uid) >= self.limits.per_user {
            (self.limits.per_user, "zerohop.datanode.shortcircuit.segments.max.per.user")
        } else if state.segments.len() >= self.limits.total {
            (self.limits.total, "zerohop.datanode.shortcircuit.segments.max")
        } else {
            return Ok(());
        };
        Err(io::Error::new(
            io::ErrorKind::QuotaExceeded,
            format!("{peer} asked for more than the {limit} segments that {key} allows"),
        ))
    }

    fn free(&self, id: ShmId) {
        let mut state = self.state.lock();
        let Some(segment) = state.segments.remove(&id) else { return };
        for (index, held) in &segment.slots {
            if let Some(slot) = segment.slot(*index) {
                slot.make_invalid();
            }
            state.forget(&held.block, SlotId { shm: id, index: *index });
        }
    }

    /// Notes that a client holds descriptors of `block` under a slot of its own, which must be
    /// valid. A revocation of the block from now on reaches that slot.
    pub(crate) fn register(
        &self,
        id: SlotId,
        peer: Peer,
        block: &BlockKey,
        is_cached: bool,
    ) -> Result<(), InvalidSlot> {
        let mut state = self.state.lock();
        let registered = state.of(id, peer)?;
        let name = format_args!("RegisteredShm({}): ", id.shm).to_string();
        let bad = |text: &str| Err(InvalidSlot(format!("{name}{text}")));
        if id.index < 0 {
            return bad(&format!("invalid negative slot index {}", id.index));
        }
        let Some(slot) = registered.slot(id.index) else {
            return bad(&format!("invalid slot index {}", id.index));
        };
        if registered.slots.contains_key(&id.index) {
            return bad(&format!("slot {} is already in use.", id.index));
        }
        if !slot.is_valid() {
            return bad(&format!("slot {} is not marked as valid.", id.index));
        }
        if is_cached {
            slot.make_anchorable();
        } else {
            slot.make_unanchorable();
        }
        let held = UsedSlot { block: block.clone(), since: clock::wall() };
        registered.slots.insert(id.index, held);
        state.slots.entry(block.clone()).or_default().push(id);
        Ok(())
    }

    /// The client of a slot holds its descriptors no more.
    pub(crate) fn unregister(&self, id: SlotId, peer: Peer) -> Result<(), InvalidSlot> {
        let mut state = self.state.lock();
        let registered = state.of(id, peer)?;
        let Some(held) = registered.slots.remove(&id.index) else {
            return Err(InvalidSlot(format!(
                "RegisteredShm({}): slot {} does not exist.",
                id.shm, id.index
            )));
        };
        if let Some(slot) = registered.slot(id.index) {
            slot.make_invalid();
        }
        state.forget(&held.block, id);
        Ok(())
    }

    fn for_each_slot(&self, block: &BlockKey, mut act: impl FnMut(&dyn Fn() -> String, &Word)) {
        let state = self.state.lock();
        for id in state.slots.get(block).into_iter().flatten() {
            let Some(registered) = state.segments.get(&id.shm) else { continue };
            if let Some(slot) = registered.slot(id.index) {
                act(&|| registered.client.clone(), slot);
            }
        }
    }

    /// Tells all clients that hold descriptors of `block` not to use them any more.
    pub(crate) fn revoke(&self, block: &BlockKey) {
        let mut count = 0;
        self.for_each_slot(block, |_, slot| {
            slot.make_invalid();
            count += 1;
        });
        if count > 0 {
            tracing::info!("{}:blk_{}: {count} local readers told off", block.pool, block.id);
        }
    }

    /// `block` is locked in memory now: its slots may be anchored.
    pub(crate) fn locked(&self, block: &BlockKey) {
        self.for_each_slot(block, |_, slot| slot.make_anchorable());
    }

    /// `block` shall not be locked in memory any more: no new anchors. True when none is left.
    pub(crate) fn may_unlock(&self, block: &BlockKey) -> bool {
        let mut free = true;
        self.for_each_slot(block, |_, slot| {
            slot.make_unanchorable();
            free &= !slot.is_anchored();
        });
        free
    }

    /// Names of the clients that hold descriptors of `block`.
    pub(crate) fn clients(&self, block: &BlockKey) -> String {
        let mut names = std::collections::BTreeSet::new();
        self.for_each_slot(block, |name, _| {
            names.insert(name());
        });
        names.into_iter().collect::<Vec<_>>().join(",")
    }

    /// Segments, and slots in use.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.segments.len(), state.slots.values().map(Vec::len).sum())
    }

    /// The limits.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Shows each segment to `see`.
    pub(super) fn each(&self, mut see: impl FnMut(ShmId, &Registered)) {
        for (id, registered) in &self.state.lock().segments {
            see(*id, registered);
        }
    }
}

type Word = std::sync::atomic::AtomicU64;

impl State {
    /// The segment of a slot. The name is a secret of its client; another user's is not found.
    fn of(&mut self, id: SlotId, peer: Peer) -> Result<&mut Registered, InvalidSlot> {
        let found = self.segments.get_mut(&id.shm).filter(|known| known.peer.uid == peer.uid);
        found.ok_or_else(|| {
            InvalidSlot(format!(
                "there is no shared memory segment registered with shmId {}",
                id.shm
            ))
        })
    }

    fn forget(&mut self, block: &BlockKey, id: SlotId) {
        if let Some(slots) = self.slots.get_mut(block) {
            slots.retain(|known| *known != id);
            if slots.is_empty() {
                self.slots.remove(block);
            }
        }
    }
}
