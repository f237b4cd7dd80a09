//! The block map: a slab of fixed-size entries and a hash index of 4-byte slots.
//!
//! ```text
//! entry, 48 bytes: id 8 | length 8 | stamp 8 | file 8 | replication 2 | state 1 | replicas 1 | three storages 12
//! ```
//! More than three replicas of a block live in a side table: few files ask for them.

use super::types::{BlockState, StorageIdx, Storages, StoredBlock};
use crate::index::Index;
use crate::pages::Pages;
use hashbrown::HashMap;
use std::hash::BuildHasher;
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

/// A slot of the slab: stands for a block as long as it is not removed.
pub(super) type Slot = u32;

const INLINE: usize = 3;
const OVERFLOW: u8 = u8::MAX;
const FREE: u8 = u8::MAX - 1;

#[derive(Clone, Copy)]
pub(super) struct Entry {
    id: BlockId,
    len: u64,
    stamp: GenerationStamp,
    file: InodeId,
    replication: u16,
    state: BlockState,
    /// Replicas inline, or [`OVERFLOW`], or [`FREE`].
    count: u8,
    inline: [StorageIdx; INLINE],
}

const _: () = assert!(size_of::<Entry>() == 48);

impl Entry {
    pub(super) fn view(&self) -> StoredBlock {
        StoredBlock {
            block: self.block(),
            file: self.file,
            replication: self.replication,
            state: self.state,
        }
    }

    pub(super) fn block(&self) -> Block {
        Block { id: self.id, stamp: self.stamp, len: self.len }
    }

    pub(super) fn state(&self) -> BlockState {
        self.state
    }

    pub(super) fn replication(&self) -> u16 {
        self.replication
    }
}

