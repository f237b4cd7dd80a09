//! Folding with carry-less multiplies, 128, 256 or 512 bits wide.
//!
//! A run of bytes is read as vectors; four accumulators each take every fourth vector, moved on by
//! the distance of four vectors (multiply by x^(T+32) and x^(T-32) mod P for a distance of T bits,
//! bits reversed). They are then moved onto the last one, its 16-byte lanes onto the last lane, and
//! those 16 bytes are reduced to 32 bits: by two crc32 instructions for CRC32C, by Barrett's method
//! for CRC32. The work of several 512-byte chunks overlaps: they do not depend on each other.

use crate::algorithm::Algorithm;
use crate::kernel::Kernel;
use crate::poly::fold_constant;
use crate::portable;
use crate::shared::copy_once;
use std::arch::x86_64::*;

/// A vector of one or several 16-byte lanes. All functions need the processor's features of the
/// kernel they are inlined into.
trait Vector: Copy {
    const LEN: usize;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn store(self, to: *mut u8);
    /// The same lane constant in all lanes.
    unsafe fn splat(lane: __m128i) -> Self;
    /// Each lane moved on by `by`, plus `next`.
    unsafe fn fold(self, by: Self, next: Self) -> Self;
    /// The register of the CRC so far, added to the first bytes.
    unsafe fn add_state(self, state: __m128i) -> Self;
    /// All lanes moved onto the last; `by` gives the constant for a distance in bits.
    unsafe fn into_lane(self, by: impl Fn(u32) -> __m128i) -> __m128i;
}

#[inline(always)]
unsafe fn fold_lane(lane: __m128i, by: __m128i, next: __m128i) -> __m128i {
    // SAFETY: every caller is inlined into a kernel with pclmulqdq.
    unsafe {
        let low = _mm_clmulepi64_si128(lane, by, 0x00);
        let high = _mm_clmulepi64_si128(lane, by, 0x11);
        _mm_xor_si128(_mm_xor_si128(low, high), next)
    }
}

impl Vector for __m128i {
    const LEN: usize = 16;
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 16 readable bytes, promised by the kernel's caller.
        unsafe { _mm_loadu_si128(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 16 writable bytes, promised by the kernel's caller.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }
    #[inline(always)]
    unsafe fn splat(lane: __m128i) -> Self {
        lane
    }
    #[inline(always)]
    unsafe fn fold(self, by: Self, next: Self) -> Self {
        // SAFETY: as for `fold_lane`.
        unsafe { fold_lane(self, by, next) }
    }
    #[inline(always)]
    unsafe fn add_state(self, state: __m128i) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_xor_si128(self, state) }
    }
    #[inline(always)]
    unsafe fn into_lane(self, _by: impl Fn(u32) -> __m128i) -> __m128i {
        self
    }
}

impl Vector for __m256i {
    const LEN: usize = 32;
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 32 readable bytes, promised by the kernel's caller.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 32 writable bytes, promised by the kernel's caller.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }
    #[inline(always)]
    unsafe fn splat(lane: __m128i) -> Self {
        // SAFETY: inlined into a kernel with avx2.
        unsafe { _mm256_broadcastsi128_si256(lane) }
    }
    #[inline(always)]
    unsafe fn fold(self, by: Self, next: Self) -> Self {
        // SAFETY: inlined into a kernel with avx2 and vpclmulqdq.
        unsafe {
            let low = _mm256_clmulepi64_epi128(self, by, 0x00);
            let high = _mm256_clmulepi64_epi128(self, by, 0x11);
            _mm256_xor_si256(_mm256_xor_si256(low, high), next)
        }
    }
    #[inline(always)]
    unsafe fn add_state(self, state: __m128i) -> Self {
        // SAFETY: inlined into a kernel with avx2.
        unsafe { _mm256_xor_si256(self, _mm256_zextsi128_si256(state)) }
    }
    #[inline(always)]
    unsafe fn into_lane(self, by: impl Fn(u32) -> __m128i) -> __m128i {
        // SAFETY: inlined into a kernel with avx2 and pclmulqdq.
        unsafe {
            let last = _mm256_extracti128_si256(self, 1);
            fold_lane(_mm256_castsi256_si128(self), by(128), last)
        }
    }
}

