//! The crc32 instructions of ARMv8, three chunks in turn: one depends on itself for three cycles.

use crate::algorithm::Algorithm;
use crate::kernel::Kernel;
use std::arch::aarch64::*;

pub(crate) const CRC: Kernel = Kernel {
    name: "aarch64-crc",
    supported: || std::arch::is_aarch64_feature_detected!("crc"),
    chunks,
    update,
};

#[inline]
#[target_feature(enable = "crc")]
fn word(algorithm: Algorithm, state: u32, word: u64) -> u32 {
    match algorithm {
        Algorithm::Crc32 => __crc32d(state, word),
        Algorithm::Crc32c => __crc32cd(state, word),
    }
}

#[inline]
#[target_feature(enable = "crc")]
fn byte(algorithm: Algorithm, state: u32, byte: u8) -> u32 {
    match algorithm {
        Algorithm::Crc32 => __crc32b(state, byte),
        Algorithm::Crc32c => __crc32cb(state, byte),
    }
}

#[target_feature(enable = "crc")]
fn update(algorithm: Algorithm, mut state: u32, data: &[u8]) -> u32 {
    let (words, tail) = data.as_chunks::<8>();
    for bytes in words {
        state = word(algorithm, state, u64::from_le_bytes(*bytes));
    }
    for next in tail {
        state = byte(algorithm, state, *next);
    }
    state
}

#[target_feature(enable = "crc")]
unsafe fn chunks(
    algorithm: Algorithm,
    source: *const u8,
    target: *mut u8,
    chunk_len: usize,
    _readable: usize,
    out: &mut [u32],
) {
    if !target.is_null() {
        // SAFETY: the caller promises this many bytes at both places.
        unsafe { target.copy_from_nonoverlapping(source, chunk_len * out.len()) };
    }
    // SAFETY: the caller promises `out.len()` chunks of readable bytes.
    let data = unsafe { std::slice::from_raw_parts(source, chunk_len * out.len()) };
    let mut threes = data.chunks_exact(3 * chunk_len);
    let mut outs = out.chunks_exact_mut(3);
    for (three, crcs) in (&mut threes).zip(&mut outs) {
        crcs.copy_from_slice(&three_chunks(algorithm, three, chunk_len));
    }
    for (chunk, crc) in threes.remainder().chunks_exact(chunk_len).zip(outs.into_remainder()) {
        *crc = !update(algorithm, !0, chunk);
    }
}

#[inline]
#[target_feature(enable = "crc")]
fn three_chunks(algorithm: Algorithm, data: &[u8], chunk_len: usize) -> [u32; 3] {
    let (a, rest) = data.split_at(chunk_len);
    let (b, c) = rest.split_at(chunk_len);
    let ((a, a_tail), (b, b_tail), (c, c_tail)) =
        (a.as_chunks::<8>(), b.as_chunks::<8>(), c.as_chunks::<8>());
    let mut states = [!0u32; 3];
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        for (state, bytes) in states.iter_mut().zip([a, b, c]) {
            *state = word(algorithm, *state, u64::from_le_bytes(*bytes));
        }
    }
    for (state, tail) in states.iter_mut().zip([a_tail, b_tail, c_tail]) {
        for next in tail {
            *state = byte(algorithm, *state, *next);
        }
    }
    states.map(|state| !state)
}
