//! The 512-bit way of folding, modelled with two 256-bit halves: processors without AVX-512 check
//! its distances and edges too.

use super::*;

#[derive(Clone, Copy)]
struct Halves(__m256i, __m256i);

impl Vector for Halves {
    const LEN: usize = 64;
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 64 readable bytes, as for the real one.
        unsafe { Self(__m256i::load(from), __m256i::load(from.add(32))) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 64 writable bytes, as for the real one.
        unsafe {
            self.0.store(to);
            self.1.store(to.add(32));
        }
    }
    #[inline(always)]
    unsafe fn splat(lane: __m128i) -> Self {
        // SAFETY: the test checked the features.
        unsafe { Self(__m256i::splat(lane), __m256i::splat(lane)) }
    }
    #[inline(always)]
    unsafe fn fold(self, by: Self, next: Self) -> Self {
        // SAFETY: the test checked the features.
        unsafe { Self(self.0.fold(by.0, next.0), self.1.fold(by.1, next.1)) }
    }
    #[inline(always)]
    unsafe fn add_state(self, state: __m128i) -> Self {
        // SAFETY: the test checked the features.
        Self(unsafe { self.0.add_state(state) }, self.1)
    }
    #[inline(always)]
    unsafe fn into_lane(self, by: impl Fn(u32) -> __m128i) -> __m128i {
        // SAFETY: the test checked the features.
        unsafe {
            let last = _mm256_extracti128_si256(self.1, 1);
            let last = fold_lane(_mm256_castsi256_si128(self.0), by(384), last);
            let last = fold_lane(_mm256_extracti128_si256(self.0, 1), by(256), last);
            fold_lane(_mm256_castsi256_si128(self.1), by(128), last)
        }
    }
}

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq,sse4.2")]
unsafe fn sum<C: Crc>(data: &[u8], copy: &mut [u8]) -> u32 {
    assert_eq!(data.len(), copy.len());
    // SAFETY: both slices are `data.len()` bytes long.
    unsafe { fold_run::<C, Halves, true>(!0, data.as_ptr(), copy.as_mut_ptr(), data.len(), 0) }
}

#[test]
fn folding_64_bytes_wide_agrees_at_every_length() {
    if !(AVX2.supported)() {
        return;
    }
    let data: Vec<u8> = (0..1100u32).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    for len in 0..data.len() {
        let (data, mut copy) = (&data[..len], vec![0; len]);
        // SAFETY: the features were checked above.
        let sums = unsafe { [sum::<Crc32>(data, &mut copy), sum::<Crc32c>(data, &mut copy)] };
        let expected = [Algorithm::Crc32, Algorithm::Crc32c].map(|algorithm| {
            // SAFETY: the slice's own bytes.
            unsafe { portable::update(algorithm, !0, data.as_ptr(), data.len()) }
        });
        assert_eq!((sums, copy.as_slice()), (expected, data), "{len} bytes");
    }
}
