//! A random number generator whose seed decides all that it draws.

use hashbrown::HashMap;
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

    /// Draws the numbers below `len` in a random order, each once. The first acceptable one of them is a uniform choice among
    /// all acceptable ones. A random start and the next acceptable one would favour the number after a run of
    /// unacceptable ones.
    pub(super) fn shuffled(&self, len: usize) -> Shuffled<'_> {
        Shuffled { random: self, len, drawn: 0, moved: HashMap::new() }
    }
}

/// A shuffle by Fisher and Yates that only remembers what it has moved: the first numbers cost nothing of `len`.
pub(super) struct Shuffled<'a> {
    random: &'a SplitMix64,
    len: usize,
    drawn: usize,
    /// The numbers that are not at their own place, by place.
    moved: HashMap<usize, usize>,
}

impl Iterator for Shuffled<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.drawn == self.len {
            return None;
        }
        let place = self.drawn + self.random.below(self.len - self.drawn);
        let first = self.moved.remove(&self.drawn).unwrap_or(self.drawn);
        let number = if place == self.drawn {
            first
        } else {
            self.moved.insert(place, first).unwrap_or(place)
        };
        self.drawn += 1;
        Some(number)
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

    #[test]
    fn a_shuffle_draws_each_number_once_and_in_any_order() {
        let random = SplitMix64::new(7);
        let mut orders = std::collections::BTreeMap::new();
        for _ in 0..2_400 {
            let order: Vec<usize> = random.shuffled(4).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            *orders.entry(order).or_insert(0) += 1;
        }
        let counts: Vec<u64> = orders.into_values().collect();
        assert_eq!(counts.len(), 24);
        crate::blocks::tests::chi_square::assert_uniform("orders", &counts);
        assert_eq!(random.shuffled(0).next(), None);
    }
}