/// Blocks by slot and by id.
#[derive(Default)]
pub(super) struct BlockMap {
    slab: Pages<Entry>,
    free: Vec<Slot>,
    index: Index,
    overflow: HashMap<Slot, Storages>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl BlockMap {
    /// Blocks that it holds without growing.
    pub(super) fn capacity(&self) -> usize {
        self.slab.capacity()
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn slot(&self, id: BlockId) -> Option<Slot> {
        let hash = self.hasher.hash_one(id.0);
        self.index
            .find(hash, |slot| self.slab.get(slot as usize).is_some_and(|entry| entry.id == id))
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&Entry> {
        self.slab.get(slot as usize).filter(|entry| entry.count != FREE)
    }

    fn get_mut(&mut self, slot: Slot) -> Option<&mut Entry> {
        self.slab.get_mut(slot as usize).filter(|entry| entry.count != FREE)
    }

    /// Adds a block without replicas; an id that is there already keeps its slot and replicas.
    pub(super) fn insert(&mut self, stored: StoredBlock) -> Slot {
        if let Some(slot) = self.slot(stored.block.id) {
            self.update(slot, |entry| {
                (entry.len, entry.stamp) = (stored.block.len, stored.block.stamp);
                (entry.file, entry.replication, entry.state) =
                    (stored.file, stored.replication, stored.state);
            });
            return slot;
        }
        let entry = Entry {
            id: stored.block.id,
            len: stored.block.len,
            stamp: stored.block.stamp,
            file: stored.file,
            replication: stored.replication,
            state: stored.state,
            count: 0,
            inline: [StorageIdx(0); INLINE],
        };
        let slot = self.place(entry);
        let (slab, hasher) = (&self.slab, &self.hasher);
        let id_of = |slot: Slot| slab.get(slot as usize).map_or(0, |entry| entry.id.0);
        self.index
            .insert(hasher.hash_one(stored.block.id.0), slot, |slot| hasher.hash_one(id_of(slot)));
        slot
    }

    fn place(&mut self, entry: Entry) -> Slot {
        if let Some(slot) = self.free.pop()
            && let Some(place) = self.slab.get_mut(slot as usize)
        {
            *place = entry;
            return slot;
        }
        self.slab.push(entry) as Slot
    }

    /// Forgets a block; its slot may be used again at once.
    pub(super) fn remove(&mut self, slot: Slot) {
        let Some(id) = self.get(slot).map(|entry| entry.id) else { return };
        let hash = self.hasher.hash_one(id.0);
        self.index.remove(hash, slot);
        self.overflow.remove(&slot);
        if let Some(entry) = self.slab.get_mut(slot as usize) {
            entry.count = FREE;
        }
        self.free.push(slot);
    }

    fn update(&mut self, slot: Slot, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.get_mut(slot) {
            change(entry);
        }
    }

    pub(super) fn set_state(&mut self, slot: Slot, state: BlockState) {
        self.update(slot, |entry| entry.state = state);
    }

    pub(super) fn set_stamp(&mut self, slot: Slot, stamp: GenerationStamp) {
        self.update(slot, |entry| entry.stamp = stamp);
    }

    pub(super) fn set_len(&mut self, slot: Slot, len: u64) {
        self.update(slot, |entry| entry.len = len);
    }

    pub(super) fn set_replication(&mut self, slot: Slot, replication: u16) {
        self.update(slot, |entry| entry.replication = replication);
    }

    pub(super) fn set_file(&mut self, slot: Slot, file: InodeId) {
        self.update(slot, |entry| entry.file = file);
    }

    /// The storages that reported a replica.
    pub(super) fn storages(&self, slot: Slot) -> &[StorageIdx] {
        match self.get(slot) {
            Some(entry) if entry.count == OVERFLOW => {
                self.overflow.get(&slot).map_or(&[], |many| many)
            }
            Some(entry) => entry.inline.get(..usize::from(entry.count)).unwrap_or(&[]),
            None => &[],
        }
    }

    /// Notes a replica; false if it was known.
    pub(super) fn add_storage(&mut self, slot: Slot, storage: StorageIdx) -> bool {
        let known = self.storages(slot);
        if known.contains(&storage) {
            return false;
        }
        let mut many = Storages::from_slice(known);
        many.push(storage);
        self.put_storages(slot, many)
    }

    /// Forgets a replica; false if it was not known.
    pub(super) fn remove_storage(&mut self, slot: Slot, storage: StorageIdx) -> bool {
        let known = self.storages(slot);
        if !known.contains(&storage) {
            return false;
        }
        let rest = known.iter().copied().filter(|other| *other != storage).collect();
        self.put_storages(slot, rest)
    }

    fn put_storages(&mut self, slot: Slot, storages: Storages) -> bool {
        let Some(entry) = self.get_mut(slot) else { return false };
        if let Some(inline) = entry.inline.get_mut(..storages.len()) {
            inline.copy_from_slice(&storages);
            let had_many = std::mem::replace(&mut entry.count, storages.len() as u8) == OVERFLOW;
            if had_many {
                self.overflow.remove(&slot);
            }
        } else {
            entry.count = OVERFLOW;
            self.overflow.insert(slot, storages);
        }
        true
    }

    /// Bytes that entries and index take, without what growing sets aside.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.slab.len() * size_of::<Entry>() + self.index.memory()
    }

    /// One past the last slot in use.
    pub(super) fn slot_end(&self) -> Slot {
        self.slab.len() as Slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(id: i64) -> StoredBlock {
        StoredBlock {
            block: Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 5 },
            file: InodeId(16386),
            replication: 3,
            state: BlockState::Complete,
        }
    }

    #[test]
    fn slots_are_used_again_and_ids_are_found() {
        let mut map = BlockMap::default();
        let slots: Vec<_> = (0..1000).map(|id| map.insert(stored(id))).collect();
        map.remove(slots[10]);
        assert_eq!(map.slot(BlockId(10)), None);
        assert_eq!(map.insert(stored(2000)), slots[10]);
        assert_eq!(map.slot(BlockId(2000)), Some(slots[10]));
        assert_eq!(map.len(), 1000);
    }

    #[test]
    fn a_fourth_replica_moves_out_and_back_in() {
        let mut map = BlockMap::default();
        let slot = map.insert(stored(1));
        for storage in 0..5 {
            assert!(map.add_storage(slot, StorageIdx(storage)));
        }
        assert!(!map.add_storage(slot, StorageIdx(4)));
        assert_eq!(map.storages(slot).len(), 5);
        for storage in 0..4 {
            assert!(map.remove_storage(slot, StorageIdx(storage)));
        }
        assert_eq!(map.storages(slot), [StorageIdx(4)]);
    }
}
