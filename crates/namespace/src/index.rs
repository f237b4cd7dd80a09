//! An index of millions of entries that never stops to grow all of itself.
//!
//! A hash table that is full moves all its entries to one of twice the size. At ten million entries that takes most of a
//! second, under the namespace's lock. So the index is many tables, by the hash, and one of them grows at a time.

use hashbrown::HashTable;

/// A power of two; ten million entries make tables of ten thousand.
const TABLES: usize = 1024;
/// The tables look at the lowest and the highest bits of a hash: these are between.
const TABLE_SHIFT: u32 = 44;

/// Numbers of entries by a hash of what is in them.
pub(crate) struct Index {
    tables: Vec<HashTable<u32>>,
    len: usize,
}

impl Default for Index {
    fn default() -> Self {
        Self { tables: (0..TABLES).map(|_| HashTable::new()).collect(), len: 0 }
    }
}

fn table(hash: u64) -> usize {
    (hash >> TABLE_SHIFT) as usize % TABLES
}

impl Index {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The entry of that hash for which `is_it` holds.
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        self.tables.get(table(hash))?.find(hash, |entry| is_it(*entry)).copied()
    }

    /// Adds an entry that is not in the index; `hash_of` is the hash of any that is.
    pub(crate) fn insert(&mut self, hash: u64, entry: u32, hash_of: impl Fn(u32) -> u64) {
        if let Some(table) = self.tables.get_mut(table(hash)) {
            table.insert_unique(hash, entry, |other| hash_of(*other));
            self.len += 1;
        }
    }

    /// Takes an entry out, if it is there.
    pub(crate) fn remove(&mut self, hash: u64, entry: u32) {
        let Some(table) = self.tables.get_mut(table(hash)) else { return };
        if let Ok(found) = table.find_entry(hash, |other| *other == entry) {
            found.remove();
            self.len -= 1;
        }
    }

    /// Bytes that the tables take.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.tables.iter().map(HashTable::allocation_size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn hash(entry: u32) -> u64 {
        let mixed = u64::from(entry).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    }

    /// One table would move all of its entries: 114,688 at the last growth here.
    #[test]
    fn an_index_that_grows_moves_few_entries_at_a_time() {
        let (mut index, moved) = (Index::default(), Cell::new(0));
        let mut worst = 0;
        for entry in 0..200_000 {
            moved.set(0);
            index.insert(hash(entry), entry, |other| {
                moved.set(moved.get() + 1);
                hash(other)
            });
            worst = worst.max(moved.get());
        }
        assert!((1..1000).contains(&worst), "{worst} entries were moved by one insertion");
        assert_eq!(index.len(), 200_000);
        assert!(index.memory() < 200_000 * 12, "{} bytes", index.memory());
        for entry in 0..200_000 {
            assert_eq!(index.find(hash(entry), |other| other == entry), Some(entry));
            index.remove(hash(entry), entry);
            index.remove(hash(entry), entry);
        }
        assert_eq!(index.len(), 0);
    }
}
