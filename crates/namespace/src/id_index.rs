//! An index from ids that are given out in sequence to slots.
//!
//! ```text
//! page of 512 ids: which of them are there, one bit each, 64 bytes | their slots, 4 bytes each, in order of the ids
//! ```
//! Ids of inodes and blocks are counters, so most pages are full, and an id takes little more than the 4 bytes of its slot.
//! Where most of the files were deleted again, pages are thin: with one id in a hundred left, an id takes 30 bytes. The
//! pages are found by hash, in many tables that grow one at a time: no insertion waits for the growth of the whole index.

use hashbrown::HashMap;

/// Ids of a page.
const PAGE: u64 = 512;
const WORDS: usize = PAGE as usize / 64;
/// Neighbouring pages are in different tables.
const TABLES: usize = 64;

/// Slots by id.
pub(crate) struct IdIndex {
    tables: Vec<HashMap<u64, Box<Page>>>,
    len: usize,
}

#[derive(Default)]
struct Page {
    /// Which ids are there.
    present: [u64; WORDS],
    /// Their slots, in order of the ids.
    slots: Vec<u32>,
}

impl Page {
    fn bit(id: u64) -> (usize, u64) {
        let at = id % PAGE;
        ((at / 64) as usize, 1 << (at % 64))
    }

    /// Whether an id is there, and where its slot is or would be.
    fn place(&self, id: u64) -> (bool, usize) {
        let (word, bit) = Self::bit(id);
        let before = self.present.iter().take(word).map(|bits| bits.count_ones()).sum::<u32>();
        let within = (self.present[word] & (bit - 1)).count_ones();
        (self.present[word] & bit != 0, (before + within) as usize)
    }

    fn insert(&mut self, id: u64, slot: u32) -> Option<u32> {
        let (is_there, at) = self.place(id);
        if is_there {
            return self.slots.get_mut(at).map(|place| std::mem::replace(place, slot));
        }
        if self.slots.len() == self.slots.capacity() {
            // Pages are many, and thin ones stay thin: grow by half, not to the double.
            let more = (self.slots.len() / 2).max(4).min(PAGE as usize - self.slots.len());
            self.slots.reserve_exact(more);
        }
        self.slots.insert(at, slot);
        let (word, bit) = Self::bit(id);
        self.present[word] |= bit;
        None
    }

    fn remove(&mut self, id: u64) -> Option<u32> {
        let (is_there, at) = self.place(id);
        if !is_there {
            return None;
        }
        let (word, bit) = Self::bit(id);
        self.present[word] &= !bit;
        let slot = self.slots.remove(at);
        if self.slots.len() < self.slots.capacity() / 2 {
            self.slots.shrink_to(self.slots.len() + self.slots.len() / 4);
        }
        Some(slot)
    }
}

impl Default for IdIndex {
    fn default() -> Self {
        Self { tables: (0..TABLES).map(|_| HashMap::new()).collect(), len: 0 }
    }
}

impl IdIndex {
    /// Ids in the index.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn table(page: u64) -> usize {
        page as usize % TABLES
    }

    /// The slot of an id.
    pub(crate) fn get(&self, id: u64) -> Option<u32> {
        let number = id / PAGE;
        let page = self.tables.get(Self::table(number))?.get(&number)?;
        let (is_there, at) = page.place(id);
        if is_there { page.slots.get(at).copied() } else { None }
    }

    /// Sets the slot of an id; the one that it had before.
    pub(crate) fn insert(&mut self, id: u64, slot: u32) -> Option<u32> {
        let number = id / PAGE;
        let table = self.tables.get_mut(Self::table(number))?;
        let old = table.entry(number).or_default().insert(id, slot);
        self.len += usize::from(old.is_none());
        old
    }

    /// Takes an id out; the slot that it had.
    pub(crate) fn remove(&mut self, id: u64) -> Option<u32> {
        let number = id / PAGE;
        let table = self.tables.get_mut(Self::table(number))?;
        let page = table.get_mut(&number)?;
        let slot = page.remove(id)?;
        if page.slots.is_empty() {
            table.remove(&number);
            if table.len() < table.capacity() / 4 {
                table.shrink_to(table.len() * 2);
            }
        }
        self.len -= 1;
        Some(slot)
    }

    /// Bytes that pages and tables take.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        let page = |page: &Page| size_of::<Page>() + page.slots.capacity() * 4;
        let pages = self.tables.iter().flat_map(HashMap::values);
        let tables = self.tables.iter().map(HashMap::allocation_size);
        pages.map(|one| page(one)).sum::<usize>() + tables.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u64, u32),
        Remove(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let id = prop_oneof![0..2000u64, any::<u64>(), u64::MAX - 600..=u64::MAX];
        let step = prop_oneof![
            2 => (id.clone(), any::<u32>()).prop_map(|(id, slot)| Step::Insert(id, slot)),
            1 => id.prop_map(Step::Remove),
        ];
        proptest::collection::vec(step, 1..800)
    }

    proptest! {
        #[test]
        fn it_answers_as_a_map_does(steps in steps()) {
            let (mut index, mut map) = (IdIndex::default(), std::collections::HashMap::new());
            for step in steps {
                match step {
                    Step::Insert(id, slot) => prop_assert_eq!(index.insert(id, slot), map.insert(id, slot)),
                    Step::Remove(id) => prop_assert_eq!(index.remove(id), map.remove(&id)),
                }
                prop_assert_eq!(index.len(), map.len());
            }
            for (id, slot) in &map {
                prop_assert_eq!(index.get(*id), Some(*slot));
                prop_assert_eq!(index.get(id ^ 1), map.get(&(id ^ 1)).copied());
            }
        }
    }

    #[test]
    fn an_id_in_sequence_takes_five_bytes_and_a_lonely_one_thirty() {
        let bytes = |step: usize| {
            let mut index = IdIndex::default();
            let ids = (16_386..10_000_000).step_by(step).take(100_000);
            for (id, slot) in ids.zip(0..) {
                index.insert(id, slot);
            }
            index.memory() as f64 / index.len() as f64
        };
        assert!(bytes(1) < 5.0, "{}", bytes(1));
        assert!(bytes(97) < 34.0, "{}", bytes(97));
    }

    #[test]
    fn memory_comes_back_when_ids_are_removed() {
        let mut index = IdIndex::default();
        for id in 0..200_000 {
            index.insert(id, id as u32);
        }
        for id in (0..200_000).filter(|id| id % 128 != 0) {
            index.remove(id);
        }
        assert!(index.memory() < 100_000, "{}", index.memory());
        for id in 0..200_000 {
            index.remove(id);
        }
        assert_eq!(index.len(), 0);
        assert!(index.memory() < 20_000, "{}", index.memory());
    }
}
