//! The block map: a slab of fixed-size entries and an index of 4-byte slots by id.
//!
//! ```text
//! entry, 40 bytes: id 8 | length 6 | stamp 6 | file 6 | replication 11 bits, state 2, replicas 3 | three storages 12
//! ```
//! What does not fit (more than three replicas, a number of more than 48 bits) lives in a side table: few blocks have it.

use super::types::{BlockState, Result, StorageIdx, Storages, StoredBlock};
use crate::error::{BlockError, refuse};
use crate::id_index::IdIndex;
use crate::packed::U48;
use crate::pages::Pages;
use hashbrown::HashMap;
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

/// A slot of the slab: stands for a block as long as it is not removed.
pub(super) type Slot = u32;

const INLINE: usize = 3;
/// Instead of a number of replicas: the block is in the side table.
const WIDE: u16 = 7;
/// Instead of a number of replicas: no block has the slot.
const FREE: u16 = 6;
const COUNT_BITS: u32 = 3;
const STATE_BITS: u32 = 2;
const REPLICATION_MAX: u16 = (1 << (16 - COUNT_BITS - STATE_BITS)) - 1;

/// What is stored of a block, where it is not.
#[derive(Clone, Copy)]
pub(super) struct Entry(StoredBlock);

impl Entry {
    pub(super) fn view(&self) -> StoredBlock {
        self.0
    }

    pub(super) fn block(&self) -> Block {
        self.0.block
    }

    pub(super) fn state(&self) -> BlockState {
        self.0.state
    }

    pub(super) fn replication(&self) -> u16 {
        self.0.replication
    }
}

#[derive(Clone, Copy)]
struct Packed {
    id: BlockId,
    len: U48,
    stamp: U48,
    file: U48,
    /// Replication, state, and how many replicas are in `inline`, [`WIDE`] or [`FREE`].
    bits: u16,
    inline: [StorageIdx; INLINE],
}

const _: () = assert!(size_of::<Packed>() == 40);

impl Packed {
    /// A block without replicas; none if it does not fit.
    fn new(stored: &StoredBlock) -> Option<Self> {
        let Block { id, stamp, len } = stored.block;
        if stored.replication > REPLICATION_MAX {
            return None;
        }
        Some(Self {
            id,
            len: U48::new(len)?,
            stamp: U48::new(stamp.0 as u64)?,
            file: U48::new(stored.file.0)?,
            bits: stored.replication << (COUNT_BITS + STATE_BITS)
                | state_bits(stored.state) << COUNT_BITS,
            inline: [StorageIdx(0); INLINE],
        })
    }

    fn without_block(id: BlockId, count: u16) -> Self {
        let none = U48::default();
        let inline = [StorageIdx(0); INLINE];
        Self { id, len: none, stamp: none, file: none, bits: count, inline }
    }

    fn count(&self) -> u16 {
        self.bits & ((1 << COUNT_BITS) - 1)
    }

    fn set_count(&mut self, count: u16) {
        self.bits = self.bits & !((1 << COUNT_BITS) - 1) | count;
    }

    fn stored(&self) -> StoredBlock {
        StoredBlock {
            block: Block {
                id: self.id,
                stamp: GenerationStamp(self.stamp.get() as i64),
                len: self.len.get(),
            },
            file: InodeId(self.file.get()),
            replication: self.bits >> (COUNT_BITS + STATE_BITS),
            state: state_of(self.bits >> COUNT_BITS),
        }
    }
}

fn state_bits(state: BlockState) -> u16 {
    match state {
        BlockState::UnderConstruction => 0,
        BlockState::UnderRecovery => 1,
        BlockState::Committed => 2,
        BlockState::Complete => 3,
    }
}

fn state_of(bits: u16) -> BlockState {
    match bits & ((1 << STATE_BITS) - 1) {
        0 => BlockState::UnderConstruction,
        1 => BlockState::UnderRecovery,
        2 => BlockState::Committed,
        _ => BlockState::Complete,
    }
}

/// A block that does not fit into [`Packed`].
struct Wide {
    stored: StoredBlock,
    storages: Storages,
}

