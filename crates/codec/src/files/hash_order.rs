//! The order in which Java's HashMap lists its entries.

/// Length of the table of a new map.
const FIRST: usize = 16;
/// A table that is shorter grows where one of its lists would become a tree.
const TREE_TABLE: usize = 64;
/// Entries of a list that would become a tree with one more.
const LIST_MAX: usize = 8;

/// The table of a HashMap. It grows and never shrinks, even if the map is cleared.
pub(super) struct HashOrder {
    length: usize,
}

impl Default for HashOrder {
    fn default() -> Self {
        HashOrder { length: FIRST }
    }
}

impl HashOrder {
    /// Returns the places of the entries, which were put into the map one after the other, in the order of the table.
    pub(super) fn of(&mut self, hashes: &[i32]) -> Vec<usize> {
        for (count, hash) in hashes.iter().enumerate() {
            if self.length < TREE_TABLE {
                let slot = self.slot(*hash);
                let before = hashes.iter().take(count).filter(|hash| self.slot(**hash) == slot);
                if before.count() >= LIST_MAX {
                    self.length *= 2;
                }
            }
            if (count + 1) * 4 > self.length * 3 {
                self.length *= 2;
            }
        }
        let mut order: Vec<usize> = (0..hashes.len()).collect();
        order.sort_by_key(|at| self.slot(hashes[*at]));
        order
    }

    fn slot(&self, hash: i32) -> usize {
        let hash = hash.cast_unsigned();
        (hash ^ hash >> 16) as usize & (self.length - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_grows_and_stays() {
        let mut table = HashOrder::default();
        assert_eq!(table.of(&[17, 16, 1, -1]), [1, 3, 0, 2]);
        assert_eq!(table.length, 16);
        assert_eq!(table.of(&(0..13).collect::<Vec<i32>>()).len(), 13);
        assert_eq!(table.length, 32);
        assert_eq!(table.of(&[17, 16, 1, 33]), [2, 3, 1, 0]);
        // Nine in one list.
        let mut table = HashOrder::default();
        table.of(&(0..9).map(|n| n * 16).collect::<Vec<i32>>());
        assert_eq!(table.length, 32);
    }
}
