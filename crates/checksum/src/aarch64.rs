//! The crc32 instructions of ARMv8, three chunks in turn: one depends on itself for three cycles.

use crate::algorithm::Algorithm;
use crate::kernel::Kernel;
use crate::shared::copy_once;
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

/// Each byte is read once.
#[inline]
#[target_feature(enable = "crc")]
unsafe fn update(algorithm: Algorithm, mut state: u32, data: *const u8, len: usize) -> u32 {
    let words = len / 8;
    for at in 0..words {
        // SAFETY: the caller promises `len` readable bytes.
        let next = unsafe { data.cast::<u64>().add(at).read_unaligned() };
        state = word(algorithm, state, u64::from_le(next));
    }
    for at in words * 8..len {
        // SAFETY: as above.
        state = byte(algorithm, state, unsafe { data.add(at).read() });
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
    let mut data = source;
    if !target.is_null() {
        // SAFETY: the caller promises this many bytes at both places.
        unsafe { copy_once(source, target, chunk_len * out.len()) };
        // The CRCs are those of the copy: the source may have changed since.
        data = target;
    }
    let mut outs = out.chunks_exact_mut(3);
    for crcs in &mut outs {
        // SAFETY: the caller promises `out.len()` chunks of readable bytes.
        unsafe {
            crcs.copy_from_slice(&three_chunks(algorithm, data, chunk_len));
            data = data.add(3 * chunk_len);
        }
    }
    for crc in outs.into_remainder() {
        // SAFETY: as above.
        unsafe {
            *crc = !update(algorithm, !0, data, chunk_len);
            data = data.add(chunk_len);
        }
    }
}

#[inline]
#[target_feature(enable = "crc")]
unsafe fn three_chunks(algorithm: Algorithm, data: *const u8, chunk_len: usize) -> [u32; 3] {
    let words = chunk_len / 8;
    let mut states = [!0u32; 3];
    for at in 0..words {
        for (chunk, state) in states.iter_mut().enumerate() {
            // SAFETY: the caller promises three chunks of readable bytes.
            let next =
                unsafe { data.add(chunk * chunk_len).cast::<u64>().add(at).read_unaligned() };
            *state = word(algorithm, *state, u64::from_le(next));
        }
    }
    for (chunk, state) in states.iter_mut().enumerate() {
        let done = words * 8;
        // SAFETY: as above.
        *state = unsafe {
            update(algorithm, *state, data.add(chunk * chunk_len + done), chunk_len - done)
        };
    }
    states.map(|state| !state)
}