/// Blocks by slot and by id.
#[derive(Default)]
pub(super) struct BlockMap {
    slab: Pages<Packed>,
    free: Vec<Slot>,
    index: IdIndex,
    wide: HashMap<Slot, Wide>,
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
        self.index.get(id.0 as u64)
    }

    pub(super) fn get(&self, slot: Slot) -> Option<Entry> {
        let packed = self.slab.get(slot as usize)?;
        match packed.count() {
            FREE => None,
            WIDE => self.wide.get(&slot).map(|wide| Entry(wide.stored)),
            _ => Some(Entry(packed.stored())),
        }
    }

    /// A block by its id, and its slot.
    pub(super) fn find(&self, id: BlockId) -> Option<(Slot, StoredBlock)> {
        let slot = self.slot(id)?;
        Some((slot, self.get(slot)?.view()))
    }

    /// What is known of a block.
    pub(super) fn stored(&self, id: BlockId) -> Option<StoredBlock> {
        self.find(id).map(|(_, stored)| stored)
    }

    /// Whether the block is there and complete.
    pub(super) fn is_complete(&self, id: BlockId) -> bool {
        self.stored(id).is_some_and(|stored| stored.state == BlockState::Complete)
    }

    /// Whether a client that is done with a block may say of it what it says.
    ///
    /// # Errors
    /// `Error::Block` when the stamp is not the stored one, or it is shorter than is known, or unknown.
    pub(super) fn check_commit(&self, committed: Block) -> Result<()> {
        let Some(stored) = self.stored(committed.id) else {
            return refuse(BlockError::Unknown { block: committed });
        };
        if stored.block.stamp != committed.stamp {
            return refuse(BlockError::CommitOfOtherStamp { stored: stored.block, committed });
        }
        if stored.block.len > committed.len {
            let (committed, stored) = (committed.len, stored.block.len);
            return refuse(BlockError::CommitTooShort { committed, stored });
        }
        Ok(())
    }

    /// Adds a block without replicas; an id that is there already keeps its slot and replicas.
    pub(super) fn insert(&mut self, stored: StoredBlock) -> Slot {
        if let Some(slot) = self.slot(stored.block.id) {
            self.update(slot, |old| *old = stored);
            return slot;
        }
        let slot = self.place(Packed::without_block(stored.block.id, FREE));
        self.index.insert(stored.block.id.0 as u64, slot);
        self.write(slot, stored, &[]);
        slot
    }

    fn place(&mut self, entry: Packed) -> Slot {
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
        let Some(packed) = self.slab.get_mut(slot as usize).filter(|one| one.count() != FREE)
        else {
            return;
        };
        if packed.count() == WIDE {
            self.wide.remove(&slot);
        }
        packed.set_count(FREE);
        self.index.remove(packed.id.0 as u64);
        self.free.push(slot);
    }

    /// Stores a block and its replicas in the entry of its slot, beside it if they do not fit.
    fn write(&mut self, slot: Slot, stored: StoredBlock, storages: &[StorageIdx]) {
        let Some(place) = self.slab.get_mut(slot as usize) else { return };
        let was_wide = place.count() == WIDE;
        if storages.len() <= INLINE
            && let Some(mut packed) = Packed::new(&stored)
        {
            packed.set_count(storages.len() as u16);
            packed.inline.iter_mut().zip(storages).for_each(|(place, storage)| *place = *storage);
            *place = packed;
            if was_wide {
                self.wide.remove(&slot);
            }
        } else {
            *place = Packed::without_block(stored.block.id, WIDE);
            let storages = Storages::from_slice(storages);
            self.wide.insert(slot, Wide { stored, storages });
        }
    }

    fn update(&mut self, slot: Slot, change: impl FnOnce(&mut StoredBlock)) {
        if let Some(Entry(mut stored)) = self.get(slot) {
            let storages = Storages::from_slice(self.storages(slot));
            change(&mut stored);
            self.write(slot, stored, &storages);
        }
    }

    pub(super) fn set_state(&mut self, slot: Slot, state: BlockState) {
        self.update(slot, |entry| entry.state = state);
    }

    pub(super) fn set_stamp(&mut self, slot: Slot, stamp: GenerationStamp) {
        self.update(slot, |entry| entry.block.stamp = stamp);
    }

    pub(super) fn set_len(&mut self, slot: Slot, len: u64) {
        self.update(slot, |entry| entry.block.len = len);
    }

    pub(super) fn set_replication(&mut self, slot: Slot, replication: u16) {
        self.update(slot, |entry| entry.replication = replication);
    }

    pub(super) fn set_file(&mut self, slot: Slot, file: InodeId) {
        self.update(slot, |entry| entry.file = file);
    }

    /// The storages that reported a replica.
    pub(super) fn storages(&self, slot: Slot) -> &[StorageIdx] {
        let Some(packed) = self.slab.get(slot as usize) else { return &[] };
        match packed.count() {
            FREE => &[],
            WIDE => self.wide.get(&slot).map_or(&[], |wide| &wide.storages),
            count => packed.inline.get(..usize::from(count)).unwrap_or(&[]),
        }
    }

    /// Notes a replica; false if it was known.
    pub(super) fn add_storage(&mut self, slot: Slot, storage: StorageIdx) -> bool {
        let known = self.storages(slot);
        if known.contains(&storage) {
            return false;
        }
        let mut storages = Storages::from_slice(known);
        storages.push(storage);
        self.put_storages(slot, &storages)
    }

    /// Forgets a replica; false if it was not known.
    pub(super) fn remove_storage(&mut self, slot: Slot, storage: StorageIdx) -> bool {
        let known = self.storages(slot);
        if !known.contains(&storage) {
            return false;
        }
        let rest: Storages = known.iter().copied().filter(|other| *other != storage).collect();
        self.put_storages(slot, &rest)
    }

    fn put_storages(&mut self, slot: Slot, storages: &[StorageIdx]) -> bool {
        let Some(Entry(stored)) = self.get(slot) else { return false };
        self.write(slot, stored, storages);
        true
    }

    /// Bytes that entries and index take, without what growing sets aside.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.slab.len() * size_of::<Packed>() + self.index.memory()
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

    /// Stamps of 64 bits, files and lengths that no cluster has: nothing is cut.
    #[test]
    fn a_block_that_does_not_fit_keeps_all_it_has() {
        let mut map = BlockMap::default();
        let slot = map.insert(stored(-7));
        assert!(map.add_storage(slot, StorageIdx(u32::MAX)));
        let odd = StoredBlock {
            block: Block { id: BlockId(-7), stamp: GenerationStamp(-1), len: u64::MAX },
            file: InodeId(u64::MAX),
            replication: u16::MAX,
            state: BlockState::UnderRecovery,
        };
        assert_eq!(map.insert(odd), slot);
        assert_eq!(map.get(slot).unwrap().view(), odd);
        assert_eq!(map.storages(slot), [StorageIdx(u32::MAX)]);
        map.set_state(slot, BlockState::Committed);
        assert!(map.add_storage(slot, StorageIdx(1)));
        assert_eq!(
            map.get(slot).unwrap().view(),
            StoredBlock { state: BlockState::Committed, ..odd }
        );
        map.insert(stored(-7));
        assert!(map.wide.is_empty());
        assert_eq!(map.get(slot).unwrap().view(), stored(-7));
        assert_eq!(map.storages(slot), [StorageIdx(u32::MAX), StorageIdx(1)]);
        map.insert(odd);
        map.remove(slot);
        assert!(map.wide.is_empty() && map.get(slot).is_none() && map.storages(slot).is_empty());
    }

    #[test]
    fn every_field_is_changed_alone() {
        let mut map = BlockMap::default();
        let slot = map.insert(stored(1));
        let mut expected = stored(1);
        for state in [
            BlockState::UnderConstruction,
            BlockState::UnderRecovery,
            BlockState::Committed,
            BlockState::Complete,
        ] {
            map.set_state(slot, state);
            expected.state = state;
            assert_eq!(map.get(slot).unwrap().view(), expected);
        }
        map.set_len(slot, 1 << 47);
        map.set_stamp(slot, GenerationStamp((1 << 48) - 1));
        map.set_replication(slot, REPLICATION_MAX);
        map.set_file(slot, InodeId(1 << 40));
        expected.block =
            Block { len: 1 << 47, stamp: GenerationStamp((1 << 48) - 1), ..expected.block };
        (expected.replication, expected.file) = (REPLICATION_MAX, InodeId(1 << 40));
        assert_eq!(map.get(slot).unwrap().view(), expected);
        assert!(map.wide.is_empty());
    }

    /// What a million one-replica blocks cost: the budget of a file with its block is 130 bytes.
    #[test]
    fn a_block_takes_less_than_fifty_bytes() {
        let mut map = BlockMap::default();
        let mut storage = roaring::RoaringBitmap::new();
        for id in 0..100_000 {
            let slot = map.insert(stored(id));
            map.add_storage(slot, StorageIdx(0));
            storage.insert(slot);
        }
        let bytes = map.memory() + storage.serialized_size();
        assert!(bytes / 100_000 < 50, "{}", bytes / 100_000);
    }
}