impl Vector for __m512i {
    const LEN: usize = 64;
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 64 readable bytes, promised by the kernel's caller.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 64 writable bytes, promised by the kernel's caller.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }
    #[inline(always)]
    unsafe fn splat(lane: __m128i) -> Self {
        // SAFETY: inlined into a kernel with avx512f.
        unsafe { _mm512_broadcast_i32x4(lane) }
    }
    #[inline(always)]
    unsafe fn fold(self, by: Self, next: Self) -> Self {
        // SAFETY: inlined into a kernel with avx512f and vpclmulqdq.
        unsafe {
            let low = _mm512_clmulepi64_epi128(self, by, 0x00);
            let high = _mm512_clmulepi64_epi128(self, by, 0x11);
            _mm512_ternarylogic_epi64(low, high, next, 0x96)
        }
    }
    #[inline(always)]
    unsafe fn add_state(self, state: __m128i) -> Self {
        // SAFETY: inlined into a kernel with avx512f.
        unsafe { _mm512_xor_si512(self, _mm512_zextsi128_si512(state)) }
    }
    #[inline(always)]
    unsafe fn into_lane(self, by: impl Fn(u32) -> __m128i) -> __m128i {
        // SAFETY: inlined into a kernel with avx512f and pclmulqdq.
        unsafe {
            let last = _mm512_extracti32x4_epi32(self, 3);
            let last = fold_lane(_mm512_castsi512_si128(self), by(384), last);
            let last = fold_lane(_mm512_extracti32x4_epi32(self, 1), by(256), last);
            fold_lane(_mm512_extracti32x4_epi32(self, 2), by(128), last)
        }
    }
}

/// The constants to move a lane on by multiples of 128 bits, `DISTANCES[i]` for `i * 128`.
struct Constants([[u64; 2]; 17]);

impl Constants {
    const fn new(algorithm: Algorithm) -> Self {
        let mut table = [[0; 2]; 17];
        let mut i = 1;
        while i < 17 {
            let bits = i as u32 * 128;
            table[i] = [fold_constant(algorithm, bits + 32), fold_constant(algorithm, bits - 32)];
            i += 1;
        }
        Self(table)
    }

    #[inline(always)]
    fn by(&self, bits: u32) -> __m128i {
        let [low, high] = self.0[bits as usize / 128];
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set_epi64x(high as i64, low as i64) }
    }
}

/// What differs between the two CRCs.
trait Crc {
    const CONSTANTS: &'static Constants;
    /// 16 folded bytes to the register after them.
    unsafe fn reduce(lane: __m128i) -> u32;
    /// The register moved over fewer than 16 bytes, or any number of them.
    unsafe fn tail(state: u32, data: *const u8, len: usize) -> u32;
}

struct Crc32;
struct Crc32c;

impl Crc for Crc32 {
    const CONSTANTS: &'static Constants = &const { Constants::new(Algorithm::Crc32) };

    #[inline(always)]
    unsafe fn reduce(lane: __m128i) -> u32 {
        const X64: i64 = fold_constant(Algorithm::Crc32, 64) as i64;
        const X96: i64 = fold_constant(Algorithm::Crc32, 96) as i64;
        // The polynomial with its highest term, and x^64 divided by it, both bits reversed.
        const P: i64 = 0x1_db71_0641;
        const U: i64 = 0x1_f701_1641;
        // SAFETY: inlined into a kernel with pclmulqdq and sse4.1.
        unsafe {
            let low32 = _mm_set_epi32(0, 0, 0, !0);
            let step = _mm_clmulepi64_si128(lane, _mm_set_epi64x(0, X96), 0x00);
            let x = _mm_xor_si128(step, _mm_srli_si128(lane, 8));
            let step = _mm_clmulepi64_si128(_mm_and_si128(x, low32), _mm_set_epi64x(0, X64), 0x00);
            let x = _mm_xor_si128(step, _mm_srli_si128(x, 4));
            let pu = _mm_set_epi64x(U, P);
            let quotient = _mm_clmulepi64_si128(_mm_and_si128(x, low32), pu, 0x10);
            let multiple = _mm_clmulepi64_si128(_mm_and_si128(quotient, low32), pu, 0x00);
            _mm_extract_epi32(_mm_xor_si128(multiple, x), 1) as u32
        }
    }

    #[inline(always)]
    unsafe fn tail(state: u32, data: *const u8, len: usize) -> u32 {
        // SAFETY: `len` readable bytes, promised by the caller.
        unsafe { portable::update(Algorithm::Crc32, state, data, len) }
    }
}

