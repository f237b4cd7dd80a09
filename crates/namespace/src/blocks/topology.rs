//! Distance in the network, and dice that the seed decides.

use std::sync::atomic::{AtomicU64, Ordering};

/// The rack of a DataNode that no script or table maps.
pub const DEFAULT_RACK: &str = "/default-rack";

/// Hops between two leaves of the tree of racks: 0 the same node, 2 the same rack, 4 and more beyond.
pub(super) fn distance(rack: &str, other: &str) -> u32 {
    if rack == other {
        return 2;
    }
    let split = |path: &str| {
        path.split('/').filter(|part| !part.is_empty()).map(String::from).collect::<Vec<_>>()
    };
    let (left, right) = (split(rack), split(other));
    let common = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    2 + (left.len() + right.len() - 2 * common) as u32
}

/// Random numbers (splitmix64) that readers may draw too, hence the atomic.
pub(super) struct Dice(AtomicU64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(super) fn next(&self) -> u64 {
        let mut z = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly from `0..bound`; 0 for an empty range.
    pub(super) fn below(&self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_hops_to_the_common_switch() {
        assert_eq!(distance("/a", "/a"), 2);
        assert_eq!(distance("/a", "/b"), 4);
        assert_eq!(distance("/d1/a", "/d1/b"), 4);
        assert_eq!(distance("/d1/a", "/d2/a"), 6);
    }
}
