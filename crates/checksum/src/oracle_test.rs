//! Every kernel this processor runs, against crc32fast and crc-fast.

use super::*;
use crate::kernel::Kernel;
use crate::kernels::ALL;
use proptest::prelude::*;

fn oracle(algorithm: Algorithm, data: &[u8]) -> u32 {
    match algorithm {
        Algorithm::Crc32 => crc32fast::hash(data),
        Algorithm::Crc32c => crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, data) as u32,
    }
}

fn algorithms() -> impl Strategy<Value = Algorithm> {
    prop_oneof![Just(Algorithm::Crc32), Just(Algorithm::Crc32c)]
}

fn kernels() -> impl Iterator<Item = &'static Kernel> {
    ALL.iter().filter(|kernel| (kernel.supported)())
}

/// Bytes that differ everywhere, cheap for long runs.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

proptest! {
    #[test]
    fn each_kernel_agrees_with_the_oracle_at_any_alignment(
        algorithm in algorithms(), seed: u64, len in 0usize..3000, skip in 0usize..70, split in 0usize..3000,
    ) {
        let all = bytes(seed, skip + len);
        let data = &all[skip..];
        let (first, second) = data.split_at(split.min(len));
        let expected = oracle(algorithm, data);
        for kernel in kernels() {
            let whole = !kernel.update(algorithm, !0, data.into());
            prop_assert_eq!(whole, expected, "{}", kernel.name);
            let parts = kernel.update(algorithm, kernel.update(algorithm, !0, first.into()), second.into());
            prop_assert_eq!(!parts, expected, "{} in two parts", kernel.name);
        }
        let combined = algorithm.combine(
            oracle(algorithm, first), oracle(algorithm, second), second.len() as u64);
        prop_assert_eq!(combined, expected);
    }

    #[test]
    fn each_kernel_copies_and_sums_chunks(
        algorithm in algorithms(), seed: u64, len in 0usize..20_000, skip in 0usize..70,
        chunk_len in prop_oneof![Just(512usize), Just(4096), 1usize..2000],
    ) {
        let all = bytes(seed, skip + len);
        let data = &all[skip..];
        let expected: Vec<u32> = data.chunks(chunk_len).map(|c| oracle(algorithm, c)).collect();
        for kernel in kernels() {
            let mut copy = vec![0xaa; skip + len];
            let mut crcs = vec![0; expected.len()];
            kernel.chunks(algorithm, chunk_len, (data.into(), data.len()), Some(&mut copy[skip..]), &mut crcs);
            prop_assert_eq!(&crcs, &expected, "{}", kernel.name);
            prop_assert_eq!(&copy[skip..], data, "{}", kernel.name);
            kernel.chunks(algorithm, chunk_len, (data.into(), data.len()), None, &mut crcs);
            prop_assert_eq!(&crcs, &expected, "{} without copy", kernel.name);
        }
    }

    #[test]
    fn the_first_bad_chunk_is_found(
        algorithm in algorithms(), seed: u64, len in 1usize..100_000, skip in 0usize..8,
        chunk_len in prop_oneof![Just(512usize), 1usize..2000], flips in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let mut data = bytes(seed, len);
        let mut sums = vec![0; skip + chunk_count(len, chunk_len) * SUM_LEN];
        compute(algorithm, chunk_len, &data, &mut sums[skip..]);
        let sums = &sums[skip..];
        let mut copy = vec![0; len];
        prop_assert_eq!(copy_and_verify(algorithm, chunk_len, &data, &mut copy, sums), Ok(()));
        prop_assert_eq!(&copy, &data);
        let mut places: Vec<usize> = flips.iter().map(|flip| flip.index(len)).collect();
        places.sort_unstable();
        places.dedup();
        for place in &places {
            data[*place] ^= 0x10;
        }
        let found = verify(algorithm, chunk_len, &data, sums).err().map(|bad| bad.index);
        prop_assert_eq!(found, places.first().map(|place| place / chunk_len));
    }
}

#[test]
fn known_values() {
    assert_eq!(Algorithm::Crc32.crc(b"123456789"), 0xcbf4_3926);
    assert_eq!(Algorithm::Crc32c.crc(b"123456789"), 0xe306_9283);
    assert_eq!(Algorithm::Crc32c.crc(b""), 0);
}

#[test]
fn a_shift_serves_many_equal_lengths() {
    let data = bytes(7, 4 * 512);
    let shift = Algorithm::Crc32c.shift(512);
    let crc = data.chunks(512).fold(0, |crc, c| shift.combine(crc, Algorithm::Crc32c.crc(c)));
    assert_eq!(crc, Algorithm::Crc32c.crc(&data));
}