impl Crc for Crc32c {
    const CONSTANTS: &'static Constants = &const { Constants::new(Algorithm::Crc32c) };

    #[inline(always)]
    unsafe fn reduce(lane: __m128i) -> u32 {
        // SAFETY: inlined into a kernel with sse4.2.
        unsafe {
            let first = _mm_crc32_u64(0, _mm_extract_epi64(lane, 0) as u64);
            _mm_crc32_u64(first, _mm_extract_epi64(lane, 1) as u64) as u32
        }
    }

    #[inline(always)]
    unsafe fn tail(state: u32, data: *const u8, len: usize) -> u32 {
        // SAFETY: `len` readable bytes, promised by the caller; sse4.2 is the kernel's.
        unsafe {
            let words = len / 8;
            let mut wide = u64::from(state);
            for i in 0..words {
                wide = _mm_crc32_u64(wide, data.cast::<u64>().add(i).read_unaligned());
            }
            (words * 8..len).fold(wide as u32, |state, i| _mm_crc32_u8(state, data.add(i).read()))
        }
    }
}

/// So far ahead of the folding the lines of memory are asked for. Processors do that by themselves
/// only up to the end of a page; 3 to 6 KiB measured alike, 0.5 and 8 KiB worse.
const AHEAD: usize = 4096;
const LINE: usize = 64;

/// The register `state` moved over `len` bytes, which are copied to `to` if `COPY`; meanwhile the
/// lines `ahead` bytes further on are brought into the cache, none if that is 0.
///
/// The source may change meanwhile, so each of its bytes is loaded once: a vector is stored and folded
/// from the same register, and the bytes behind the last vector are copied first and summed there.
#[inline(always)]
unsafe fn fold_run<C: Crc, V: Vector, const COPY: bool>(
    mut state: u32,
    from: *const u8,
    to: *mut u8,
    len: usize,
    ahead: usize,
) -> u32 {
    let mut at = 0;
    let bring = |at: usize| {
        if ahead > 0 {
            for line in 0..4 * V::LEN / LINE {
                // SAFETY: a prefetch touches no memory; the address may be anything.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at + ahead + line * LINE).cast())
                };
            }
        }
    };
    // SAFETY: `len` readable bytes at `from` and, if COPY, writable ones at `to`; offsets stay
    // below `len`. Features are the kernel's this is inlined into.
    unsafe {
        let load = |at: usize| {
            let vector = V::load(from.add(at));
            if COPY {
                vector.store(to.add(at));
            }
            vector
        };
        let by = |bits: u32| C::CONSTANTS.by(bits);
        if len >= 4 * V::LEN {
            let bits = V::LEN as u32 * 8;
            let stride = V::splat(by(bits * 4));
            let seed = _mm_cvtsi32_si128(state as i32);
            let mut a = load(0).add_state(seed);
            let mut b = load(V::LEN);
            let mut c = load(2 * V::LEN);
            let mut d = load(3 * V::LEN);
            bring(0);
            at = 4 * V::LEN;
            while at + 4 * V::LEN <= len {
                bring(at);
                a = a.fold(stride, load(at));
                b = b.fold(stride, load(at + V::LEN));
                c = c.fold(stride, load(at + 2 * V::LEN));
                d = d.fold(stride, load(at + 3 * V::LEN));
                at += 4 * V::LEN;
            }
            let d = a.fold(V::splat(by(bits * 3)), d);
            let d = b.fold(V::splat(by(bits * 2)), d);
            let d = c.fold(V::splat(by(bits)), d);
            let mut lane = d.into_lane(by);
            while at + 16 <= len {
                let next = _mm_loadu_si128(from.add(at).cast());
                if COPY {
                    _mm_storeu_si128(to.add(at).cast(), next);
                }
                lane = fold_lane(lane, by(128), next);
                at += 16;
            }
            state = C::reduce(lane);
        }
        if at < len {
            let mut tail = from.add(at);
            if COPY {
                copy_once(tail, to.add(at), len - at);
                tail = to.add(at);
            }
            state = C::tail(state, tail, len - at);
        }
    }
    state
}

