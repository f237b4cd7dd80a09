//! Several ranges of open replicas with one call.

use super::replica_test::Files;
use crate::read::ReadPath;
use crate::read::open_replicas::OpenReplicas;
use crate::read::ranges::extent;
use crate::read::stats::Counters;
use crate::types::Verify;
use proptest::prelude::*;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use zerohop_wire::checksum_type::DataChecksum;

/// The blocks of a file lie one behind the other; only the last may end in the middle of a chunk.
const BLOCK: u64 = 100 << 10;

/// TwoBlocks blocks, both open; the second begins at [`BLOCK`].
struct TwoBlocks {
    files: [Files; 2],
    known: OpenReplicas,
    counters: Counters,
    bytes: Vec<u8>,
}

impl TwoBlocks {
    fn new(map: bool, tail: usize) -> Self {
        let files = [BLOCK as usize, tail].map(|len| Files::new(len, DataChecksum::default()));
        let known = OpenReplicas::default();
        for (at, file) in files.iter().enumerate() {
            let base = at as u64 * BLOCK;
            let end = base + file.bytes.len() as u64;
            known.add(base, end, &Arc::new(file.open(map).unwrap()));
        }
        let bytes = files.iter().flat_map(|file| file.bytes.clone()).collect();
        Self { files, known, counters: Counters::default(), bytes }
    }

    /// Turns a bit of the first block around.
    fn flip(&self, at: u64) {
        let mut byte = [0];
        self.files[0].data.read_exact_at(&mut byte, at).unwrap();
        self.files[0].data.write_all_at(&[byte[0] ^ 1], at).unwrap();
    }

    /// Reads; which are left, in the order of the places. All others are right.
    fn read(&self, places: &[(u64, usize)], verify: Verify) -> Vec<usize> {
        let mut buffers: Vec<Vec<u8>> = places.iter().map(|(_, len)| vec![0xaa; *len]).collect();
        let mut ranges: Vec<(u64, &mut [u8])> =
            places.iter().zip(&mut buffers).map(|((at, _), out)| (*at, &mut out[..])).collect();
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        order.sort_by_key(|at| extent(&ranges, *at).start);
        let mut left = self.known.read_many(&self.counters, &mut ranges, &order, verify);
        left.sort_unstable();
        for (at, ((start, len), read)) in places.iter().zip(&buffers).enumerate() {
            if !left.contains(&at) {
                assert!(read == &self.bytes[*start as usize..][..*len], "{len} bytes at {start}");
            }
        }
        left
    }
}

#[test]
fn neighbours_give_what_single_ranges_give() {
    for map in [true, false] {
        let two = TwoBlocks::new(map, 10_000);
        for verify in [Verify::Full, Verify::None, Verify::Once, Verify::Once] {
            // Next to each other, within one chunk, over a chunk, the same twice, one within another,
            // not in order, and one alone.
            let places = [
                (700, 300),
                (100, 300),
                (400, 300),
                (1000, 3000),
                (1000, 3000),
                (1500, 7),
                (50_000, 9),
                (3999, 600),
                (90_000, 1),
            ];
            assert!(two.read(&places, verify).is_empty());
            // The end of the first block, the beginning of the second; its last byte.
            let (end, last) = (BLOCK - 10, BLOCK + 9_999);
            assert!(
                two.read(&[(end, 10), (BLOCK, 20), (last, 1), (last - 600, 601)], verify)
                    .is_empty()
            );
            // Over the end of a block, and beyond the file: for others to read, without their neighbours.
            assert_eq!(two.read(&[(end, 11), (end - 5, 10), (end + 1, 9)], verify), [0]);
            assert_eq!(
                two.read(&[(last, 2), (last - 1, 2), (last + 1, 1), (u64::MAX, 3)], verify),
                [0, 2, 3]
            );
        }
    }
}

#[test]
fn a_flipped_bit_takes_only_the_ranges_of_its_chunk() {
    for map in [true, false] {
        let two = TwoBlocks::new(map, 100);
        two.flip(1024);
        // 512 bytes from 1024 are bad: the third and the fourth touch them.
        let places = [(0, 512), (500, 524), (1000, 100), (1535, 1), (1536, 300), (1700, 400)];
        for verify in [Verify::Full, Verify::Once] {
            assert_eq!(two.read(&places, verify), [2, 3], "{verify:?}");
        }
    }
}

#[test]
fn a_replica_that_was_taken_back_or_cut_leaves_all() {
    let two = TwoBlocks::new(true, 100);
    let places = [(0, 100), (100, 100), (BLOCK, 50), (BLOCK + 50, 50)];
    assert!(two.read(&places, Verify::Full).is_empty());
    two.known.at(0).unwrap().replica().drop_it();
    assert_eq!(two.read(&places, Verify::Full), [0, 1]);
    two.files[1].data.set_len(0).unwrap();
    assert_eq!(two.read(&places, Verify::Full), [0, 1, 2, 3]);
}

#[test]
fn every_range_is_counted_once_and_with_its_own_bytes() {
    let two = TwoBlocks::new(true, 100);
    two.read(&[(0, 300), (300, 300), (300, 300), (4000, 10)], Verify::Full);
    let read = two.counters.snapshot();
    let mapped = ReadPath::LocalMapped as usize;
    assert_eq!((read.bytes[mapped], read.ops[mapped], read.checked_bytes), (910, 4, 910));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_ranges_of_a_file_with_a_flipped_bit(
        places in prop::collection::vec((0u64..2 * BLOCK, 0usize..5000), 1..60),
        near in prop::collection::vec((0u64..20_000, 0usize..700), 1..60),
        flipped in 0..BLOCK,
        map: bool,
    ) {
        let two = TwoBlocks::new(map, BLOCK as usize - 77);
        two.flip(flipped);
        let places: Vec<_> = places.into_iter().chain(near).collect();
        let first = flipped / 512 * 512;
        let is_left = |(start, len): &(u64, usize)| {
            let end = start + *len as u64;
            let is_bad = *start < first + 512 && end > first && *len > 0;
            let is_whole = end <= 2 * BLOCK - 77 && (*start >= BLOCK || end <= BLOCK);
            is_bad || !is_whole
        };
        let is_empty = |at: &usize| places[*at].1 == 0;
        let want: Vec<usize> = (0..places.len()).filter(|at| is_left(&places[*at])).collect();
        let left = two.read(&places, Verify::Full);
        prop_assert!(want.iter().all(|at| is_empty(at) || left.contains(at)));
        prop_assert!(left.iter().all(|at| is_empty(at) || want.contains(at)), "{:?} {:?}", left, want);
    }
}
