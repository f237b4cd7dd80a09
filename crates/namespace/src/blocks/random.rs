//! A random number generator whose seed decides all that it draws.

use std::sync::atomic::{AtomicU64, Ordering};

/// Random numbers by splitmix64. Readers draw from it, too, hence the atomic.
pub(super) struct SplitMix64(AtomicU64);

impl SplitMix64 {
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
    fn the_same_seed_draws_the_same_numbers() {
        let (one, other) = (SplitMix64::new(7), SplitMix64::new(7));
        let drawn: Vec<u64> = (0..4).map(|_| one.next()).collect();
        assert_eq!(drawn, (0..4).map(|_| other.next()).collect::<Vec<_>>());
        assert!((0..100).all(|_| one.below(3) < 3));
        assert_eq!(one.below(0), 0);
    }
}