#[inline(always)]
unsafe fn chunks_of<C: Crc, V: Vector, const COPY: bool>(
    from: *const u8,
    to: *mut u8,
    chunk_len: usize,
    readable: usize,
    out: &mut [u32],
) {
    for line in 0..readable.min(AHEAD) / LINE {
        // SAFETY: a prefetch touches no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line * LINE).cast()) };
    }
    // Nothing behind the caller's bytes is brought: a short read at a random place is followed by
    // one somewhere else.
    let near = readable.saturating_sub(AHEAD) / chunk_len;
    let (near, last) = out.split_at_mut(near.min(out.len()));
    // SAFETY: the caller promises chunks for all of `out` at `from` and, if COPY, at `to`.
    unsafe {
        run_of::<C, V, COPY>(from, to, chunk_len, AHEAD, near);
        let done = near.len() * chunk_len;
        let to = if COPY { to.add(done) } else { to };
        run_of::<C, V, COPY>(from.add(done), to, chunk_len, 0, last);
    }
}

#[inline(always)]
unsafe fn run_of<C: Crc, V: Vector, const COPY: bool>(
    from: *const u8,
    to: *mut u8,
    chunk_len: usize,
    ahead: usize,
    out: &mut [u32],
) {
    // The usual length as a constant lets the compiler unroll it into straight code.
    // SAFETY: the caller promises `out.len()` chunks at `from` and, if COPY, at `to`.
    unsafe {
        if chunk_len == 512 {
            for (i, crc) in out.iter_mut().enumerate() {
                let at = i * 512;
                let target = if COPY { to.add(at) } else { to };
                *crc = !fold_run::<C, V, COPY>(!0, from.add(at), target, 512, ahead);
            }
        } else {
            for (i, crc) in out.iter_mut().enumerate() {
                let at = i * chunk_len;
                let target = if COPY { to.add(at) } else { to };
                *crc = !fold_run::<C, V, COPY>(!0, from.add(at), target, chunk_len, ahead);
            }
        }
    }
}

macro_rules! kernel {
    ($kernel:ident, $name:literal, $chunks:ident, $update:ident, $vector:ty, $($feature:tt),+) => {
        pub(crate) const $kernel: Kernel = Kernel {
            name: $name,
            supported: || true $(&& std::is_x86_feature_detected!($feature))+,
            chunks: $chunks,
            update: $update,
        };

        $(#[target_feature(enable = $feature)])+
        unsafe fn $chunks(
            algorithm: Algorithm,
            from: *const u8,
            to: *mut u8,
            chunk_len: usize,
            readable: usize,
            out: &mut [u32],
        ) {
            // SAFETY: passed on from the caller.
            unsafe {
                match (algorithm, to.is_null()) {
                    (Algorithm::Crc32, true) => chunks_of::<Crc32, $vector, false>(from, to, chunk_len, readable, out),
                    (Algorithm::Crc32, false) => chunks_of::<Crc32, $vector, true>(from, to, chunk_len, readable, out),
                    (Algorithm::Crc32c, true) => chunks_of::<Crc32c, $vector, false>(from, to, chunk_len, readable, out),
                    (Algorithm::Crc32c, false) => chunks_of::<Crc32c, $vector, true>(from, to, chunk_len, readable, out),
                }
            }
        }

        $(#[target_feature(enable = $feature)])+
        unsafe fn $update(algorithm: Algorithm, state: u32, from: *const u8, len: usize) -> u32 {
            let to = std::ptr::null_mut();
            // SAFETY: passed on from the caller; nothing is copied.
            unsafe {
                match algorithm {
                    Algorithm::Crc32 => fold_run::<Crc32, $vector, false>(state, from, to, len, 0),
                    Algorithm::Crc32c => fold_run::<Crc32c, $vector, false>(state, from, to, len, 0),
                }
            }
        }
    };
}

kernel!(
    AVX512,
    "avx512-vpclmulqdq",
    avx512_chunks,
    avx512_update,
    __m512i,
    "avx512f",
    "avx512vl",
    "avx512bw",
    "vpclmulqdq",
    "pclmulqdq",
    "sse4.2"
);
kernel!(
    AVX2,
    "avx2-vpclmulqdq",
    avx2_chunks,
    avx2_update,
    __m256i,
    "avx2",
    "vpclmulqdq",
    "pclmulqdq",
    "sse4.2"
);
kernel!(PCLMUL, "pclmulqdq", pclmul_chunks, pclmul_update, __m128i, "pclmulqdq", "sse4.2");

#[cfg(test)]
#[path = "x86_wide_test.rs"]
mod wide_test;
