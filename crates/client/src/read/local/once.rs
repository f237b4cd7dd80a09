//! Which chunks of a replica were verified, for readers that verify once.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// One bit a chunk. Chunks of up to a batch are marked and asked for by whole words.
pub(super) struct VerifiedChunks {
    words: Box<[AtomicU64]>,
    chunk_len: usize,
}

impl VerifiedChunks {
    pub(super) fn new(len: usize, chunk_len: usize) -> Self {
        let words = len.div_ceil(chunk_len).div_ceil(64);
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect(), chunk_len }
    }

    /// Whether all chunks that a range touches were verified.
    pub(super) fn covers(&self, range: &Range<usize>) -> bool {
        self.masks(range).all(|(word, mask)| word.load(Ordering::Acquire) & mask == mask)
    }

    /// Notes that all chunks that a range touches are good.
    pub(super) fn add(&self, range: &Range<usize>) {
        self.masks(range).for_each(|(word, mask)| {
            word.fetch_or(mask, Ordering::Release);
        });
    }

    fn masks(&self, range: &Range<usize>) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let (first, end) = (range.start / self.chunk_len, range.end.div_ceil(self.chunk_len));
        let words = first / 64..end.div_ceil(64).max(first / 64);
        let all = self.words.get(words.clone()).unwrap_or_default();
        all.iter().zip(words).map(move |(word, at)| {
            let from = first.saturating_sub(at * 64).min(64);
            let to = end.saturating_sub(at * 64).min(64);
            (word, bits(to) & !bits(from))
        })
    }
}

/// The lowest `count` bits.
fn bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_added_is_covered_and_nothing_else(
            len in 1usize..200_000, ranges in prop::collection::vec((0usize..200_000, 1usize..70_000), 1..6),
            asked in (0usize..200_000, 1usize..70_000),
        ) {
            let chunks = VerifiedChunks::new(len, 512);
            let clamp = |(start, take): (usize, usize)| {
                let start = start % len;
                start..(start + take).min(len)
            };
            let mut model = vec![false; len.div_ceil(512)];
            let touched = |r: &Range<usize>| r.start / 512..r.end.div_ceil(512);
            for range in ranges.into_iter().map(clamp) {
                chunks.add(&range);
                prop_assert!(chunks.covers(&range));
                model[touched(&range)].fill(true);
            }
            let asked = clamp(asked);
            prop_assert_eq!(chunks.covers(&asked), model[touched(&asked)].iter().all(|b| *b));
        }
    }
}
